//! The object `error` of a result.

use serde::Serialize;

use super::ErrorCode;
use crate::seen::seen;

/// An error for programs (docs/guide/json.md).
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ErrorResult {
    pub(crate) code: &'static str,
    /// Reason in words, as on standard error.
    pub(crate) message: String,
    /// Advice to whoever meets it.
    pub(crate) advice: &'static str,
    /// Exit code of the command.
    pub(crate) exit_code: u8,
}

/// An object with nothing but an error: of a command that had not begun.
#[derive(Serialize)]
struct ErrorAlone {
    error: ErrorResult,
}

impl ErrorResult {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let (advice, exit_code) = (code.advice(), code.exit_code());
        Self { code: code.name(), message: message.into(), advice, exit_code }
    }

    /// True if patience ended that `--give-up` sets.
    pub(crate) fn is_of_patience(&self) -> bool {
        [ErrorCode::NoAnswer, ErrorCode::GaveUp, ErrorCode::Stalled]
            .iter()
            .any(|code| code.name() == self.code)
    }

    /// One line of JSON with this error alone.
    pub(crate) fn alone(self) -> String {
        seen(&ErrorAlone { error: self })
    }
}
