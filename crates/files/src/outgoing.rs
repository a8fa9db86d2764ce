//! The sender's side of the protocol: replies in, records out. Writes no stream.

use std::collections::VecDeque;

use crate::codec::{ChunkRange, Record, Reply, SessionOpening, Version, receipt};
use crate::errors::{Fault, Violation};
use crate::fetching::Fetching;
use crate::frames::Frame;
use crate::limits::MAX_FILES;
use crate::observe::Event;
use crate::outbox::Outbox;
use crate::reason::{Code, Reason};
use crate::report::{Failure, FileOutcome, SessionReport, Side};
use crate::sending::{Sending, Step};
use crate::source::{Reading, Source, SourceError};

/// Small records are gathered up to this size; a chunk may follow them.
const GATHER_BYTES: usize = 64 * 1024;

/// Records for a receiver, made of files.
pub(crate) struct Outgoing<O> {
    observer: O,
    version: Version,
    files: Vec<Sending>,
    /// How many files were begun.
    begun: usize,
    /// How many files have their results.
    settled: usize,
    /// Files whose chunks the receiver wants again, in the order of asking.
    repairs: VecDeque<u32>,
    total: u64,
    /// The outbox has an ABORT that the receiver does not know the reason of.
    owes: bool,
    /// The observer was told that files are waited for.
    is_reading: bool,
    pub(crate) fetching: Fetching,
    pub(crate) out: Outbox,
}

