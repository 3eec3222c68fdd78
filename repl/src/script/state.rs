//! `tidemark state`: what jobs keep, and whether a changed script can go on from it.

use std::path::Path;

use tidemark::Session;
use tidemark::session::{ScriptJob, SessionError};
use tidemark::state;
use tidemark_state::checkpoint_error::CheckpointError;

use super::findings::with_causes;
use super::{Ending, Runner, Source};
use crate::args::StateCommand;

impl Runner {
    /// Does what was asked for.
    pub fn look_at_state(&mut self, command: &StateCommand) -> Result<(), Ending> {
        match command {
            StateCommand::Ls { dir } => {
                let listed = state::list(dir).map_err(|error| self.unreadable(&error))?;
                self.show_answer(listed)
            }
            StateCommand::Show { dir } => {
                let shown = state::show(dir).map_err(|error| self.unreadable(&error))?;
                self.show_answer(shown)
            }
            StateCommand::Diff { old, new } => {
                let (text, goes_on) = state::diff(&self.fingerprints(old)?, &self.fingerprints(new)?);
                self.show_text(&text)?;
                if goes_on { Ok(()) } else { Err(Ending::StateRefused) }
            }
        }
    }

    fn fingerprints(&mut self, path: &Path) -> Result<Vec<ScriptJob>, Ending> {
        let source = Source::read_file(path).map_err(|sentence| {
            self.console.error(&sentence);
            Ending::Failed
        })?;
        // Each script is a session of its own: the names of its jobs count from the beginning.
        Session::new().fingerprints(&source.text).map_err(|error| {
            match &error {
                SessionError::Sql { diagnostics, .. } => self.console.diagnose(diagnostics, &source),
                other => self.console.error(&with_causes(other)),
            }
            Ending::Failed
        })
    }

    fn unreadable(&mut self, error: &CheckpointError) -> Ending {
        self.console.error(&with_causes(error));
        match error {
            CheckpointError::NotFound(_) | CheckpointError::Fs(_) => Ending::Failed,
            _ => Ending::StateRefused,
        }
    }
}
