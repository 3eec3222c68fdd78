//! What the tests share: the harness that runs SQL scripts, the batch oracle, and a view of the workspace's files.

pub mod harness;
pub mod match_cases;
pub mod match_operator;
#[cfg(feature = "oracle")]
pub mod oracle;
pub mod workspace;
