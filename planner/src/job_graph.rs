//! The job graph: the stream plan cut into vertices, each a chain of operators that runs as parallel subtasks.

mod build;

use serde::Serialize;

use crate::stream_plan::{Distribution, NodeId, StreamPlan};

/// Index of a vertex in [`JobGraph::vertices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct VertexId(pub usize);

/// Vertices in topological order, with the plan their operators come from.
#[derive(Clone, Debug, Serialize)]
pub struct JobGraph {
    /// The operators.
    pub plan: StreamPlan,
    /// The vertices, producers before consumers.
    pub vertices: Vec<Vertex>,
    /// Number of key groups of the job.
    pub max_parallelism: u32,
}

/// A chain of operators joined by forward edges: batches pass by function call.
#[derive(Clone, Debug, Serialize)]
pub struct Vertex {
    /// Its place.
    pub id: VertexId,
    /// The operators' uids joined by ` -> `.
    pub name: String,
    /// Nodes of the chain, upstream first. Only the first may have several inputs.
    pub chain: Vec<NodeId>,
    /// How many subtasks run it.
    pub parallelism: usize,
    /// Where the first operator's rows come from, one edge an input; empty for a source.
    pub inputs: Vec<Edge>,
}

/// An exchange between two vertices.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// The producer.
    pub from: VertexId,
    /// How its rows are spread over the consumer's subtasks.
    pub distribution: Distribution,
}
