//! Text arguments that must be compiled before use: patterns, paths, zones.

use datafusion_common::Result;

use super::call::{Call, Texts};

/// The compiled form of a text argument: made once if the argument is constant, and again only when a row's text
/// differs from the row's before.
pub(super) struct Compiled<'a, T> {
    texts: Option<Texts<'a>>,
    compile: fn(&str) -> T,
    last: Option<(String, T)>,
}

impl<'a, T> Compiled<'a, T> {
    pub fn new(call: &'a Call<'_>, index: usize, compile: fn(&str) -> T) -> Result<Self> {
        Ok(Compiled { texts: Some(call.texts(index)?), compile, last: None })
    }

    /// Of an argument that may be left out: `default` stands for it.
    pub fn with_default(call: &'a Call<'_>, index: usize, default: &str, compile: fn(&str) -> T) -> Result<Self> {
        match call.optional_texts(index)? {
            Some(texts) => Ok(Compiled { texts: Some(texts), compile, last: None }),
            None => Ok(Compiled { texts: None, compile, last: Some((default.to_string(), compile(default))) }),
        }
    }

    /// The compiled text of a row; `None` is NULL.
    pub fn get(&mut self, row: usize) -> Option<&T> {
        if let Some(texts) = &self.texts {
            let text = texts.get(row)?;
            let is_known = texts.constant().is_some() && self.last.is_some();
            if !is_known && self.last.as_ref().is_none_or(|(last, _)| last != text) {
                self.last = Some((text.to_string(), (self.compile)(text)));
            }
        }
        self.last.as_ref().map(|(_, compiled)| compiled)
    }
}

impl<T> Compiled<'_, std::result::Result<T, String>> {
    /// As [`Compiled::get`] where text that cannot be compiled ends the query.
    pub fn require(&mut self, row: usize) -> Result<Option<&T>> {
        match self.get(row) {
            None => Ok(None),
            Some(Ok(compiled)) => Ok(Some(compiled)),
            Some(Err(reason)) => datafusion_common::exec_err!("{reason}"),
        }
    }
}
