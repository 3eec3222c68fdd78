use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use arrow::datatypes::DataType;
use tidemark_planner::catalog::connector::ConnectorFactory;

use super::super::testing::{error, request};
use super::super::{Connector, SourcePoll, SplitReader, Waker};
use super::StdinConnector;
use crate::format::testing::{lines, table};

/// An input whose pieces come when the test sends them; it ends when the sender is dropped.
struct Pipe(Receiver<&'static str>);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(piece) = self.0.recv() else { return Ok(0) };
        buffer[..piece.len()].copy_from_slice(piece.as_bytes());
        Ok(piece.len())
    }
}

/// A reader, the input's other end, and a channel that gets a message whenever the reader's waker is called.
fn open(options: &[(&str, &str)]) -> (Box<dyn SplitReader>, Sender<&'static str>, Receiver<()>) {
    let (input, pipe) = channel();
    let connector = StdinConnector::reading(Pipe(pipe));
    let table = table(&[("a", DataType::Int64)], options);
    let source = connector.open_source(request(&table, 8192, &[])).unwrap();
    let mut reader = source.open_split(0, None, Arc::default()).unwrap();
    let (wake, woken) = channel();
    reader.set_waker(Waker::new(move || {
        let _ = wake.send(());
    }));
    (reader, input, woken)
}

fn rows_or_end(reader: &mut dyn SplitReader, woken: &Receiver<()>) -> Result<Vec<String>, String> {
    loop {
        match reader.poll().map_err(|e| e.to_string())? {
            SourcePoll::Batch(batch) => return Ok(lines(&batch)),
            SourcePoll::Finished => return Ok(vec![]),
            SourcePoll::Pending { retry_after_ms } => {
                assert_eq!(retry_after_ms, None);
                woken.recv().unwrap();
            }
        }
    }
}

#[test]
fn a_row_is_there_as_soon_as_its_line_is() {
    let (mut reader, input, woken) = open(&[("format", "csv")]);
    assert!(matches!(reader.poll().unwrap(), SourcePoll::Pending { retry_after_ms: None }));
    input.send("1\n2").unwrap();
    assert_eq!(rows_or_end(reader.as_mut(), &woken).unwrap(), ["1"]);
    input.send("2\n").unwrap();
    assert_eq!(rows_or_end(reader.as_mut(), &woken).unwrap(), ["22"]);
    input.send("3").unwrap();
    drop(input);
    assert_eq!(rows_or_end(reader.as_mut(), &woken).unwrap(), ["3"]);
    assert_eq!(rows_or_end(reader.as_mut(), &woken).unwrap(), Vec::<String>::new());
}

#[test]
fn messages_name_the_line() {
    let (mut reader, input, woken) = open(&[("format", "json")]);
    input.send("{\"a\":1}\n{\"a\":x}\n").unwrap();
    assert_eq!(rows_or_end(reader.as_mut(), &woken).unwrap(), ["1"]);
    let message = rows_or_end(reader.as_mut(), &woken).unwrap_err();
    assert_eq!(message, "table `t`: standard input, line 2, character 6: not JSON: expected a value");
}

#[test]
fn it_is_read_once() {
    let connector = StdinConnector::reading(io::empty());
    let table = table(&[("a", DataType::Int64)], &[("format", "csv")]);
    let source = connector.open_source(request(&table, 8192, &[])).unwrap();
    let (_first, second) =
        (source.open_split(0, None, Arc::default()).unwrap(), source.open_split(0, None, Arc::default()));
    assert_eq!(error(second), "table `t`: the standard input can be read only once");
}

#[test]
fn parquet_is_no_choice() {
    let connector = StdinConnector::reading(io::empty());
    let format = connector.options().into_iter().find(|o| o.key == "format").unwrap();
    assert_eq!(format.kind.check("parquet"), Err("expected one of 'csv', 'json'".into()));
    assert!(connector.source(&table(&[], &[])).unwrap().bounded);
}
