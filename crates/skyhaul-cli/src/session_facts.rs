//! Facts about a session beside its figures: the other end, when, and where its files are.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use serde::Serialize;
use skyhaul_files::SessionReport;

use crate::known::KnownFiles;
use crate::result::TransferResult;
use crate::wall_time::WallTime;

/// Part of the result object of `send` and `receive`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionFacts {
    /// Address of the other end.
    pub(crate) peer: String,
    /// Folder that the files went to, at the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dir: Option<String>,
    /// First write of the sender, or the first bytes read at the receiver; null if that did not happen.
    pub(crate) started_at: Option<WallTime>,
    pub(crate) ended_at: WallTime,
}

impl TransferResult {
    /// Adds who was at the other end, and when; at a receiver (with a folder) for each file where it is.
    pub(crate) fn of_session(
        mut self,
        peer: SocketAddr,
        known: &KnownFiles,
        report: &SessionReport,
        folder: Option<&Path>,
    ) -> Self {
        for (i, (file, told)) in report.files.iter().zip(&mut self.files).enumerate() {
            told.settled_at = known.settled_at(i);
            let name = OsStr::from_bytes(file.name.as_bytes());
            let stored = folder.filter(|_| file.digest().is_some()).map(|folder| folder.join(name));
            told.path = stored.map(|path| path.to_string_lossy().into_owned());
        }
        let dir = folder.map(|folder| folder.to_string_lossy().into_owned());
        let (peer, started_at) = (peer.to_string(), known.begun_at());
        Self { session: Some(SessionFacts { peer, dir, started_at, ended_at: WallTime::now() }), ..self }
    }
}
