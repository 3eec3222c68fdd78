//! The channels between the subtasks of a job.

use std::sync::Arc;

use tidemark_planner::job_graph::{Edge, JobGraph, Vertex, VertexId};
use tidemark_planner::stream_plan::{Distribution, NodeKind};

use super::JobOptions;
use super::results::ResultReceiver;
use crate::exchange::channel::{Receiver, Sender, channel};
use crate::exchange::partition::Partitioner;
use crate::exchange::wake_up::WakeUp;
use crate::scheduler::Control;
use crate::task::outlet::OutputEdge;

/// The ends of every channel, by vertex and subtask, to be taken out once.
pub struct Wiring {
    outputs: Vec<Vec<Vec<OutputEdge>>>,
    inputs: Vec<Vec<Vec<(usize, Receiver)>>>,
    /// The caller's end, when the graph collects rows.
    pub results: Option<ResultReceiver>,
}

/// Makes channels that wake the right threads.
struct Wirer<'a> {
    graph: &'a JobGraph,
    options: &'a JobOptions,
    control: &'a Control,
    /// Number of the first subtask of each vertex.
    first_task: Vec<usize>,
}

impl Wiring {
    /// Channels for every edge of `graph`, and for its results.
    pub fn new(graph: &JobGraph, options: &JobOptions, control: &Control) -> Self {
        let first_task = graph.vertices.iter().scan(0, |next, vertex| {
            let first = *next;
            *next += vertex.parallelism;
            Some(first)
        });
        let wirer = Wirer { graph, options, control, first_task: first_task.collect() };
        let mut wiring = Self {
            outputs: graph.vertices.iter().map(|v| (0..v.parallelism).map(|_| vec![]).collect()).collect(),
            inputs: graph.vertices.iter().map(|v| (0..v.parallelism).map(|_| vec![]).collect()).collect(),
            results: None,
        };
        for consumer in &graph.vertices {
            for (input, edge) in consumer.inputs.iter().enumerate() {
                wiring.connect(&wirer, edge, consumer, input);
            }
        }
        wiring.connect_results(&wirer);
        wiring
    }

    /// Where the rows of a subtask go.
    pub fn take_outputs(&mut self, vertex: VertexId, subtask: usize) -> Vec<OutputEdge> {
        std::mem::take(&mut self.outputs[vertex.0][subtask])
    }

    /// Where the rows of a subtask come from.
    pub fn take_inputs(&mut self, vertex: VertexId, subtask: usize) -> Vec<(usize, Receiver)> {
        std::mem::take(&mut self.inputs[vertex.0][subtask])
    }

    fn connect(&mut self, wirer: &Wirer, edge: &Edge, consumer: &Vertex, input: usize) {
        let keys = match &edge.distribution {
            Distribution::Hash(keys) if consumer.parallelism > 1 && !keys.is_empty() => Some(keys),
            _ => None,
        };
        for subtask in 0..wirer.graph.vertices[edge.from.0].parallelism {
            let reached = match &edge.distribution {
                Distribution::Forward => vec![subtask % consumer.parallelism],
                Distribution::Hash(_) if keys.is_some() => (0..consumer.parallelism).collect(),
                Distribution::Hash(_) | Distribution::Single => vec![0],
            };
            let channels = reached.into_iter().map(|to| {
                let (sender, receiver) = wirer.channel((edge.from, subtask), (consumer.id, to));
                self.inputs[consumer.id.0][to].push((input, receiver));
                sender
            });
            let partitioner =
                keys.map(|k| Partitioner::new(k.clone(), consumer.parallelism, wirer.graph.max_parallelism));
            let edge_out = OutputEdge { channels: channels.collect(), partitioner };
            self.outputs[edge.from.0][subtask].push(edge_out);
        }
    }

    fn connect_results(&mut self, wirer: &Wirer) {
        let wake_up: Arc<WakeUp> = Arc::default();
        let mut receivers = Vec::new();
        for vertex in wirer.graph.vertices.iter().filter(|v| is_collecting(wirer.graph, v)) {
            for subtask in 0..vertex.parallelism {
                let producer = wirer.wake_up(vertex.id, subtask);
                let (sender, receiver) = channel(wirer.options.channel_limits, producer, Arc::clone(&wake_up));
                self.outputs[vertex.id.0][subtask].push(OutputEdge { partitioner: None, channels: vec![sender] });
                receivers.push(receiver);
            }
        }
        if !receivers.is_empty() {
            self.results = Some(ResultReceiver::new(receivers, wake_up));
        }
    }
}

impl Wirer<'_> {
    fn channel(&self, from: (VertexId, usize), to: (VertexId, usize)) -> (Sender, Receiver) {
        channel(self.options.channel_limits, self.wake_up(from.0, from.1), self.wake_up(to.0, to.1))
    }

    fn wake_up(&self, vertex: VertexId, subtask: usize) -> Arc<WakeUp> {
        Arc::clone(self.control.wake_up_of(self.first_task[vertex.0] + subtask))
    }
}

fn is_collecting(graph: &JobGraph, vertex: &Vertex) -> bool {
    vertex.chain.last().is_some_and(|node| matches!(graph.plan.node(*node).kind, NodeKind::Collect))
}
