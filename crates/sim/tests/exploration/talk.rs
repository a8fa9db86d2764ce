//! The application at one end: what it writes and reads, and when it finishes.

use skyhaul_core::{CloseReason, StreamEvent};
use skyhaul_sim::{ConnectionKey, Engines};

/// Largest payload, so that a few packets are a few hundred bytes.
pub(crate) const PACKET_BYTES: usize = 300;

/// Plan of a talk: who says what, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The opener says everything with its opening; the acceptor answers when it has all of it.
    Question,
    /// Both write as soon as they can and finish when they have written.
    Crossing,
    /// The opener waits for the acceptor's greeting, and finishes first.
    Greeting,
    /// TCP: both open, from the ports where they listen; what they write crosses, too.
    Meeting,
}

impl Plan {
    /// Those of either protocol.
    pub(crate) const ALL: [Self; 3] = [Self::Question, Self::Crossing, Self::Greeting];

    /// Text that an end writes.
    fn text(self, is_opener: bool) -> Vec<u8> {
        let packets = match (self, is_opener) {
            (Self::Question, true) => 3,
            (Self::Crossing | Self::Meeting, _) => 2,
            (Self::Question, false) | (Self::Greeting, _) => 1,
        };
        let first = if is_opener { 1 } else { 101 };
        (0..packets).flat_map(|i| vec![first + i; PACKET_BYTES - 7]).collect()
    }

    /// STP: whether the BGN waits for data.
    pub(crate) fn is_held(self) -> bool {
        self == Self::Question
    }
}

/// One end's application.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    plan: Plan,
    is_opener: bool,
    pub(crate) id: Option<ConnectionKey>,
    pub(crate) has_finished: bool,
    read: Vec<u8>,
    ended: bool,
    finished_told: u32,
    #[expect(clippy::option_option, reason = "whether it closed, and the reason of a bad end")]
    closed: Option<Option<CloseReason>>,
}

impl Talk {
    pub(crate) fn new(plan: Plan, is_opener: bool) -> Self {
        Self {
            plan,
            is_opener,
            id: None,
            has_finished: false,
            read: Vec::new(),
            ended: false,
            finished_told: 0,
            closed: None,
        }
    }

    /// Does what there is to do; true if it did anything.
    pub(crate) fn work(&mut self, engines: &mut Engines) {
        while let Some(id) = engines.accept() {
            assert!(self.id.replace(id).is_none(), "a second connection was accepted");
        }
        while let Some((_, event)) = engines.poll_event() {
            match event {
                StreamEvent::Finished => self.finished_told += 1,
                StreamEvent::Closed(reason) => self.closed = Some(reason),
                _ => {}
            }
        }
        let Some(id) = self.id else { return };
        self.read(engines, id);
        if self.may_speak() && !self.has_finished {
            let text = self.plan.text(self.is_opener);
            assert_eq!(engines.write(id, &text), Ok(text.len()));
            engines.finish(id);
            self.has_finished = true;
        }
    }

    fn may_speak(&self) -> bool {
        match (self.plan, self.is_opener) {
            (Plan::Question, false) => self.ended,
            (Plan::Greeting, true) => !self.read.is_empty(),
            _ => self.closed.is_none(),
        }
    }

    fn read(&mut self, engines: &mut Engines, id: ConnectionKey) {
        let mut buffer = [0; 4096];
        while let Ok(Some(read)) = engines.read(id, &mut buffer) {
            self.ended |= read == 0;
            self.read.extend_from_slice(&buffer[..read]);
            if read == 0 {
                break;
            }
        }
        let expected = self.plan.text(!self.is_opener);
        assert!(expected.starts_with(&self.read), "what was read is not what was written");
    }

    /// True if nothing will happen any more.
    pub(crate) fn is_over(&self) -> bool {
        self.closed.is_some()
    }

    /// True if everything of the peer arrived, and then a reset ended it.
    pub(crate) fn was_reset_when_all_was_read(&self) -> bool {
        let expected = self.plan.text(!self.is_opener).len();
        self.ended && self.read.len() == expected && self.closed == Some(Some(CloseReason::Reset(None)))
    }

    /// Everything arrived, and the end was clean and told once.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let expected = self.plan.text(!self.is_opener).len();
        if self.closed != Some(None) {
            return Err(format!("it ended like this: {:?}", self.closed));
        }
        if self.read.len() != expected || !self.ended || self.finished_told != 1 {
            let (read, told) = (self.read.len(), self.finished_told);
            return Err(format!("read {read} of {expected}, end {}, finished told {told}", self.ended));
        }
        Ok(())
    }
}
