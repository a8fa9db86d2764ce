//! A stream between a sender and a receiver, a directory, and helpers to look at both.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use skyhaul_files::{
    CHUNK_BYTES, Code, Destination, Event, PART_SUFFIX, ReceiveError, ReceiveOptions, SendError,
    SessionReport, Source, receive, send, silent,
};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};

pub(crate) const CHUNK: usize = CHUNK_BYTES;

/// Says that a test was skipped: aloud, past the test harness, which hides what a passing test prints.
pub(crate) fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_string();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Bytes that look random and depend on `seed`.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

pub(crate) fn memory(name: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Source {
    Source::from_bytes(name, content.into()).unwrap()
}

/// A directory to receive into.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn destination(&self) -> Destination {
        Destination::open(self.0.path()).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names in it, unfinished files too.
    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        use std::os::unix::ffi::OsStringExt as _;
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_vec()).collect();
        names.sort();
        names
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// How many files of it this process has open, those without a name too.
    pub(crate) fn open_files(&self) -> usize {
        let inside = self.0.path().join("");
        let open =
            fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        open.filter(|path| path.starts_with(&inside) && *path != self.0.path()).count()
    }

    pub(crate) fn has_unfinished(&self) -> bool {
        self.names().iter().any(|name| name.ends_with(PART_SUFFIX.as_bytes()))
    }
}

/// The four ends of a stream: what the sender reads and writes, what the receiver reads and writes.
pub(crate) struct Ends {
    pub(crate) sender: (DuplexStream, DuplexStream),
    pub(crate) receiver: (DuplexStream, DuplexStream),
}

pub(crate) fn ends(capacity: usize) -> Ends {
    let (sender_out, receiver_in) = duplex(capacity);
    let (receiver_out, sender_in) = duplex(capacity);
    Ends { sender: (sender_in, sender_out), receiver: (receiver_in, receiver_out) }
}

pub(crate) type Sent = Result<SessionReport, SendError>;
pub(crate) type Received = Result<SessionReport, ReceiveError>;

/// Runs both sides over the given streams. Each side's streams are dropped when it returns.
pub(crate) async fn run(
    sources: Vec<Source>,
    sender: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    receiver: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    folder: &Folder,
    options: &ReceiveOptions,
) -> (Sent, Received) {
    let destination = folder.destination();
    tokio::join!(
        send(sender.0, sender.1, sources, silent),
        receive(receiver.0, receiver.1, &destination, options, silent)
    )
}

/// Runs both sides over a sound stream.
pub(crate) async fn transfer(
    sources: Vec<Source>,
    folder: &Folder,
    options: &ReceiveOptions,
) -> (SessionReport, SessionReport) {
    let ends = ends(64 * 1024);
    let (sent, received) = run(sources, ends.sender, ends.receiver, folder, options).await;
    (sent.unwrap(), received.unwrap())
}

/// Runs both sides, with observers.
pub(crate) async fn watched(
    sources: Vec<Source>,
    capacity: usize,
    folder: &Folder,
    at_sender: impl FnMut(&Event<'_>),
    at_receiver: impl FnMut(&Event<'_>),
) -> (SessionReport, SessionReport) {
    let (ends, destination) = (ends(capacity), folder.destination());
    let options = ReceiveOptions::default();
    let (sent, received) = tokio::join!(
        send(ends.sender.0, ends.sender.1, sources, at_sender),
        receive(ends.receiver.0, ends.receiver.1, &destination, &options, at_receiver)
    );
    (sent.unwrap(), received.unwrap())
}

/// Feeds the receiver with `octets` and the end of the stream; also gives what it answered.
pub(crate) async fn feed(octets: &[u8], folder: &Folder) -> (Received, Vec<u8>) {
    let mut answer = Vec::new();
    let options = ReceiveOptions::default();
    let received = receive(octets, &mut answer, &folder.destination(), &options, silent).await;
    (received, answer)
}

/// The code of each file's failure; `None` for delivered ones.
pub(crate) fn codes(report: &SessionReport) -> Vec<Option<Code>> {
    report.files.iter().map(|file| file.failure().map(|failure| failure.reason.code)).collect()
}

pub(crate) fn digests(report: &SessionReport) -> BTreeMap<String, String> {
    let digest = |file: &skyhaul_files::FileReport| file.digest().map_or(String::new(), |d| d.to_string());
    report.files.iter().map(|file| (file.name.to_string(), digest(file))).collect()
}

pub(crate) fn b3sum(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
