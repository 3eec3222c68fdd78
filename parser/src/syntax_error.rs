//! `sqlparser`'s errors as diagnostics: its only channel is a text like
//! `Expected: X, found: Y at Line: 1, Column: 8`, which is taken apart here and said again with a span.
//!
//! The type grammar, which runs inside `sqlparser` for `CAST`, uses the same channel through [`type_error`].

use crate::code;
use crate::cursor::Cursor;
use crate::diagnostic::Diagnostic;
use crate::suggest::suggest;
use sqlparser::keywords::Keyword;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, Token, Word};

/// Words that are worth a "did you mean" in the middle of a statement.
const CLAUSE_WORDS: [&str; 24] = [
    "AND",
    "BETWEEN",
    "DISTINCT",
    "EXCEPT",
    "FROM",
    "GROUP",
    "HAVING",
    "INNER",
    "INTERSECT",
    "INTERVAL",
    "JOIN",
    "LEFT",
    "LIMIT",
    "ORDER",
    "OVER",
    "PARTITION",
    "RIGHT",
    "SELECT",
    "UNION",
    "USING",
    "VALUES",
    "WHERE",
    "WINDOW",
    "WITH",
];

const UNITS: [&str; 7] = ["DAY", "HOUR", "MINUTE", "MONTH", "SECOND", "WEEK", "YEAR"];

/// Marks a text that [`type_error`] made.
const TYPE_MARK: &str = "data type: ";
const HELP_MARK: &str = "\nhelp: ";

/// An error about a type, to be raised inside `sqlparser`. An empty `help` is none.
pub(crate) fn type_error(message: &str, help: &str, place: Location) -> ParserError {
    let help = if help.is_empty() { String::new() } else { format!("{HELP_MARK}{help}") };
    ParserError::ParserError(format!("{TYPE_MARK}{message}{help}{place}"))
}

/// `sqlparser`'s sentences start with a capital letter, ours do not; an all-capital word stays.
pub(crate) fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(chars).collect(),
        _ => sentence.to_owned(),
    }
}

/// The parts of an error's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub code: &'static str,
    /// What is wrong, without place and help.
    pub message: String,
    /// What was expected, when the error says `Expected: X, found: Y`.
    pub expected: Option<String>,
    /// The way out.
    pub help: Option<String>,
    /// Where; `None` at the end of the text or when the error does not say.
    pub location: Option<Location>,
    /// Does it complain about the end of the text?
    pub is_at_end: bool,
}

impl Complaint {
    pub fn of(error: &ParserError) -> Complaint {
        let (ParserError::ParserError(text) | ParserError::TokenizerError(text)) = error else {
            let message = "nested too deeply".to_owned();
            return Complaint {
                code: code::TOO_DEEP,
                message,
                expected: None,
                help: None,
                location: None,
                is_at_end: false,
            };
        };
        let (text, location) = split_location(text);
        let (code, text) = match text.strip_prefix(TYPE_MARK) {
            Some(text) => (code::DATA_TYPE, text),
            None => (code::SYNTAX, text),
        };
        let (text, help) = match text.split_once(HELP_MARK) {
            Some((text, help)) => (text, Some(help.to_owned())),
            None => (text, None),
        };
        let parts = text.strip_prefix("Expected: ").and_then(|rest| rest.rsplit_once(", found: "));
        Complaint {
            code,
            message: match parts {
                Some((expected, "EOF")) => format!("expected {}, found the end", name_expected(expected)),
                Some((expected, found)) => format!("expected {}, found `{found}`", name_expected(expected)),
                None => lower_first(text),
            },
            expected: parts.map(|(expected, _)| name_expected(expected)),
            help,
            location,
            is_at_end: parts.is_some_and(|(_, found)| found == "EOF"),
        }
    }
}

/// Cuts ` at Line: 1, Column: 8` off the end.
fn split_location(text: &str) -> (&str, Option<Location>) {
    let parse = || {
        let (text, place) = text.rsplit_once(" at Line: ")?;
        let (line, column) = place.split_once(", Column: ")?;
        Some((text, Location::new(line.parse().ok()?, column.parse().ok()?)))
    };
    match parse() {
        Some((text, location)) => (text, Some(location)),
        None => (text, None),
    }
}

/// What `sqlparser` expected, in the user's words.
fn name_expected(expected: &str) -> String {
    match expected {
        "identifier" => "a name".to_owned(),
        "SELECT, VALUES, or a subquery in the query body" => "a query (SELECT, VALUES or WITH)".to_owned(),
        "date/time field" => "a time unit such as SECOND or DAY".to_owned(),
        "joined table" => "a join or a subquery".to_owned(),
        _ if expected.starts_with("one of ") => expected.to_owned(),
        _ if expected.chars().any(char::is_lowercase) => expected.trim_end_matches(':').to_owned(),
        token => format!("`{token}`"),
    }
}

