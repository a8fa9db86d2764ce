//! Errors as the user sees them: what was wrong, where, and what to do.

use std::fmt;
use std::io::ErrorKind;
use std::process::ExitCode;

use skyhaul_files::{DestinationError, SourceError};
use skyhaul_lab::LoadError;
use skyhaul_lab::map::MapError;
use skyhaul_lab::papers::PaperError;
use skyhaul_lab::race::RaceError;
use skyhaul_lab::scoreboard::BoardError;
use skyhaul_lab::sweep::ResultsError;
use skyhaul_report::ReportError;
use skyhaul_scenario::ScenarioError;
use skyhaul_sim::sweep::SweepError;
use skyhaul_store::StoreError;

use crate::errors::{ErrorCode, ErrorResult, of_source};

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    /// True if a result object on standard output has it already.
    is_in_result: bool,
}

impl Failure {
    /// Something went wrong while working: exit code 1.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorCode::Other, message)
    }

    /// The command makes no sense as given: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::of(ErrorCode::Usage, message)
    }

    /// Failure of this kind.
    pub(crate) fn of(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_in_result: false }
    }

    /// This one, of which a result object tells.
    pub(crate) fn in_result(self) -> Self {
        Self { is_in_result: true, ..self }
    }

    /// This one, with more to say.
    pub(crate) fn and(self, more: &str) -> Self {
        Self { message: format!("{}; {more}", self.message), ..self }
    }

    /// True if a result object tells of it.
    pub(crate) fn is_in_result(&self) -> bool {
        self.is_in_result
    }

    /// The error for programs.
    pub(crate) fn result(&self) -> ErrorResult {
        ErrorResult::new(self.code, &self.message)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code.exit_code())
    }
}

/// Failures that are told as they are: exit code 1.
macro_rules! told {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        })*
    };
}

told!(SweepError, ReportError, ResultsError);

/// A changed key that makes no sense is wrong usage.
impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        let message = error.to_string();
        if error.place.starts_with("--set ") { Self::usage(message) } else { Self::new(message) }
    }
}

/// A name that is not known is wrong usage, as that of a link or a racer is; a file that is not there is not.
impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Scenario(error) => error.into(),
            error @ LoadError::Unknown { .. } => Self::usage(error.to_string()),
            error @ (LoadError::Read { .. } | LoadError::Missing { .. }) => Self::new(error.to_string()),
        }
    }
}

/// Adds which option would do.
impl From<RaceError> for Failure {
    fn from(error: RaceError) -> Self {
        match error {
            RaceError::NothingToSend => Self::usage(format!("--size 0: {error}")),
            RaceError::NoSize { .. } => Self::usage(format!("{error}: say how much is sent by --size")),
            RaceError::NoRate => Self::usage(format!("{error}: add --rate")),
            error @ RaceError::NotInRealTime(_) => {
                Self::usage(format!("{error}. In virtual time it can: --simulated"))
            }
            RaceError::Emulation(error) => {
                Self::new(format!("{error}. A race in virtual time needs nothing of that: --simulated"))
            }
            error => Self::new(error.to_string()),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let advice = match &error {
            SourceError::NotAFile { kind: "directory", .. } => {
                "; pack it: tar c FOLDER | skyhaul send - NAME --name FOLDER.tar"
            }
            _ => "",
        };
        Self::of(of_source(&error), format!("{error}{advice}"))
    }
}

impl From<DestinationError> for Failure {
    fn from(error: DestinationError) -> Self {
        let advice = match &error {
            DestinationError::Open { source, .. } if source.kind() == ErrorKind::NotFound => {
                "; make it first, or name another by --dir"
            }
            _ => "",
        };
        Self::of(ErrorCode::DestinationUnusable, format!("{error}{advice}"))
    }
}

/// What depends on what this machine knows is no wrong usage.
impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::UnknownPeer { .. } | StoreError::NobodyAt { .. } | StoreError::SeveralAt { .. } => {
                ErrorCode::PeerUnknown
            }
            StoreError::NameTaken(_)
            | StoreError::KeyTaken(_)
            | StoreError::OwnKey
            | StoreError::OwnName(_) => ErrorCode::PeerKnown,
            _ => ErrorCode::KeysUnusable,
        };
        Self::of(code, error.to_string())
    }
}

impl From<BoardError> for Failure {
    fn from(error: BoardError) -> Self {
        match error {
            BoardError::Unpack { .. } => Self::new(format!(
                "{error}. the scenarios need a folder for the time of this command; TMPDIR names another place"
            )),
            BoardError::Load(error) => error.into(),
            BoardError::Race(error) => error.into(),
        }
    }
}

impl From<MapError> for Failure {
    fn from(error: MapError) -> Self {
        let message = error.to_string();
        if matches!(error, MapError::NoCell { .. }) { Self::usage(message) } else { Self::new(message) }
    }
}

impl From<PaperError> for Failure {
    fn from(error: PaperError) -> Self {
        let message = match &error {
            PaperError::Race(RaceError::Emulation(error)) => {
                format!("{error}. In virtual time the paper needs nothing of that: leave --real out")
            }
            error => error.to_string(),
        };
        if matches!(error, PaperError::UnknownItem { .. } | PaperError::NotInRealTime(_)) {
            Self::usage(message)
        } else {
            Self::new(message)
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_race_in_real_time_is_told_of_virtual_time() {
        let failure = Failure::from(RaceError::NotInRealTime("simple"));
        let text = failure.to_string();
        assert!(
            failure.code == ErrorCode::Usage && text.starts_with("simple cannot race in real time: "),
            "{text}"
        );
        assert!(text.ends_with(": --simulated"), "{text}");
    }
}
