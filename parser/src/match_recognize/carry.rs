//! The clause in `sqlparser`'s own node, and out of it again.
//!
//! What the node has no place for is carried by forms that no text gives rise to: a reluctant quantifier is a second
//! quantifier around the first, exclusion and `PERMUTE` of any pattern are concatenations headed by a marker, and
//! `WITHIN` and `SUBSET` are definitions of markers.

use super::{MatchRecognize, Pattern, Subset};
use sqlparser::ast::{
    Expr, Ident, MatchRecognizePattern as Node, MatchRecognizeSymbol as Symbol, RepetitionQuantifier as Quantifier,
    RowsPerMatch, SymbolDefinition, TableAlias, TableFactor,
};

const EXCLUDE: &str = "$exclude";
const PERMUTE: &str = "$permute";
const WITHIN: &str = "$within";
const SUBSET: &str = "$subset";

impl MatchRecognize {
    /// The clause of a table factor with its input and alias; `None` for any other factor.
    pub fn of(factor: &TableFactor) -> Option<(MatchRecognize, &TableFactor, Option<&TableAlias>)> {
        let TableFactor::MatchRecognize {
            table,
            partition_by,
            order_by,
            measures,
            rows_per_match,
            after_match_skip,
            pattern,
            symbols,
            alias,
        } = factor
        else {
            return None;
        };
        let (mut within, mut subsets, mut define) = (None, vec![], vec![]);
        for symbol in symbols {
            match symbol.symbol.value.as_str() {
                WITHIN => within = Some(symbol.definition.clone()),
                SUBSET => subsets.extend(subset_of(&symbol.definition)),
                _ => define.push(symbol.clone()),
            }
        }
        let clause = MatchRecognize {
            partition_by: partition_by.clone(),
            order_by: order_by.clone(),
            measures: measures.clone(),
            rows_per_match: rows_per_match.clone().unwrap_or(RowsPerMatch::OneRow),
            after_match_skip: after_match_skip.clone(),
            pattern: pattern_of(pattern),
            within,
            subsets,
            define,
        };
        Some((clause, table, alias.as_ref()))
    }

    /// The clause over `table`, as a table factor.
    pub(super) fn into_factor(self, table: TableFactor, alias: Option<TableAlias>) -> TableFactor {
        let mut symbols = self.define;
        let marked = |symbol: &str, definition| SymbolDefinition { symbol: Ident::new(symbol), definition };
        symbols.extend(self.within.map(|bound| marked(WITHIN, bound)));
        symbols.extend(self.subsets.into_iter().map(|subset| {
            let names = std::iter::once(subset.name).chain(subset.members);
            marked(SUBSET, Expr::Tuple(names.map(Expr::Identifier).collect()))
        }));
        TableFactor::MatchRecognize {
            table: Box::new(table),
            partition_by: self.partition_by,
            order_by: self.order_by,
            measures: self.measures,
            rows_per_match: Some(self.rows_per_match),
            after_match_skip: self.after_match_skip,
            pattern: node_of(self.pattern),
            symbols,
            alias,
        }
    }
}

fn subset_of(expr: &Expr) -> Option<Subset> {
    let Expr::Tuple(names) = expr else { return None };
    let mut names = names.iter().filter_map(|name| match name {
        Expr::Identifier(name) => Some(name.clone()),
        _ => None,
    });
    Some(Subset { name: names.next()?, members: names.collect() })
}

fn node_of(pattern: Pattern) -> Node {
    let headed = |head: &str, parts: Vec<Pattern>| {
        let head = Node::Symbol(Symbol::Named(Ident::new(head)));
        Node::Concat(std::iter::once(head).chain(parts.into_iter().map(node_of)).collect())
    };
    match pattern {
        Pattern::Variable(name) => Node::Symbol(Symbol::Named(name)),
        Pattern::Start => Node::Symbol(Symbol::Start),
        Pattern::End => Node::Symbol(Symbol::End),
        Pattern::Empty => Node::Concat(vec![]),
        Pattern::Concat(parts) => Node::Concat(parts.into_iter().map(node_of).collect()),
        Pattern::Alternation(branches) => Node::Alternation(branches.into_iter().map(node_of).collect()),
        Pattern::Repeat { pattern, min, max, reluctant } => {
            let quantifier = match max {
                Some(max) => Quantifier::Range(min, max),
                None => Quantifier::AtLeast(min),
            };
            let inner = Node::Group(Box::new(node_of(*pattern)));
            let repeated = Node::Repetition(Box::new(inner), quantifier);
            if reluctant { Node::Repetition(Box::new(repeated), Quantifier::AtMostOne) } else { repeated }
        }
        Pattern::Exclude(inner) => headed(EXCLUDE, vec![*inner]),
        Pattern::Permute(parts) => headed(PERMUTE, parts),
    }
}

fn pattern_of(node: &Node) -> Pattern {
    let variable = |symbol: &Symbol| match symbol {
        Symbol::Named(name) => Pattern::Variable(name.clone()),
        Symbol::Start => Pattern::Start,
        Symbol::End => Pattern::End,
    };
    let all = |nodes: &[Node]| nodes.iter().map(pattern_of).collect::<Vec<_>>();
    match node {
        Node::Symbol(symbol) => variable(symbol),
        Node::Exclude(symbol) => Pattern::Exclude(Box::new(variable(symbol))),
        Node::Permute(symbols) => Pattern::Permute(symbols.iter().map(variable).collect()),
        Node::Group(inner) => pattern_of(inner),
        Node::Alternation(branches) => Pattern::Alternation(all(branches)),
        Node::Concat(nodes) => match nodes.as_slice() {
            [] => Pattern::Empty,
            [Node::Symbol(Symbol::Named(head)), inner] if head.value == EXCLUDE => {
                Pattern::Exclude(Box::new(pattern_of(inner)))
            }
            [Node::Symbol(Symbol::Named(head)), parts @ ..] if head.value == PERMUTE => Pattern::Permute(all(parts)),
            parts => Pattern::Concat(all(parts)),
        },
        Node::Repetition(inner, quantifier) => {
            let is_reluctant = matches!((inner.as_ref(), quantifier), (Node::Repetition(..), Quantifier::AtMostOne));
            match pattern_of(inner) {
                Pattern::Repeat { pattern, min, max, .. } if is_reluctant => {
                    Pattern::Repeat { pattern, min, max, reluctant: true }
                }
                pattern => {
                    let (min, max) = bounds_of(quantifier);
                    Pattern::Repeat { pattern: Box::new(pattern), min, max, reluctant: false }
                }
            }
        }
    }
}

fn bounds_of(quantifier: &Quantifier) -> (u32, Option<u32>) {
    match *quantifier {
        Quantifier::ZeroOrMore => (0, None),
        Quantifier::OneOrMore => (1, None),
        Quantifier::AtMostOne => (0, Some(1)),
        Quantifier::Exactly(n) => (n, Some(n)),
        Quantifier::AtLeast(n) => (n, None),
        Quantifier::AtMost(n) => (0, Some(n)),
        Quantifier::Range(n, m) => (n, Some(m)),
    }
}
