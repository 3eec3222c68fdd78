//! Names and what they denote. In memory, owned by a session.

pub mod connector;
pub mod options;
pub mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use connector::ConnectorFactory;
use table::{TableDef, ViewDef};

/// What a name denotes.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A table over a connector.
    Table(Arc<TableDef>),
    /// A view.
    View(Arc<ViewDef>),
}

impl Relation {
    /// `table` or `view`, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Relation::Table(_) => "table",
            Relation::View(_) => "view",
        }
    }
}

/// Tables, views and the connectors that tables may name. Names are case-sensitive.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    relations: BTreeMap<String, Relation>,
    connectors: Vec<Arc<dyn ConnectorFactory>>,
}

impl Catalog {
    /// An empty catalog over these connectors.
    pub fn new(connectors: Vec<Arc<dyn ConnectorFactory>>) -> Self {
        Self { relations: BTreeMap::new(), connectors }
    }

    /// What `name` denotes.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations.get(name)
    }

    /// All relations by name.
    pub fn relations(&self) -> impl Iterator<Item = (&str, &Relation)> {
        self.relations.iter().map(|(n, r)| (n.as_str(), r))
    }

    /// Adds or replaces a relation under its own name.
    pub fn insert(&mut self, relation: Relation) {
        let name = match &relation {
            Relation::Table(t) => t.name.clone(),
            Relation::View(v) => v.name.clone(),
        };
        self.relations.insert(name, relation);
    }

    /// Removes a name; what it denoted is returned.
    pub fn remove(&mut self, name: &str) -> Option<Relation> {
        self.relations.remove(name)
    }

    /// The connector of that name.
    pub fn connector(&self, name: &str) -> Option<&Arc<dyn ConnectorFactory>> {
        self.connectors.iter().find(|c| c.name() == name)
    }

    /// All connectors.
    pub fn connectors(&self) -> &[Arc<dyn ConnectorFactory>] {
        &self.connectors
    }
}
