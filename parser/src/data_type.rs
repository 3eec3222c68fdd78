//! Flink's type grammar, for columns and for `CAST` alike.
//!
//! A column keeps its [`SqlType`](crate::ast::SqlType). `sqlparser`'s tree has no room for it in `CAST`, so there the
//! type travels as a [`sqlparser::ast::DataType`] which [`sql_type_of`] turns back into the same
//! [`SqlTypeKind`](crate::ast::SqlTypeKind).
//!
//! `NOT NULL` on an element of an array, map or multiset is read and not kept: only fields of a `ROW` carry it.

mod convert;
mod display;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use convert::data_type_of;
pub use convert::sql_type_of;
pub(crate) use parse::parse_type;
