//! Cuts a stream plan into vertices.
//!
//! Two nodes share a vertex when the edge between them moves no row to another subtask: a forward edge, or any edge
//! between two single subtasks. At parallelism 1 a whole pipeline becomes one chain.

use super::{Edge, JobGraph, Vertex, VertexId};
use crate::stream_plan::{Distribution, NodeId, NodeKind, StreamNode, StreamPlan};

impl JobGraph {
    /// Builds the graph for `parallelism` subtasks an operator and `max_parallelism` key groups.
    pub fn build(plan: StreamPlan, parallelism: usize, max_parallelism: u32) -> JobGraph {
        let parallelism = parallelism.clamp(1, max_parallelism.max(1) as usize);
        let widths = widths(&plan, parallelism);
        let consumers = consumer_counts(&plan);
        let mut vertex_of: Vec<VertexId> = vec![];
        let mut vertices: Vec<Vertex> = vec![];
        for node in &plan.nodes {
            let chained = chain_target(node, &widths, &consumers).map(|input| vertex_of[input.0]);
            match chained {
                Some(vertex) => {
                    vertices[vertex.0].chain.push(node.id);
                    vertex_of.push(vertex);
                }
                None => {
                    let id = VertexId(vertices.len());
                    let inputs = node.inputs.iter().zip(&node.distribution);
                    let inputs = inputs.map(|(n, d)| Edge { from: vertex_of[n.0], distribution: d.clone() }).collect();
                    vertices.push(Vertex {
                        id,
                        name: String::new(),
                        chain: vec![node.id],
                        parallelism: widths[node.id.0],
                        inputs,
                    });
                    vertex_of.push(id);
                }
            }
        }
        for vertex in &mut vertices {
            let names: Vec<&str> = vertex.chain.iter().map(|n| plan.node(*n).uid.as_str()).collect();
            vertex.name = names.join(" -> ");
        }
        JobGraph { plan, vertices, max_parallelism }
    }
}

/// Subtasks of each node.
fn widths(plan: &StreamPlan, parallelism: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = vec![];
    for node in &plan.nodes {
        let inputs = || node.inputs.iter().map(|i| widths[i.0]);
        let width = match (&node.kind, node.distribution.first()) {
            (NodeKind::Source(_), _) => parallelism,
            (NodeKind::Values { .. }, _) => 1,
            (_, Some(Distribution::Single)) => 1,
            (_, Some(Distribution::Hash(_))) => parallelism,
            // Inputs of different widths meet in a single subtask.
            _ if inputs().min() == inputs().max() => inputs().max().unwrap_or(1),
            _ => 1,
        };
        widths.push(width);
    }
    widths
}

fn consumer_counts(plan: &StreamPlan) -> Vec<usize> {
    let mut counts = vec![0; plan.nodes.len()];
    for input in plan.nodes.iter().flat_map(|n| &n.inputs) {
        counts[input.0] += 1;
    }
    counts
}

/// The input whose vertex the node joins, if it can.
fn chain_target(node: &StreamNode, widths: &[usize], consumers: &[usize]) -> Option<NodeId> {
    let ([input], [distribution]) = (node.inputs.as_slice(), node.distribution.as_slice()) else { return None };
    let same_width = widths[input.0] == widths[node.id.0];
    let stays = same_width && (*distribution == Distribution::Forward || widths[node.id.0] == 1);
    (stays && consumers[input.0] == 1).then_some(*input)
}
