//! The thread that writes a capture. Whoever has packets never waits for it, unless he wants to: what finds
//! no room is counted. If the file cannot be written, that is said once, and the rest goes nowhere.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::Record;
use crate::pcapng;

/// Records that may wait to be written.
pub const MAX_WAITING_RECORDS: usize = 8192;
/// Octets of packets and their events that may wait to be written.
pub const MAX_WAITING_BYTES: usize = 16 << 20;
/// Octets that are written by one system call, about.
const WRITE_BYTES: usize = 128 << 10;
/// Time that the end of a capture waits for a disk, or a reader of a pipe.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hears of the first failure to write, on the thread that writes.
type OnFailure = Box<dyn FnOnce(&io::Error, u64) + Send>;

enum Message {
    Record(Record),
    End,
}

#[derive(Debug, Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
    /// Records left out and not told of in the file yet.
    untold: AtomicU64,
    missed: AtomicU64,
    has_failed: AtomicBool,
}

/// Where records go in. Copies lead into one capture.
#[derive(Clone, Debug)]
pub struct Inlet {
    sender: SyncSender<Message>,
    shared: Arc<Shared>,
}

impl Inlet {
    /// Hands over a record without waiting. Where there is no room for it, it is counted and left out.
    pub fn offer(&self, record: Record) {
        if self.shared.has_failed.load(Ordering::Relaxed) {
            return;
        }
        let bytes = record.held_bytes();
        let before = self.shared.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let sent = if before > MAX_WAITING_BYTES {
            Err(TrySendError::Full(Message::Record(record)))
        } else {
            self.sender.try_send(Message::Record(record))
        };
        if let Err(error) = sent {
            self.shared.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            if matches!(error, TrySendError::Full(_)) {
                self.shared.missed.fetch_add(1, Ordering::Relaxed);
                self.shared.untold.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Hands over a record, and waits until there is room: for virtual time, which can.
    pub fn put(&self, record: Record) {
        if !self.shared.has_failed.load(Ordering::Relaxed) {
            self.shared.waiting_bytes.fetch_add(record.held_bytes(), Ordering::Relaxed);
            // It fails when the capture is over; there is nothing to be done then.
            let _ = self.sender.send(Message::Record(record));
        }
    }
}

/// Outcome of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Packets handed to the file.
    pub written: u64,
    /// Packets that found no room while the file could not keep up.
    pub missed: u64,
    /// True if the file takes nothing for so long that its end is missing.
    pub is_stalled: bool,
}

/// A capture that is being written. Dropping it ends it.
#[derive(Debug)]
pub struct Recorder {
    inlet: Inlet,
    done: Receiver<u64>,
    has_ended: bool,
}

impl Recorder {
    /// Begins a capture in `file`, of interfaces with these names. `remark` is the comment of the whole.
    /// `on_failure` hears of the first error of `file`, and of the packets that are in it; nothing is written
    /// after that, and what was written is cut to whole blocks where the file can be.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(
        file: File,
        remark: &str,
        interfaces: &[String],
        on_failure: impl FnOnce(&io::Error, u64) + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(MAX_WAITING_RECORDS);
        let (told, done) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let mut pending = Vec::new();
        pcapng::section(remark, &mut pending);
        for name in interfaces {
            pcapng::interface(name, &mut pending);
        }
        let mut writer = Writer {
            file,
            pending,
            good_bytes: 0,
            written: vec![0; interfaces.len()],
            in_file: 0,
            last_ns: 0,
            shared: Arc::clone(&shared),
            on_failure: Some(Box::new(on_failure)),
        };
        thread::Builder::new().name("capture".into()).spawn(move || {
            writer.run(&receiver);
            let _ = told.send(writer.in_file);
        })?;
        Ok(Self { inlet: Inlet { sender, shared }, done, has_ended: false })
    }

    /// Where its records go in.
    pub fn inlet(&self) -> Inlet {
        self.inlet.clone()
    }

    /// Ends it: writes what waits, but no longer than 10 s.
    pub fn finish(mut self) -> Recorded {
        self.end()
    }

    fn end(&mut self) -> Recorded {
        self.has_ended = true;
        let shared = &self.inlet.shared;
        let sender = self.inlet.sender.clone();
        // There may be no room for the word, so it is a thread that waits for it.
        let _ = thread::Builder::new().spawn(move || sender.send(Message::End).is_ok());
        let written = self.done.recv_timeout(PATIENCE).ok();
        let missed = shared.missed.load(Ordering::Relaxed);
        Recorded { written: written.unwrap_or(0), missed, is_stalled: written.is_none() }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end();
        }
    }
}

/// State of the thread.
struct Writer {
    file: File,
    /// Whole blocks that are not written yet.
    pending: Vec<u8>,
    /// Octets of the file, in whole blocks.
    good_bytes: u64,
    /// Packets of each interface.
    written: Vec<u64>,
    /// Packets in the file.
    in_file: u64,
    last_ns: u64,
    shared: Arc<Shared>,
    on_failure: Option<OnFailure>,
}

