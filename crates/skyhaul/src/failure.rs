//! Errors as the user sees them: what was wrong, where, and what to do.

use std::fmt;
use std::process::ExitCode;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    usage: bool,
}

impl Failure {
    /// Something went wrong while working: exit code 1.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), usage: false }
    }

    /// The command makes no sense as given: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), usage: true }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.usage { 2 } else { 1 })
    }
}

impl From<skyhaul_sim::sweep::SweepError> for Failure {
    fn from(error: skyhaul_sim::sweep::SweepError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<skyhaul_report::ReportError> for Failure {
    fn from(error: skyhaul_report::ReportError) -> Self {
        Self::new(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
