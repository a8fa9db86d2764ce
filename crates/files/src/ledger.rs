//! The receiver's books: which files there are, what became of them, and who is told.

use std::collections::BTreeMap;

use crate::codec::{SessionOpening, Version};
use crate::names::{FileName, RawName};
use crate::observe::Event;
use crate::reason::{Code, Reason};
use crate::report::{FileOutcome, FileReport, SessionReport, Side};

/// Results of the announced files.
pub(crate) struct Ledger<O> {
    observer: O,
    announced: SessionOpening,
    moved: u64,
    report: SessionReport,
    settled: u32,
    /// Names that files of this transfer have or are about to get, and the files.
    taken: BTreeMap<FileName, u32>,
}

impl<O: FnMut(&Event<'_>)> Ledger<O> {
    pub(crate) fn new(announced: SessionOpening, mut observer: O) -> Self {
        observer(&Event::Started { files: announced.files, bytes: announced.bytes });
        let (report, taken) = (SessionReport::default(), BTreeMap::new());
        Self { observer, announced, moved: 0, report, settled: 0, taken }
    }

    /// Version that the sender speaks.
    pub(crate) fn version(&self) -> Version {
        self.announced.version
    }

    /// The number of the next file, if there is one.
    pub(crate) fn next(&self) -> Option<u32> {
        let begun = self.report.files.len() as u32;
        (begun < self.announced.files).then_some(begun)
    }

    /// True if every announced file has its result.
    pub(crate) fn all_settled(&self) -> bool {
        self.settled == self.announced.files
    }

    /// Enters the next file.
    pub(crate) fn begin(&mut self, file: u32, name: &RawName, bytes: u64) {
        (self.observer)(&Event::File { file, name, bytes });
        self.report.files.push(FileReport::unfinished(name.clone(), bytes, Side::Receiver));
    }

    /// Gives a name to a file, unless another file of this transfer has it.
    pub(crate) fn claim(&mut self, file: u32, name: &FileName) -> Result<(), Reason> {
        if self.taken.contains_key(name) {
            return Err(Reason::new(
                Code::Exists,
                "another file of this transfer has the same name; rename one",
            ));
        }
        self.taken.insert(name.clone(), file);
        Ok(())
    }

    /// Payload was read.
    pub(crate) fn moved(&mut self, bytes: usize) {
        self.moved += bytes as u64;
        (self.observer)(&Event::Moved { bytes: self.moved, total: self.announced.bytes });
    }

    /// Payload was damaged and must come again.
    pub(crate) fn take_back(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_sub(bytes as u64);
    }

    /// All data of a file is there.
    pub(crate) fn arrived(&mut self, file: u32) {
        (self.observer)(&Event::Arrived { file });
    }

    /// A file has ended, and nothing of it is missing.
    pub(crate) fn whole(&mut self, file: u32) {
        (self.observer)(&Event::Whole { file });
    }

    /// Chunks of a file are asked for again.
    pub(crate) fn again(&mut self, file: u32, chunks: u32) {
        (self.observer)(&Event::Again { file, chunks });
        self.report.files[file as usize].chunks_again += chunks;
    }

    /// The result of a file is known. A failed file's name is free again.
    pub(crate) fn settle(&mut self, file: u32, outcome: FileOutcome) {
        if matches!(outcome, FileOutcome::Failed(_)) {
            self.release(file);
            let bytes = self.report.files[file as usize].bytes;
            self.announced.bytes = self.announced.bytes.saturating_sub(bytes);
            self.moved = self.moved.min(self.announced.bytes);
        }
        let report = &mut self.report.files[file as usize];
        report.settle(outcome);
        self.settled += 1;
        (self.observer)(&Event::Settled { file, report });
    }

    fn release(&mut self, file: u32) {
        let name = FileName::try_from(self.report.files[file as usize].name.clone());
        if let Ok(name) = name
            && self.taken.get(&name) == Some(&file)
        {
            self.taken.remove(&name);
        }
    }

    pub(crate) fn into_report(self) -> SessionReport {
        self.report
    }
}