impl Writer {
    fn run(&mut self, receiver: &Receiver<Message>) {
        self.flush();
        while let Ok(message) = receiver.recv() {
            let mut next = Some(message);
            while let Some(Message::Record(record)) = next {
                self.take(&record);
                next = receiver.try_recv().ok();
            }
            if matches!(next, Some(Message::End)) {
                break;
            }
            self.flush(); // a reader of a pipe sees it now
        }
        self.conclude();
    }

    fn take(&mut self, record: &Record) {
        self.shared.waiting_bytes.fetch_sub(record.held_bytes(), Ordering::Relaxed);
        if self.on_failure.is_none() {
            return;
        }
        let untold = self.shared.untold.swap(0, Ordering::Relaxed);
        pcapng::packet(record, untold, &mut self.pending);
        self.last_ns = self.last_ns.max(record.at_ns);
        if let Some(written) = self.written.get_mut(record.interface as usize) {
            *written += 1;
        }
        if self.pending.len() >= WRITE_BYTES {
            self.flush();
        }
    }

    fn conclude(&mut self) {
        let missed = self.shared.missed.load(Ordering::Relaxed);
        for (interface, &written) in (0..).zip(&self.written) {
            // What was left out is told once: nobody knows at which interface.
            let missed = if interface == 0 { missed } else { 0 };
            pcapng::statistics(interface, self.last_ns, written, missed, &mut self.pending);
        }
        self.flush();
    }

    fn flush(&mut self) {
        if self.on_failure.is_none() || self.pending.is_empty() {
            return;
        }
        match self.file.write_all(&self.pending) {
            Ok(()) => {
                self.good_bytes += self.pending.len() as u64;
                self.in_file = self.written.iter().sum();
            }
            Err(error) => self.fail(&error),
        }
        self.pending.clear();
    }

    fn fail(&mut self, error: &io::Error) {
        self.shared.has_failed.store(true, Ordering::Relaxed);
        // A pipe cannot be cut; its reader has what it has.
        let _ = self.file.set_len(self.good_bytes);
        if let Some(on_failure) = self.on_failure.take() {
            on_failure(error, self.in_file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;
    use bytes::Bytes;
    use std::sync::mpsc::channel;

    fn record(bytes: usize) -> Record {
        let (bytes, events) = (Bytes::from(vec![0x45; bytes]), Vec::new());
        Record { at_ns: 1, interface: 0, direction: Direction::Outbound, heads: None, bytes, events }
    }

    fn one_interface() -> [String; 1] {
        ["a".to_string()]
    }

    #[test]
    fn what_is_put_is_written_in_whole_blocks() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let file = File::create(path.path()).unwrap();
        let recorder = Recorder::start(file, "", &one_interface(), |_, _| panic!("it failed")).unwrap();
        (0..20_000).for_each(|_| recorder.inlet().put(record(1500)));
        assert_eq!(recorder.finish(), Recorded { written: 20_000, missed: 0, is_stalled: false });
        let octets = std::fs::read(path.path()).unwrap();
        let (mut at, mut kinds) = (0, Vec::new());
        while at < octets.len() {
            let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap());
            kinds.push(word(at));
            at += word(at + 4) as usize;
            assert_eq!(word(at - 4), word(at - word(at - 4) as usize + 4), "the length stands there twice");
        }
        assert_eq!((at, kinds.len()), (octets.len(), 20_003), "section, interface, packets, statistics");
    }

    #[test]
    fn a_full_disk_is_told_once_and_holds_nobody_up() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let (said, heard) = channel();
        let recorder = Recorder::start(file, "", &one_interface(), move |error, written| {
            said.send((error.kind(), written)).unwrap();
        })
        .unwrap();
        (0..1000).for_each(|_| recorder.inlet().put(record(1500)));
        assert_eq!(recorder.finish().written, 0);
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [(io::ErrorKind::StorageFull, 0)]);
    }

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let (reader, writer) = io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let recorder = Recorder::start(file, "", &one_interface(), |_, _| {}).unwrap();
        // Nobody reads: what the pipe, the buffer and the queue hold is all that has room.
        (0..30_000).for_each(|_| recorder.inlet().offer(record(1500)));
        let waiting = recorder.inlet.shared.waiting_bytes.load(Ordering::Relaxed);
        assert!(waiting <= MAX_WAITING_BYTES + 1500, "{waiting}");
        let reading = thread::spawn(move || {
            let mut octets = Vec::new();
            io::Read::read_to_end(&mut &reader, &mut octets).map(|_| octets)
        });
        let recorded = recorder.finish();
        assert!(recorded.missed > 10_000 && recorded.written + recorded.missed == 30_000, "{recorded:?}");
        reading.join().unwrap().unwrap();
    }
}
