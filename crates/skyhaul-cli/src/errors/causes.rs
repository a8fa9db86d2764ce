//! Codes of the libraries' errors.

use std::io;

use skyhaul_core::{CloseReason, ResetReason};
use skyhaul_files::{Code, Fault, FileReport, SessionReport, SourceError, Violation};

use super::ErrorCode;
use crate::advice::close_reason;

/// Code of what ended a session; `was_heard`: the other end had answered before.
pub(crate) fn of_fault(fault: &Fault, was_heard: bool) -> ErrorCode {
    match fault {
        Fault::Stream { .. } => {
            close_reason(fault).map_or(ErrorCode::StreamEnded, |r| of_close(r, was_heard))
        }
        Fault::Protocol(Violation::Version(_)) => ErrorCode::Version,
        Fault::Protocol(_) => ErrorCode::Protocol,
        Fault::Stopped(reason) => of_file(reason.code),
        Fault::TooManyFiles(_) => ErrorCode::TooManyFiles,
        _ => ErrorCode::StreamEnded,
    }
}

fn of_close(reason: CloseReason, was_heard: bool) -> ErrorCode {
    match reason {
        CloseReason::Reset(Some(ResetReason::Refused)) => ErrorCode::PeerAbsent,
        CloseReason::Unreachable if !was_heard => ErrorCode::PeerAbsent,
        CloseReason::Unreachable | CloseReason::Reset(Some(ResetReason::UnknownConnection)) => {
            ErrorCode::PeerGone
        }
        CloseReason::Reset(Some(ResetReason::Busy)) => ErrorCode::PeerBusy,
        CloseReason::Reset(Some(ResetReason::Protocol)) | CloseReason::FalseReport => ErrorCode::Protocol,
        CloseReason::Reset(_) => ErrorCode::PeerAborted,
        CloseReason::ConnectTimeout => ErrorCode::NoAnswer,
        CloseReason::Silence | CloseReason::Oversized => ErrorCode::GaveUp,
        // We did not: the socket or device under the connection failed.
        CloseReason::AbortedHere => ErrorCode::SocketFailed,
    }
}

/// Code of what failed a file, as it travels between the two ends.
pub(crate) fn of_file(code: Code) -> ErrorCode {
    match code {
        Code::Exists => ErrorCode::Exists,
        Code::Name => ErrorCode::Name,
        Code::TooLarge => ErrorCode::TooLarge,
        Code::NoSpace => ErrorCode::NoSpace,
        Code::Storage => ErrorCode::Storage,
        Code::Damaged | Code::Digest => ErrorCode::Damaged,
        Code::Changed => ErrorCode::SourceChanged,
        Code::Unreadable => ErrorCode::SourceUnreadable,
        Code::Refused => ErrorCode::Refused,
        Code::Protocol => ErrorCode::Protocol,
        Code::Version => ErrorCode::Version,
        Code::Interrupted => ErrorCode::Unfinished,
        Code::Busy => ErrorCode::PeerBusy,
        _ => ErrorCode::Other,
    }
}

/// Code of a session of which files failed: theirs, if it is one; `None` if none failed.
pub(crate) fn of_files(report: &SessionReport) -> Option<ErrorCode> {
    let mut codes =
        report.failed().filter_map(FileReport::failure).map(|failure| of_file(failure.reason.code));
    let first = codes.next()?;
    Some(if codes.all(|code| code == first) { first } else { ErrorCode::FilesFailed })
}

/// Code of a file that cannot be sent.
pub(crate) fn of_source(error: &SourceError) -> ErrorCode {
    match error {
        SourceError::Open { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            ErrorCode::SourceMissing
        }
        SourceError::Open { .. } => ErrorCode::SourceUnreadable,
        SourceError::NotAFile { .. } => ErrorCode::SourceNotAFile,
        SourceError::Name { .. } => ErrorCode::Name,
        SourceError::Stream { .. } => ErrorCode::StdinFailed,
        SourceError::TooLarge { .. } => ErrorCode::TooLarge,
        _ => ErrorCode::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_the_code_of_its_files_if_it_is_one() {
        use skyhaul_files::{Failure, FileOutcome, RawName, Reason, Side};
        let report = |codes: &[Code]| {
            let failed = |&code| FileReport {
                outcome: FileOutcome::Failed(Failure {
                    side: Side::Receiver,
                    reason: Reason::new(code, "no"),
                }),
                ..FileReport::unfinished(RawName::new("f"), 1, Side::Receiver)
            };
            SessionReport { files: codes.iter().map(failed).collect() }
        };
        assert_eq!(of_files(&report(&[])), None);
        assert_eq!(of_files(&report(&[Code::Exists, Code::Exists])), Some(ErrorCode::Exists));
        assert_eq!(of_files(&report(&[Code::Exists, Code::NoSpace])), Some(ErrorCode::FilesFailed));
    }

    #[test]
    fn the_end_of_a_connection_is_told_apart() {
        let of = |reason: CloseReason, was_heard| {
            of_fault(&Fault::Stream { doing: "sending", source: io::Error::other(reason) }, was_heard).name()
        };
        assert_eq!(of(CloseReason::Unreachable, false), "peer-absent");
        assert_eq!(of(CloseReason::Unreachable, true), "peer-gone");
        assert_eq!(of(CloseReason::Reset(Some(ResetReason::Refused)), true), "peer-absent");
        assert_eq!(of(CloseReason::Reset(Some(ResetReason::Busy)), true), "peer-busy");
        assert_eq!(of(CloseReason::ConnectTimeout, false), "no-answer");
        assert_eq!(of(CloseReason::Silence, true), "gave-up");
        assert_eq!(of_fault(&Fault::Protocol(Violation::Version(9)), true), ErrorCode::Version);
        assert_eq!(of_fault(&Fault::Protocol(Violation::Magic), true), ErrorCode::Protocol);
    }
}
