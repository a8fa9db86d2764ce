//! The files of a result. Each entry is made when somebody looks at it: whoever likes can have tens of
//! thousands of files refused, and made fit for a terminal a name takes five times as much.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use skyhaul_files::{FileReport, SessionReport};

use crate::errors::of_file;
use crate::file_lines::is_counted;
use crate::known::KnownFiles;
use crate::wall_time::WallTime;

/// One file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FileResult {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) digest: Option<String>,
    pub(crate) chunks_again: u32,
    /// Place of a delivered file at the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Time at which its result was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled_at: Option<WallTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_code: Option<&'static str>,
}

/// Files of a transfer, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileResults {
    /// Names and reasons are shared with whoever else knows them.
    reports: Vec<FileReport>,
    settled_at: Vec<Option<WallTime>>,
    /// Folder of the delivered ones, at a receiver.
    folder: Option<PathBuf>,
}

impl FileResults {
    pub(crate) fn new(report: &SessionReport) -> Self {
        Self { reports: report.files.clone(), ..Self::default() }
    }

    /// Adds when each result was known, and at a receiver where the files are.
    pub(crate) fn of_session(self, known: &KnownFiles, folder: Option<&Path>) -> Self {
        let settled_at = (0..self.reports.len()).map(|i| known.settled_at(i)).collect();
        Self { settled_at, folder: folder.map(Path::to_path_buf), ..self }
    }

    /// How many files an object leaves out: those that are only counted.
    pub(crate) fn left_out(&self) -> usize {
        self.reports.iter().filter(|report| is_counted(report)).count()
    }

    /// Files of these names that were delivered, or else failed.
    #[cfg(test)]
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        use skyhaul_files::{Code, Digest, Failure, FileOutcome, RawName, Reason, Side};
        let report = |(name, is_delivered): (&str, bool)| {
            let failure = Failure { side: Side::Receiver, reason: Reason::new(Code::NoSpace, "no") };
            let delivered = FileOutcome::Delivered { digest: Digest([0xd1; 32]) };
            let outcome = if is_delivered { delivered } else { FileOutcome::Failed(failure) };
            FileReport { outcome, ..FileReport::unfinished(RawName::new(name), 1_000, Side::Receiver) }
        };
        Self::new(&SessionReport { files: files.into_iter().map(report).collect() })
    }

    pub(crate) fn len(&self) -> usize {
        self.reports.len()
    }

    /// How many were delivered.
    pub(crate) fn delivered(&self) -> usize {
        self.reports.iter().filter(|report| report.digest().is_some()).count()
    }

    /// True if every one was delivered.
    pub(crate) fn are_all_there(&self) -> bool {
        self.delivered() == self.len()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = FileResult> {
        self.reports.iter().enumerate().map(|(i, report)| self.result(i, report))
    }

    /// Those that failed.
    pub(crate) fn failed(&self) -> impl Iterator<Item = FileResult> {
        let failed = self.reports.iter().enumerate().filter(|(_, report)| report.digest().is_none());
        failed.map(|(i, report)| self.result(i, report))
    }

    /// The only one, if there is one only.
    pub(crate) fn only(&self) -> Option<FileResult> {
        match &self.reports[..] {
            [report] => Some(self.result(0, report)),
            _ => None,
        }
    }

    fn result(&self, i: usize, report: &FileReport) -> FileResult {
        let folder = self.folder.as_ref().filter(|_| report.digest().is_some());
        let path = folder.map(|folder| folder.join(OsStr::from_bytes(report.name.as_bytes())));
        FileResult {
            name: report.name.to_string(),
            bytes: report.bytes,
            digest: report.digest().map(|digest| digest.to_string()),
            chunks_again: report.chunks_again,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            settled_at: self.settled_at.get(i).copied().flatten(),
            error: report.failure().map(ToString::to_string),
            error_code: report.failure().map(|failure| of_file(failure.reason.code).name()),
        }
    }

    /// Memory that the list takes: of the names, which no one else keeps when the session has ended, too.
    pub(crate) fn held_bytes(&self) -> usize {
        let entry_bytes = size_of::<FileReport>() + size_of::<Option<WallTime>>();
        self.reports.iter().map(|report| entry_bytes + report.name.as_bytes().len()).sum()
    }
}

impl Serialize for FileResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.reports.iter().enumerate().filter(|(_, report)| !is_counted(report));
        serializer.collect_seq(listed.map(|(i, report)| self.result(i, report)))
    }
}
