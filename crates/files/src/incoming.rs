//! The receiver's side of the protocol: records in; files and replies out. Reads no stream.

use std::collections::BTreeMap;

use crate::arriving::{Arriving, Ending, Trouble};
use crate::codec::{ChunkRange, Record, SessionOpening, Version};
use crate::destination::Destination;
use crate::digest::Digest;
use crate::errors::{Fault, Violation};
use crate::finisher::{Complete, Finished, Finisher};
use crate::frames::Frame;
use crate::ledger::Ledger;
use crate::limits::MAX_FILE_BYTES;
use crate::names::{FileName, RawName};
use crate::observe::Event;
use crate::part::{PartFile, Traits};
use crate::reason::{Code, Reason};
use crate::replies::Replies;
use crate::report::{Failure, FileOutcome, SessionReport, Side};
use crate::storing::{Stored, Storing};

/// A file of which more records may come.
enum Open {
    Arriving(Box<Arriving>),
    /// Given up here; the sender has not noticed yet.
    Discarded,
}

/// Permissions of a receiver.
#[derive(Clone, Debug, Default)]
pub struct ReceiveOptions {
    /// True if a file may take the place of an existing one. It is replaced in one step, when the new one
    /// is complete; two files of one transfer never replace each other.
    pub overwrite: bool,
    /// The largest file that is accepted, in bytes.
    pub max_bytes: Option<u64>,
    /// True if names may begin with a dot, and have control and bidirectional characters.
    pub any_name: bool,
    /// The most files of a session that are open at a time, at least [`MIN_OPEN_FILES`]; further ones wait,
    /// and the stream with them. `None`: as many as the flow rule allows.
    pub max_open_files: Option<usize>,
}

/// The least bound of open files: one that arrives, one that is repaired, and two that are brought to the
/// disk.
pub const MIN_OPEN_FILES: usize = 4;

impl ReceiveOptions {
    fn open_files(&self) -> usize {
        self.max_open_files.unwrap_or(usize::MAX).max(MIN_OPEN_FILES)
    }

    /// The most files that may wait for repairs at a time. They end when their sender likes, so they must not
    /// be all that may be open.
    fn repaired_files(&self) -> usize {
        self.open_files() / 2 - 1
    }
}

/// Records of a sender, applied to files.
pub(crate) struct Incoming<'a, O> {
    /// The one of the caller, or what was made in its place.
    destination: Destination,
    options: &'a ReceiveOptions,
    ledger: Ledger<O>,
    /// The file whose chunks come in order now.
    current: Option<u32>,
    open: BTreeMap<u32, Open>,
    /// Of those: arriving, and among them waiting for repairs.
    arriving: usize,
    repaired: usize,
    pub(crate) replies: Replies,
    pub(crate) storing: Storing,
    pub(crate) finisher: Finisher,
}

