//! From the bytes of a text to batches, in two steps that a block of rows at a time goes through.
//!
//! First a [`Tokenizer`] finds the rows and notes where the wanted values stand ([`Block`]); then each column reads its
//! values in one tight loop. A row with a value that cannot be read is left out (or, by default, ends the reading) when
//! all columns have had their say, so one bad value harms neither its neighbours nor the rows behind it.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;

use super::cell::{BadCells, Cell, CellSource};
use super::column::{ColumnBuilder, column_builder};
use super::zone::Zone;
use super::{Decoder, TextPlace, UnreadableRows};
use crate::error::{DataError, OperatorError, RuntimeError};
use crate::metrics::SourceMetrics;

/// Most rows of a block: few enough that its bytes are still in the processor's cache when the columns read them.
const BLOCK_ROWS: usize = 1024;

/// The first bytes of a file compressed with gzip.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Where the text comes from and what is wanted of it.
#[derive(Clone)]
pub(crate) struct TextContext {
    /// The table, for messages.
    pub table: String,
    /// The file or `standard input`, for messages.
    pub place: String,
    /// All columns of a row, in the order in which the table declares them.
    pub declared: Vec<String>,
    /// The columns wanted, in the order in which they are wanted.
    pub projection: SchemaRef,
    /// Most rows of a batch.
    pub batch_size: usize,
    /// The session's time zone.
    pub zone: Zone,
    /// What becomes of unreadable rows.
    pub unreadable: UnreadableRows,
    /// Where they are counted.
    pub metrics: Arc<SourceMetrics>,
}

/// Finds rows and the values in them.
pub(crate) trait Tokenizer: Send {
    /// What the notation of a value means.
    type Source: CellSource;

    /// What the notation of a value means.
    fn source(&self) -> &Self::Source;

    /// The option that leaves out and counts what cannot be read, if it can be set.
    fn skip_option(&self) -> Option<&'static str>;

    /// What to do when the first row reads like the names of the columns.
    fn header_help(&self) -> Option<&'static str> {
        None
    }

    /// Enters whole rows of `input` in `block` until there are no more or it is full, and says how many bytes those
    /// took. With `last`, no more bytes will come, or no row may be longer.
    fn tokenize(&mut self, input: &[u8], last: bool, block: &mut Block) -> usize;

    /// See [`Decoder::place`].
    fn place(&self) -> TextPlace;

    /// See [`Decoder::resume`].
    fn resume(&mut self, place: &TextPlace) -> Result<(), String>;
}

/// Rows whose values have been found but not read.
pub(crate) struct Block {
    /// Value of column c in row r: number `c * BLOCK_ROWS + r`.
    cells: Vec<Cell>,
    lines: Vec<u64>,
    limit: usize,
    unreadable: UnreadableRows,
    broken: Vec<Broken>,
    is_over: bool,
}

/// A row that cannot be read, or the value in it.
struct Broken {
    /// Rows of the block before it.
    row: usize,
    line: u64,
    /// `character 3` or `column 'price'`
    spot: Option<String>,
    reason: String,
    extent: Extent,
}

/// How much cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Value,
    Row,
    Text,
}

impl Block {
    fn new(columns: usize, unreadable: UnreadableRows) -> Self {
        Self {
            cells: vec![Cell::MISSING; columns * BLOCK_ROWS],
            lines: Vec::with_capacity(BLOCK_ROWS),
            limit: BLOCK_ROWS,
            unreadable,
            broken: vec![],
            is_over: false,
        }
    }

    fn clear(&mut self, limit: usize) {
        self.lines.clear();
        self.broken.clear();
        self.limit = limit.min(BLOCK_ROWS);
    }

    /// Takes no more rows?
    pub fn is_full(&self) -> bool {
        self.lines.len() >= self.limit || self.is_over
    }

    /// Sets the value of `column` in the row being entered. Earlier rows are not touched by a row that is given up.
    pub fn set(&mut self, column: usize, cell: Cell) {
        self.cells[column * BLOCK_ROWS + self.lines.len()] = cell;
    }

    /// The value of `column` in the row being entered.
    pub fn get(&self, column: usize) -> Cell {
        self.cells[column * BLOCK_ROWS + self.lines.len()]
    }

    /// The row being entered is complete; it begins in line `line`.
    pub fn end_row(&mut self, line: u64) {
        self.lines.push(line);
    }

    /// The row being entered cannot be read.
    pub fn broken_row(&mut self, line: u64, spot: Option<String>, reason: String) {
        self.is_over = self.unreadable == UnreadableRows::Fail;
        self.broken.push(Broken { row: self.lines.len(), line, spot, reason, extent: Extent::Row });
    }

    /// Nothing in this text can be read, whatever the policy.
    pub fn broken_text(&mut self, line: u64, reason: String) {
        self.unreadable = UnreadableRows::Fail;
        self.is_over = true;
        self.broken.push(Broken { row: self.lines.len(), line, spot: None, reason, extent: Extent::Text });
    }

    fn column(&self, column: usize) -> &[Cell] {
        &self.cells[column * BLOCK_ROWS..][..self.lines.len()]
    }
}

/// Decodes a text.
pub(crate) struct TextDecoder<T: Tokenizer> {
    tokenizer: T,
    ctx: TextContext,
    columns: Vec<Box<dyn ColumnBuilder<T::Source>>>,
    block: Block,
    bad_cells: BadCells,
    /// Rows in the columns, unreadable ones included.
    rows: usize,
    /// Those unreadable ones, ascending.
    bad_rows: Vec<usize>,
    /// What comes after `rows`.
    error: Option<DataError>,
    /// Has nothing been read yet?
    is_at_start: bool,
}

