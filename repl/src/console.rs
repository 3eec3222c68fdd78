//! Where things are said: rows on stdout, everything else on stderr.

use std::io::{self, BufWriter, IsTerminal, Write};

use tidemark::render::{Style, Zone};
use tidemark_parser::Diagnostic;

use crate::args::{ColorChoice, RunOptions};
use crate::script::Source;
use crate::stop::watchdog::WatchedOut;

/// Bytes of rows gathered before they are written, when nothing flushes them earlier.
const OUT_BUFFER_BYTES: usize = 1 << 16;

/// Standard output and standard error, and how they look.
pub struct Console {
    /// Rows; flushed whenever the next ones are not at hand.
    pub out: BufWriter<WatchedOut>,
    is_terminal: bool,
    colors: bool,
    quiet: bool,
}

impl Console {
    /// As the options and the environment want it.
    pub fn new(options: &RunOptions) -> Self {
        let colors = match options.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => io::stderr().is_terminal() && environment_allows_colors(),
        };
        Self {
            // Not locked: a `print` table writes to stdout from another thread.
            out: BufWriter::with_capacity(OUT_BUFFER_BYTES, WatchedOut::new()),
            is_terminal: io::stdout().is_terminal(),
            colors,
            quiet: options.quiet,
        }
    }

    /// Do rows go to a terminal?
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// How results look, in that zone.
    pub fn style(&self, options: &RunOptions, time_zone: &str) -> Style {
        let width = if self.is_terminal { terminal_width() } else { None };
        // Settings are checked when they are set: the zone exists.
        Style { format: options.format(), zone: Zone::parse(time_zone).unwrap_or(Zone::Utc), width }
    }

    /// Says something that `--quiet` silences. `text` has its line ends.
    pub fn note(&mut self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Says what is wrong with a script; warnings and notes are silenced by `--quiet`.
    pub fn diagnose(&mut self, findings: &[Diagnostic], source: &Source) {
        let said: Vec<Diagnostic> = findings.iter().filter(|d| d.is_error() || !self.quiet).cloned().collect();
        if !said.is_empty() {
            let rendered = tidemark_parser::render(&said, &source.name, &source.text, self.colors);
            self.say(&format!("{}\n", rendered.trim_end_matches('\n')));
        }
    }

    /// Says what went wrong outside any script.
    pub fn error(&mut self, sentence: &str) {
        let (on, off) = if self.colors { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
        self.say(&format!("{on}error{off}: {sentence}\n"));
    }

    /// Rows that were printed before stand before the message. A stderr that is gone is nobody's to tell.
    fn say(&mut self, text: &str) {
        let _ = self.out.flush();
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn environment_allows_colors() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    !no_color && !is_dumb
}

/// `COLUMNS`, or what the terminal says.
fn terminal_width() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|v| v.trim().parse().ok()).filter(|w| *w > 0);
    told.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)))
}