impl<O: FnMut(&Event<'_>)> Outgoing<O> {
    pub(crate) fn new(sources: Vec<Source>, version: Version, observer: O) -> Self {
        let total = sources.iter().map(Source::size).fold(0, u64::saturating_add);
        let files: Vec<_> = (0..).zip(sources).map(|(file, source)| Sending::new(file, source)).collect();
        Self {
            observer,
            version,
            files,
            begun: 0,
            settled: 0,
            repairs: VecDeque::new(),
            total,
            owes: false,
            is_reading: false,
            fetching: Fetching::default(),
            out: Outbox::default(),
        }
    }

    /// Puts the opening first.
    pub(crate) fn open(&mut self) -> Result<(), Fault> {
        if self.files.len() > MAX_FILES {
            return Err(Fault::TooManyFiles(self.files.len()));
        }
        let opening =
            SessionOpening { version: self.version, files: self.files.len() as u32, bytes: self.total };
        (self.observer)(&Event::Started { files: opening.files, bytes: opening.bytes });
        self.out.put(&opening.encode());
        Ok(())
    }

    pub(crate) fn all_settled(&self) -> bool {
        self.settled == self.files.len()
    }

    /// True if this side gave a file up: its result was known before the receiver had said anything of it.
    pub(crate) fn has_aborted(&self) -> bool {
        self.files.iter().any(Sending::was_aborted)
    }

    pub(crate) fn into_report(self) -> SessionReport {
        SessionReport { files: self.files.into_iter().map(Sending::into_report).collect() }
    }

    /// Puts the next records, if all earlier ones are written.
    pub(crate) fn fill(&mut self) {
        let mut step = None;
        if self.out.is_empty() && !self.all_settled() {
            self.owes = false;
            self.tell_reading(true);
            while self.out.len() < GATHER_BYTES {
                step = self.put_more();
                if step.is_none_or(|step| step == Step::Waits) {
                    break;
                }
            }
        }
        self.tell_reading(self.out.is_empty() && step == Some(Step::Waits));
    }

    fn tell_reading(&mut self, reads: bool) {
        if reads != self.is_reading {
            self.is_reading = reads;
            (self.observer)(if reads { &Event::Reading } else { &Event::Read });
        }
    }

    /// Tells how much was written.
    pub(crate) fn written(&mut self) {
        (self.observer)(&Event::Moved { bytes: self.out.moved(), total: self.total });
    }

    /// Puts more into the outbox, if there is anything. Repairs go before new data: the receiver holds
    /// unfinished files for them.
    fn put_more(&mut self) -> Option<Step> {
        self.repair().or_else(|| self.stream()).or_else(|| self.begin().then_some(Step::Put))
    }

    fn repair(&mut self) -> Option<Step> {
        let file = *self.repairs.front()?;
        let step = self.advance(file as usize);
        if step == Step::Ended {
            self.repairs.pop_front();
        }
        Some(step)
    }

    fn stream(&mut self) -> Option<Step> {
        let last = self.begun.checked_sub(1)?;
        self.files[last].is_streaming().then(|| self.advance(last))
    }

    /// Puts one more record of a file.
    fn advance(&mut self, file: usize) -> Step {
        match self.files[file].advance(self.version, &mut self.fetching, &mut self.out) {
            Ok(step) => step,
            Err(reason) => {
                self.abort(file, Side::Sender, reason);
                Step::Ended
            }
        }
    }

    /// Begins a file, if the window has room, and if it can be opened beside those that are open.
    fn begin(&mut self) -> bool {
        let file = self.begun;
        if file == self.files.len() || file - self.settled >= self.version.window_files() {
            return false;
        }
        let opened = self.open_file(file);
        if self.settled < file && opened.as_ref().is_err_and(SourceError::is_crowded) {
            // Each file that settles is closed; then this one is tried again.
            return false;
        }
        self.begun += 1;
        let sending = &mut self.files[file];
        let before = sending.report().bytes;
        let begun = sending.begin(opened, self.version, &mut self.out);
        let (name, bytes) = (&sending.report().name, sending.report().bytes);
        self.total = self.total.saturating_sub(before).saturating_add(bytes);
        (self.observer)(&Event::File { file: file as u32, name, bytes });
        if let Err(reason) = begun {
            self.abort(file, Side::Sender, reason);
        }
        true
    }

    /// Opens a file. Where too many are open, those of which everything was sent are closed: their results
    /// take a round trip and more.
    fn open_file(&mut self, file: usize) -> Result<Reading, SourceError> {
        let opened = self.files[file].open();
        if !opened.as_ref().is_err_and(SourceError::is_crowded) {
            return opened;
        }
        let closed = self.files[..file].iter_mut().filter_map(|sent| sent.close_sent().then_some(())).count();
        if closed > 0 { self.files[file].open() } else { opened }
    }

    /// Gives up a file of which the receiver expects more. A chunk of one that the receiver gave up ends
    /// early, where the version has that.
    fn abort(&mut self, file: usize, side: Side, reason: Reason) {
        if side == Side::Receiver {
            self.total = self.total.saturating_sub(self.out.cut(file as u32));
        }
        let said = match side {
            Side::Sender => reason.clone(),
            Side::Receiver => Reason::new(Code::Refused, "stopped, since the receiver gave it up"),
        };
        self.owes |= side == Side::Sender;
        self.out.put(&Record::Abort { reason: said }.encode(file as u32));
        self.repairs.retain(|repair| *repair as usize != file);
        self.total = self.total.saturating_sub(self.files[file].unsent_bytes());
        self.settle(file, FileOutcome::Failed(Failure { side, reason }));
    }

    /// Drops what waits when every result is known, the rest of a chunk that the receiver did not want: it
    /// would take a thin link long. An ABORT that this side decided on is waited for.
    fn drop_rest(&mut self) {
        if self.all_settled() && !self.owes {
            self.total = self.total.saturating_sub(self.out.discard());
        }
    }

    fn settle(&mut self, file: usize, outcome: FileOutcome) {
        self.settled += 1;
        self.files[file].settle(outcome);
        (self.observer)(&Event::Settled { file: file as u32, report: self.files[file].report() });
    }

    /// A reply was read.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) -> Result<(), Fault> {
        let file = frame.head.file as usize;
        match Reply::decode(&frame.head, frame.body)? {
            Reply::Delivered { count, receipt } => self.delivered(file, count as usize, receipt)?,
            Reply::Failed { reason } => self.failed(file, reason)?,
            Reply::Again { ranges } => self.again(file, &ranges)?,
            Reply::Stop { reason } => return Err(Fault::Stopped(reason)),
        }
        self.drop_rest();
        Ok(())
    }

    fn delivered(&mut self, first: usize, count: usize, stated: [u8; 16]) -> Result<(), Violation> {
        let wrong = Violation::Order { what: "a receipt", file: first as u32 };
        let files = first.checked_add(count).and_then(|end| self.files.get(first..end)).ok_or(wrong)?;
        let digests = files.iter().map(Sending::deliverable).collect::<Option<Vec<_>>>().ok_or(wrong)?;
        if digests.is_empty() || receipt(&digests) != stated {
            return Err(wrong);
        }
        for (file, digest) in (first..).zip(digests) {
            self.settle(file, FileOutcome::Delivered { digest });
        }
        Ok(())
    }

    fn failed(&mut self, file: usize, reason: Reason) -> Result<(), Violation> {
        match self.files.get(file) {
            Some(sending) if sending.is_open() => self.abort(file, Side::Receiver, reason),
            Some(sending) if sending.is_unsettled() => {
                self.settle(file, FileOutcome::Failed(Failure { side: Side::Receiver, reason }));
            }
            // Both sides gave it up at the same time.
            Some(sending) if sending.was_aborted() => {}
            _ => return Err(Violation::Order { what: "a failure", file: file as u32 }),
        }
        Ok(())
    }

    fn again(&mut self, file: usize, ranges: &[ChunkRange]) -> Result<(), Violation> {
        let unknown = Violation::Order { what: "a request for chunks", file: file as u32 };
        let (chunks, bytes) = self.files.get_mut(file).ok_or(unknown)?.again(ranges)?;
        self.out.take_back(bytes);
        self.repairs.push_back(file as u32);
        (self.observer)(&Event::Again { file: file as u32, chunks });
        Ok(())
    }
}
