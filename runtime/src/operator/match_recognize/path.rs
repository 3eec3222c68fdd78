//! Which row of a match is which variable, as a tree of paths that share their beginnings.
//!
//! **Invariant:** a node's row is its depth: the n-th node of a path is the n-th row of the match. For each set of
//! variables that a condition asks for, a node knows the first and last row of it on its path, and how many there are.

/// Index of a node.
pub type NodeId = u32;

const NONE: u32 = u32::MAX;

/// A row's variable, and whether it is left out of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u8);

impl Label {
    const EXCLUDED: u8 = 0x80;

    /// Variable `variable`.
    pub fn new(variable: u8, excluded: bool) -> Self {
        Label(variable | if excluded { Self::EXCLUDED } else { 0 })
    }

    /// The variable.
    pub fn variable(self) -> u8 {
        self.0 & !Self::EXCLUDED
    }

    /// Is the row left out?
    pub fn is_excluded(self) -> bool {
        self.0 & Self::EXCLUDED != 0
    }

    /// Is the variable one of these?
    pub fn is_in(self, set: u64) -> bool {
        set >> self.variable() & 1 == 1
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    depth: u32,
    label: Label,
    /// Tells this node from others that have had its index.
    serial: u64,
}

/// What a node knows of a set of variables.
#[derive(Clone, Copy, Debug)]
struct SetRows {
    /// The first and the last node on the path that are of the set.
    first: u32,
    last: u32,
    count: u32,
}

const NO_ROWS: SetRows = SetRows { first: NONE, last: NONE, count: 0 };

/// The paths of one attempt.
#[derive(Debug, Default)]
pub struct Paths {
    nodes: Vec<Node>,
    sets: Vec<u64>,
    /// Per node, one entry a set.
    rows: Vec<SetRows>,
    serials: u64,
}

impl Paths {
    /// Forgets all paths; the next ones are asked for these sets.
    pub fn clear(&mut self, sets: &[u64]) {
        self.nodes.clear();
        self.rows.clear();
        if self.sets != sets {
            self.sets = sets.to_vec();
        }
    }

    /// Adds a row behind `parent`.
    pub fn push(&mut self, parent: Option<NodeId>, variable: u8, excluded: bool) -> NodeId {
        let label = Label::new(variable, excluded);
        let id = self.nodes.len() as u32;
        let depth = parent.map_or(0, |parent| self.nodes[parent as usize].depth + 1);
        for (idx, set) in self.sets.iter().enumerate() {
            let mut rows = parent.map_or(NO_ROWS, |parent| self.rows[parent as usize * self.sets.len() + idx]);
            if label.is_in(*set) {
                rows.first = if rows.count == 0 { id } else { rows.first };
                (rows.last, rows.count) = (id, rows.count + 1);
            }
            self.rows.push(rows);
        }
        self.serials += 1;
        self.nodes.push(Node { parent: parent.unwrap_or(NONE), depth, label, serial: self.serials });
        id
    }

    /// Takes back the node that was added last.
    pub fn pop(&mut self, node: NodeId) {
        debug_assert_eq!(node as usize + 1, self.nodes.len(), "only the last node can be taken back");
        self.nodes.pop();
        self.rows.truncate(self.nodes.len() * self.sets.len());
    }

    /// The row of the match that node `node` is.
    pub fn depth(&self, node: NodeId) -> u32 {
        self.nodes[node as usize].depth
    }

    /// A number that no other node of this attempt has or has had.
    pub fn serial(&self, node: NodeId) -> u64 {
        self.nodes[node as usize].serial
    }

    /// The node before.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes[node as usize].parent;
        (parent != NONE).then_some(parent)
    }

    /// What the row is.
    pub fn label(&self, node: NodeId) -> Label {
        self.nodes[node as usize].label
    }

    /// On the path to `node`, the row of set `set` (by its place in those given to [`Paths::clear`]) that is `offset`
    /// rows of the set behind the first, or before the last.
    pub fn locate(&self, node: NodeId, set: usize, from_last: bool, offset: u32) -> Option<NodeId> {
        let rows = self.rows[node as usize * self.sets.len() + set];
        if offset >= rows.count {
            return None;
        }
        if !from_last && offset == 0 {
            return Some(rows.first);
        }
        let back = if from_last { offset } else { rows.count - 1 - offset };
        let mut at = rows.last;
        for _ in 0..back {
            let parent = self.nodes[at as usize].parent;
            at = self.rows[parent as usize * self.sets.len() + set].last;
        }
        Some(at)
    }

    /// The labels on the path to `node`, from the first row.
    pub fn labels(&self, node: Option<NodeId>, labels: &mut Vec<Label>) {
        let begin = labels.len();
        let mut at = node;
        while let Some(node) = at {
            labels.push(self.label(node));
            at = self.parent(node);
        }
        labels[begin..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_knows_the_rows_of_its_sets() {
        let mut paths = Paths::default();
        paths.clear(&[0b01, 0b11]);
        // A B A A, and B at the place of the third.
        let a = paths.push(None, 0, false);
        let b = paths.push(Some(a), 1, true);
        let c = paths.push(Some(b), 0, false);
        let d = paths.push(Some(c), 0, false);
        let other = paths.push(Some(b), 1, false);
        let depth = |node: Option<NodeId>| node.map(|node| paths.depth(node));
        assert_eq!(depth(paths.locate(d, 0, true, 0)), Some(3));
        assert_eq!(depth(paths.locate(d, 0, true, 2)), Some(0));
        assert_eq!(depth(paths.locate(d, 0, true, 3)), None);
        assert_eq!(depth(paths.locate(d, 0, false, 1)), Some(2));
        assert_eq!(depth(paths.locate(d, 1, false, 1)), Some(1));
        assert_eq!(depth(paths.locate(other, 0, true, 0)), Some(0));
        assert_eq!(depth(paths.locate(other, 0, false, 0)), Some(0));
        let mut labels = vec![];
        paths.labels(Some(other), &mut labels);
        let told: Vec<(u8, bool)> = labels.iter().map(|l| (l.variable(), l.is_excluded())).collect();
        assert_eq!(told, [(0, false), (1, true), (1, false)]);
    }
}