impl Cursor<'_> {
    /// `error` as a diagnostic at its place among this cursor's tokens.
    pub fn diagnose(&self, error: &ParserError) -> Box<Diagnostic> {
        self.diagnose_within(error, self.count())
    }

    /// As [`diagnose`](Self::diagnose), for an error of parsing the tokens before `end` only.
    pub fn diagnose_within(&self, error: &ParserError, end: usize) -> Box<Diagnostic> {
        let complaint = Complaint::of(error);
        if complaint.code == code::TOO_DEEP {
            let help = "split the query into views or WITH clauses";
            return Box::new(Diagnostic::error(complaint.code, complaint.message).at(self.span_here()).help(help));
        }
        let idx = self.index_of(&complaint, end);
        if let Some(expected) = &complaint.expected {
            return self.unexpected_at(idx, expected);
        }
        let mut diagnostic = Diagnostic::error(complaint.code, complaint.message).at(self.span_at(idx));
        diagnostic.help = complaint.help.or_else(|| self.misspelt(idx, &UNITS));
        Box::new(diagnostic)
    }

    /// Which of the tokens before `end` a complaint is about.
    pub fn index_of(&self, complaint: &Complaint, end: usize) -> usize {
        match complaint.location {
            Some(location) => self.index_at(location),
            None if complaint.is_at_end => end,
            None => self.mark().min(end),
        }
    }

    /// The next token is not what should stand here.
    pub fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        self.unexpected_at(self.mark(), expected)
    }

    /// The next token is none of these words; names the one that was probably meant.
    pub fn unexpected_word(&self, expected: &[&str]) -> Box<Diagnostic> {
        let list = match expected {
            [] => String::new(),
            [one] => format!("`{one}`"),
            [first @ .., last] => {
                format!("{} or `{last}`", first.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "))
            }
        };
        let mut diagnostic = self.unexpected(&list);
        let words = expected.iter().flat_map(|phrase| phrase.split(' ').next());
        if diagnostic.code != code::HINT
            && let Some(near) = self.word(0).and_then(|word| suggest(&word.to_uppercase(), words))
        {
            diagnostic.help = Some(format!("did you mean `{near}`?"));
        }
        diagnostic
    }

    /// Token `idx` is not what should stand there.
    pub fn unexpected_at(&self, idx: usize, expected: &str) -> Box<Diagnostic> {
        let Some(token) = self.token(idx) else {
            let message = format!("expected {expected}, found the end of the statement");
            let diagnostic = Diagnostic::error(code::SYNTAX, message).at(self.span_at(idx));
            return Box::new(self.label_open_parenthesis(diagnostic, idx, "this parenthesis is not closed"));
        };
        if let Some(misplaced) = self.misplaced_hint(token.span) {
            return Box::new(misplaced);
        }
        let message = format!("expected {expected}, found {}", self.quote(idx));
        let mut diagnostic = Diagnostic::error(code::SYNTAX, message).at(self.span_at(idx));
        diagnostic.help = [idx, idx.wrapping_sub(1)].into_iter().find_map(|idx| self.misspelt(idx, &CLAUSE_WORDS));
        Box::new(match expected {
            "`)`" => self.label_open_parenthesis(diagnostic, idx, "opened here"),
            _ => diagnostic,
        })
    }

    /// A token in back quotes as the user wrote it, cut when long.
    pub fn quote(&self, idx: usize) -> String {
        const MOST: usize = 30;
        let text = self.span_at(idx).slice(self.text());
        match text.char_indices().nth(MOST) {
            Some((cut, _)) => format!("`{}…`", &text[..cut]),
            None => format!("`{text}`"),
        }
    }

    fn misspelt(&self, idx: usize, words: &[&'static str]) -> Option<String> {
        match &self.token(idx)?.token {
            Token::Word(Word { quote_style: None, value, keyword: Keyword::NoKeyword }) => {
                let near = suggest(&value.to_uppercase(), words.iter().copied())?;
                Some(format!("did you mean `{near}` instead of `{value}`?"))
            }
            _ => None,
        }
    }

    /// Labels the innermost parenthesis that is open in front of token `end`.
    fn label_open_parenthesis(&self, diagnostic: Diagnostic, end: usize, label: &str) -> Diagnostic {
        let mut open = vec![];
        for idx in 0..end.min(self.count()) {
            match self.token(idx).map(|token| &token.token) {
                Some(Token::LParen) => open.push(idx),
                Some(Token::RParen) => {
                    open.pop();
                }
                _ => {}
            }
        }
        match open.pop() {
            Some(idx) => diagnostic.label(self.span_at(idx), label),
            None => diagnostic,
        }
    }
}
