//! The connectors that every build has.

use std::sync::Arc;

use super::Connector;
use super::blackhole::BlackholeConnector;
use super::datagen::DatagenConnector;
use super::filesystem::FilesystemConnector;
use super::nexmark::NexmarkConnector;
use super::print::PrintConnector;
use super::stdin::StdinConnector;

/// All connectors that need nothing but the machine. Who embeds the engine adds its own, such as
/// [`MemoryConnector`](super::memory::MemoryConnector) over tables that it fills.
pub fn standard_connectors() -> Vec<Arc<dyn Connector>> {
    vec![
        Arc::new(FilesystemConnector::default()),
        Arc::new(StdinConnector::new()),
        Arc::new(PrintConnector::print()),
        Arc::new(PrintConnector::stdout()),
        Arc::new(BlackholeConnector),
        Arc::new(DatagenConnector),
        Arc::new(NexmarkConnector),
    ]
}
