//! Facts about a session beside its figures: the other end, when, and where its files are.

use std::net::SocketAddr;
use std::path::Path;

use serde::Serialize;

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
    pub(crate) fn of_session(self, peer: SocketAddr, known: &KnownFiles, folder: Option<&Path>) -> Self {
        let files = self.files.of_session(known, folder);
        let dir = folder.map(|folder| folder.to_string_lossy().into_owned());
        let (peer, started_at) = (peer.to_string(), known.begun_at());
        let session = SessionFacts { peer, dir, started_at, ended_at: WallTime::now() };
        Self { files, session: Some(session), ..self }
    }
}