impl<T: Tokenizer> TextDecoder<T> {
    /// A decoder at the text's beginning.
    pub fn new(tokenizer: T, ctx: TextContext) -> Self {
        let columns: Vec<_> = ctx.projection.fields().iter().map(|f| column_builder(f, ctx.zone)).collect();
        Self {
            tokenizer,
            block: Block::new(columns.len(), ctx.unreadable),
            columns,
            ctx,
            bad_cells: BadCells::default(),
            rows: 0,
            bad_rows: vec![],
            error: None,
            is_at_start: true,
        }
    }

    /// Lets the columns read the block.
    fn read_block(&mut self, input: &[u8]) {
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.append(self.block.column(i), input, self.tokenizer.source(), &mut self.bad_cells);
            let name = self.ctx.projection.field(i).name();
            self.block.broken.extend(self.bad_cells.drain().map(|bad| Broken {
                row: bad.row,
                line: self.block.lines[bad.row],
                spot: Some(format!("column '{name}{}'", bad.path)),
                reason: bad.reason,
                extent: Extent::Value,
            }));
        }
        let first_row = self.rows;
        self.rows += self.block.lines.len();
        if !self.block.broken.is_empty() {
            self.settle_broken_rows(first_row, input);
        }
    }

    /// Do the values of the block's first row read like the names of their columns?
    fn begins_with_names(&self, input: &[u8]) -> bool {
        let mut scratch = vec![];
        self.ctx.projection.fields().iter().enumerate().all(|(column, field)| {
            let raw = self.block.column(column).first().and_then(|cell| cell.of(input));
            let text = raw.and_then(|raw| self.tokenizer.source().string(raw, &mut scratch));
            text.is_some_and(|text| text.trim_ascii().eq_ignore_ascii_case(field.name().as_bytes()))
        })
    }

    /// What the reader of an error about `broken` can do.
    fn help(&self, broken: &Broken, input: &[u8]) -> Option<String> {
        let is_first = broken.extent == Extent::Value && broken.row == 0 && broken.line == 1;
        match self.tokenizer.header_help() {
            Some(help) if is_first && self.begins_with_names(input) => Some(help.into()),
            _ if broken.extent == Extent::Text => None,
            _ => {
                let option = self.tokenizer.skip_option()?;
                Some(format!("'{option}' = 'true' leaves such rows out, and counts them"))
            }
        }
    }

    fn settle_broken_rows(&mut self, first_row: usize, input: &[u8]) {
        self.block.broken.sort_by_key(|b| (b.line, b.row));
        if self.block.unreadable == UnreadableRows::Fail {
            let first = self.block.broken.swap_remove(0);
            self.rows = first_row + first.row;
            let help = self.help(&first, input);
            self.error = Some(DataError { help, ..self.sentence(first) });
            return;
        }
        let mut last_line = None;
        for broken in std::mem::take(&mut self.block.broken) {
            if last_line.replace(broken.line) == Some(broken.line) {
                continue;
            }
            if broken.extent == Extent::Value {
                self.bad_rows.push(first_row + broken.row);
            }
            let metrics = self.ctx.metrics.clone();
            metrics.unreadable(|| self.sentence(broken).to_string());
        }
    }

    fn sentence(&self, broken: Broken) -> DataError {
        let spot = broken.spot.map(|s| format!(", {s}")).unwrap_or_default();
        DataError {
            table: self.ctx.table.clone(),
            place: format!("{}, line {}{spot}", self.ctx.place, broken.line),
            reason: broken.reason,
            help: None,
        }
    }

    /// Why no text begins like `input`.
    fn refuse_compressed(&mut self, input: &[u8]) {
        if input.starts_with(&GZIP_MAGIC) {
            self.error = Some(DataError {
                table: self.ctx.table.clone(),
                place: self.ctx.place.clone(),
                reason: "it is compressed with gzip".into(),
                help: Some("decompress it first: compressed files are not read yet".into()),
            });
        }
    }
}

impl<T: Tokenizer> Decoder for TextDecoder<T> {
    fn decode(&mut self, input: &[u8], last: bool) -> usize {
        if self.is_at_start {
            self.refuse_compressed(input);
        }
        if self.is_full() {
            return 0;
        }
        self.block.clear(self.ctx.batch_size - self.rows);
        let used = self.tokenizer.tokenize(input, last, &mut self.block);
        self.read_block(input);
        self.is_at_start &= used == 0;
        used
    }

    fn is_full(&self) -> bool {
        self.rows >= self.ctx.batch_size || self.error.is_some()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>, RuntimeError> {
        let rows = std::mem::take(&mut self.rows);
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(|c| c.finish().slice(0, rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.ctx.projection.clone(), arrays, &options);
        let mut batch = batch.map_err(OperatorError::from)?;
        if !self.bad_rows.is_empty() {
            let mut keep = vec![true; rows];
            self.bad_rows.drain(..).for_each(|row| keep[row] = false);
            batch = filter_record_batch(&batch, &BooleanArray::from(keep)).map_err(OperatorError::from)?;
        }
        if batch.num_rows() > 0 {
            return Ok(Some(batch));
        }
        match self.error.take() {
            Some(error) => Err(error.into()),
            None => Ok(None),
        }
    }

    fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    fn place(&self) -> TextPlace {
        self.tokenizer.place()
    }

    fn resume(&mut self, place: &TextPlace) -> Result<(), String> {
        self.tokenizer.resume(place)
    }
}
