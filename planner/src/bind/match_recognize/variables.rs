//! The variables of a pattern: those that PATTERN names, and the unions that SUBSET makes of them.

use datafusion_common::{DataFusionError, Result};
use sqlparser::ast::Ident;
use tidemark_parser::match_recognize::{MatchRecognize as Clause, Pattern};
use tidemark_parser::{Diagnostic, suggest};

use super::{place, refuse};
use crate::bind::errors::Finding;
use crate::bind::text::ScriptText;
use crate::codes::UNKNOWN_NAME;
use crate::stream_plan::match_recognize::{MAX_PATTERN_VARIABLES, VariableSet};

/// A variable's name: in upper case unless it is quoted, as CLASSIFIER() gives it.
pub(super) fn canonical(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_uppercase() }
}

/// Names and what they stand for.
pub(super) struct Variables {
    pub names: Vec<String>,
    unions: Vec<(String, VariableSet)>,
}

impl Variables {
    /// Reads PATTERN, SUBSET and the names that DEFINE gives conditions.
    pub fn of(clause: &Clause, script: &ScriptText) -> Result<Self> {
        let mut variables = Variables { names: vec![], unions: vec![] };
        let mut idents = vec![];
        variables_in(&clause.pattern, &mut idents);
        for ident in &idents {
            let name = canonical(ident);
            if !variables.names.contains(&name) {
                variables.names.push(name);
            }
        }
        if let Some(excess) =
            idents.get(MAX_PATTERN_VARIABLES).filter(|_| variables.names.len() > MAX_PATTERN_VARIABLES)
        {
            let message = format!("a pattern has at most {MAX_PATTERN_VARIABLES} variables");
            return refuse(place(script, excess.span), &message, "use a variable more than once, or split the pattern");
        }
        variables.add_unions(clause, script)?;
        variables.check_definitions(clause, script)?;
        Ok(variables)
    }

    fn add_unions(&mut self, clause: &Clause, script: &ScriptText) -> Result<()> {
        for subset in &clause.subsets {
            let name = canonical(&subset.name);
            if self.names.contains(&name) || self.unions.iter().any(|(known, _)| *known == name) {
                let message = format!("the variable `{name}` is declared twice");
                return refuse(place(script, subset.name.span), &message, "give the union variable a name of its own");
            }
            let mut set = VariableSet(0);
            for member in &subset.members {
                match self.index_of(member) {
                    Some(variable) => set.0 |= VariableSet::of(variable).0,
                    None => return Err(self.unknown(member, script)),
                }
            }
            self.unions.push((name, set));
        }
        Ok(())
    }

    fn check_definitions(&self, clause: &Clause, script: &ScriptText) -> Result<()> {
        let mut defined = vec![];
        for definition in &clause.define {
            let name = canonical(&definition.symbol);
            let span = place(script, definition.symbol.span);
            if !self.names.contains(&name) {
                if self.unions.iter().any(|(union, _)| *union == name) {
                    let message = format!("`{name}` is a union variable: its members have the conditions");
                    return refuse(span, &message, "define the members");
                }
                return Err(self.unknown(&definition.symbol, script));
            }
            if defined.contains(&name) {
                return refuse(span, &format!("`{name}` is defined twice"), "join the conditions with AND");
            }
            defined.push(name);
        }
        Ok(())
    }

    /// The number of a pattern variable.
    pub fn index_of(&self, name: &Ident) -> Option<usize> {
        let name = canonical(name);
        self.names.iter().position(|known| *known == name)
    }

    /// What a variable or union variable stands for.
    pub fn set_of(&self, name: &Ident) -> Option<VariableSet> {
        if let Some(variable) = self.index_of(name) {
            return Some(VariableSet::of(variable));
        }
        let name = canonical(name);
        self.unions.iter().find(|(union, _)| *union == name).map(|(_, set)| *set)
    }

    /// No variable has this name.
    pub fn unknown(&self, name: &Ident, script: &ScriptText) -> DataFusionError {
        let message = format!("there is no pattern variable `{}`", name.value);
        let mut d = Diagnostic::error(UNKNOWN_NAME, message).at(place(script, name.span));
        let known: Vec<&str> =
            self.names.iter().chain(self.unions.iter().map(|(name, _)| name)).map(String::as_str).collect();
        d.help = match suggest(&canonical(name), known.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => Some(format!("the variables of the pattern are {}", known.join(", "))),
        };
        Finding(d).into()
    }
}

/// The variables of a pattern as they are written, in order.
pub(super) fn variables_in<'p>(pattern: &'p Pattern, found: &mut Vec<&'p Ident>) {
    match pattern {
        Pattern::Variable(name) => found.push(name),
        Pattern::Start | Pattern::End | Pattern::Empty => {}
        Pattern::Concat(parts) | Pattern::Alternation(parts) | Pattern::Permute(parts) => {
            parts.iter().for_each(|part| variables_in(part, found));
        }
        Pattern::Repeat { pattern, .. } | Pattern::Exclude(pattern) => variables_in(pattern, found),
    }
}