impl<'a, O: FnMut(&Event<'_>)> Incoming<'a, O> {
    pub(crate) fn new(
        opening: SessionOpening,
        destination: &Destination,
        options: &'a ReceiveOptions,
        observer: O,
    ) -> Self {
        Self {
            destination: destination.clone(),
            options,
            ledger: Ledger::new(opening, observer),
            current: None,
            open: BTreeMap::new(),
            arriving: 0,
            repaired: 0,
            replies: Replies::default(),
            storing: Storing::default(),
            finisher: Finisher::new(options.overwrite),
        }
    }

    /// True if the sender owes nothing: its stream may end.
    pub(crate) fn may_end(&self) -> bool {
        self.open.is_empty() && self.ledger.next().is_none()
    }

    /// True if every announced file has its result.
    pub(crate) fn all_settled(&self) -> bool {
        self.ledger.all_settled()
    }

    /// True if the next record can be taken, whatever it is: a file that begins finds a descriptor. If none
    /// is left, some are with the finisher, since those that wait for repairs are never all.
    pub(crate) fn has_room(&self) -> bool {
        let held = self.arriving + self.finisher.len();
        self.current.is_some() || self.finisher.len() == 0 || held < self.options.open_files()
    }

    pub(crate) fn into_report(self) -> SessionReport {
        self.ledger.into_report()
    }

    /// Some data of a chunk was read.
    pub(crate) fn data(&mut self, file: u32, bytes: usize) {
        if matches!(self.open.get(&file), Some(Open::Arriving(_))) {
            self.ledger.moved(bytes);
        }
    }

    /// A record was read. Not to be called while a chunk is stored.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) -> Result<(), Fault> {
        let file = frame.head.file;
        match Record::decode(&frame.head, frame.body)? {
            Record::File { modified: Some(_), .. } if self.ledger.version() == Version::One => {
                Err(Violation::Field("the flags of a file").into())
            }
            Record::File { size, executable, modified, name } => {
                self.begin(file, size, Traits { executable, modified }, &name)
            }
            Record::Chunk { .. } if frame.is_cut => self.cut(file),
            Record::Chunk { number, digest } => self.chunk(file, number, digest, frame.data),
            Record::End { digest } => self.end(file, digest),
            Record::Abort { reason } => self.abort(file, reason),
        }
    }

    fn begin(&mut self, file: u32, size: u64, traits: Traits, name: &RawName) -> Result<(), Fault> {
        if self.current.is_some() || self.ledger.next() != Some(file) {
            return Err(misplaced("a beginning", file));
        }
        if self.open.len() + self.finisher.len() >= self.ledger.version().window_files() {
            return Err(Violation::Window { file }.into());
        }
        self.ledger.begin(file, name, size);
        self.current = Some(file);
        match self.admit(file, size, traits, name) {
            Ok(part) => self.accept(file, size, part),
            Err(reason) => self.give_up(file, reason, true),
        }
        Ok(())
    }

    fn admit(&mut self, file: u32, size: u64, traits: Traits, name: &RawName) -> Result<PartFile, Reason> {
        let name = FileName::try_from(name.clone()).map_err(|e| Reason::new(Code::Name, e.to_string()))?;
        let most = self.options.max_bytes.unwrap_or(MAX_FILE_BYTES).min(MAX_FILE_BYTES);
        if size > most {
            let text = format!("the file has {size} bytes, the receiver accepts at most {most}");
            return Err(Reason::new(Code::TooLarge, text));
        }
        if !self.options.any_name {
            name.check_plain().map_err(|e| Reason::new(Code::Name, e.to_string()))?;
        }
        if self.destination.is_removed() || self.destination.is_covered() {
            self.destination = self.destination.made_anew()?;
        }
        self.ledger.claim(file, &name)?;
        self.destination.admit(&name, size, self.options.overwrite)?;
        PartFile::create(&self.destination, name, traits)
    }

    fn accept(&mut self, file: u32, size: u64, part: PartFile) {
        let arriving = Arriving::new(file, size, part);
        if arriving.has_all() {
            self.ledger.arrived(file);
        }
        self.put(file, Open::Arriving(Box::new(arriving)));
    }

    fn put(&mut self, file: u32, open: Open) {
        self.arriving += usize::from(matches!(open, Open::Arriving(_)));
        let before = self.open.insert(file, open);
        self.count_out(before.as_ref());
    }

    /// A file is not open any more.
    fn count_out(&mut self, open: Option<&Open>) {
        if let Some(Open::Arriving(arriving)) = open {
            self.arriving -= 1;
            self.repaired -= usize::from(arriving.rounds() > 0);
        }
    }

    fn chunk(&mut self, file: u32, number: u32, digest: Digest, data: &[u8]) -> Result<(), Fault> {
        let arriving = match self.open.get_mut(&file) {
            None => return Err(misplaced("a chunk", file)),
            Some(Open::Discarded) => return Ok(()),
            Some(Open::Arriving(arriving)) => arriving,
        };
        match arriving.judge(number, digest, data) {
            Err(trouble) => return self.trouble(file, trouble, true),
            Ok(true) => {
                if arriving.has_all() {
                    self.ledger.arrived(file);
                }
                self.storing.start(file, data, arriving.writer(number));
            }
            Ok(false) => self.ledger.take_back(data.len()),
        }
        Ok(())
    }

    /// A chunk ended early: its file was given up here.
    fn cut(&self, file: u32) -> Result<(), Fault> {
        match self.open.get(&file) {
            Some(Open::Discarded) => Ok(()),
            Some(Open::Arriving(_)) | None => Err(misplaced("a chunk that ends early", file)),
        }
    }

    /// A chunk was written, or could not be. No record of its file has been read meanwhile.
    pub(crate) fn stored(&mut self, (file, written): Stored) {
        if let Err(reason) = written {
            self.give_up(file, reason, true);
        }
    }

    fn end(&mut self, file: u32, digest: Digest) -> Result<(), Fault> {
        let arriving = match self.open.get_mut(&file) {
            None => return Err(misplaced("an end", file)),
            Some(Open::Discarded) => {
                self.close(file);
                return Ok(());
            }
            Some(Open::Arriving(arriving)) => arriving,
        };
        match arriving.end(digest) {
            Ok(Ending::Complete(digest)) => self.complete(file, digest),
            Ok(Ending::Again(ranges)) => {
                self.repaired += usize::from(arriving.rounds() == 1);
                self.ask_again(file, ranges);
            }
            Err(trouble) => return self.trouble(file, trouble, false),
        }
        Ok(())
    }

    fn complete(&mut self, file: u32, digest: Digest) {
        if let Some(Open::Arriving(arriving)) = self.close(file) {
            self.ledger.whole(file);
            self.finisher.push(Complete { file, digest, part: arriving.into_part() });
        }
    }

    fn ask_again(&mut self, file: u32, ranges: Vec<ChunkRange>) {
        let most = self.options.repaired_files();
        if self.repaired > most {
            let text =
                format!("{most} files wait for chunks that came damaged, as many as may; check the stream");
            return self.give_up(file, Reason::new(Code::Damaged, text), false);
        }
        self.leave(file);
        self.ledger.again(file, ranges.iter().map(|range| u32::from(range.count)).sum());
        self.replies.again(file, ranges);
    }

    fn abort(&mut self, file: u32, reason: Reason) -> Result<(), Fault> {
        match self.close(file) {
            None => return Err(misplaced("an abort", file)),
            Some(Open::Discarded) => {}
            Some(Open::Arriving(_)) => {
                self.settle(file, FileOutcome::Failed(Failure { side: Side::Sender, reason }));
            }
        }
        Ok(())
    }

    /// The finisher is through with some files.
    pub(crate) fn finished(&mut self, finished: Vec<Finished>) {
        for (file, result) in finished {
            match result {
                Err(reason) => self.give_up(file, reason, false),
                Ok(digest) => {
                    self.replies.delivered(file, digest);
                    self.settle(file, FileOutcome::Delivered { digest });
                }
            }
        }
    }

    fn trouble(&mut self, file: u32, trouble: Trouble, more_to_come: bool) -> Result<(), Fault> {
        match trouble {
            Trouble::Violation(violation) => return Err(violation.into()),
            Trouble::Failed(reason) => self.give_up(file, reason, more_to_come),
        }
        Ok(())
    }

    /// Fails a file and says so. If `more_to_come` of it, that will be ignored.
    fn give_up(&mut self, file: u32, reason: Reason, more_to_come: bool) {
        self.replies.failed(file, reason.clone());
        if more_to_come {
            self.put(file, Open::Discarded);
        } else {
            self.close(file);
        }
        self.settle(file, FileOutcome::Failed(Failure { side: Side::Receiver, reason }));
    }

    fn settle(&mut self, file: u32, outcome: FileOutcome) {
        self.ledger.settle(file, outcome);
        if self.all_settled() {
            self.replies.hurry();
        }
    }

    /// No more records of `file` may come.
    fn close(&mut self, file: u32) -> Option<Open> {
        self.leave(file);
        let open = self.open.remove(&file);
        self.count_out(open.as_ref());
        open
    }

    /// The next file may begin.
    fn leave(&mut self, file: u32) {
        self.current = self.current.filter(|current| *current != file);
    }
}

fn misplaced(what: &'static str, file: u32) -> Fault {
    Violation::Order { what, file }.into()
}
