//! Options of other protocols over this engine: offered in SYN, agreed when both do, carried by segments.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::timers::AckDue;
use super::{Connection, State};
use crate::segment::{ExtraOptions, Options, Segment};

/// Options received and not fetched; at more, the oldest goes.
const MAX_RECEIVED: usize = 8;

/// An option and its value.
type Valued = (u8, Vec<u8>);

/// What was agreed, and what waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Extensions {
    /// Kinds that both offered, with the peer's values.
    agreed: Vec<Valued>,
    /// For the next segment.
    next: Option<Valued>,
    received: VecDeque<Valued>,
}

impl Connection {
    /// What our SYN offers; an answer offers what was offered. What does not fit beside `options` is left out.
    pub(super) fn offered_options(&self, options: &Options) -> ExtraOptions {
        let mut extra = ExtraOptions::default();
        let answers = self.state == State::SynReceived;
        for (kind, value) in &self.config.offered_options {
            let before = extra;
            let is_wanted = !answers || self.agreed_option(*kind).is_some();
            if is_wanted && extra.push(*kind, value) && !fits(options, &extra) {
                extra = before;
            }
        }
        extra
    }

    /// Takes what the peer's SYN offers.
    pub(super) fn learn_options(&mut self, segment: &Segment<'_>) {
        let offered = &self.config.offered_options;
        let both =
            segment.options.extra.iter().filter(|(kind, _)| offered.iter().any(|(ours, _)| ours == kind));
        self.extensions.agreed = both.map(|(kind, value)| (kind, value.to_vec())).collect();
    }

    pub(crate) fn agreed_option(&self, kind: u8) -> Option<&[u8]> {
        self.extensions.agreed.iter().find(|(other, _)| *other == kind).map(|(_, value)| &value[..])
    }

    /// The next segment carries the option; there is one at once. False if it was not agreed, another one waits,
    /// or it would leave no room for anything else.
    pub(crate) fn attach_option(&mut self, kind: u8, value: &[u8]) -> bool {
        let mut extra = ExtraOptions::default();
        let fits = extra.push(kind, value) && extra.encoded_len() <= 16;
        let is_open = self.assembly.is_some() && !self.state.is_opening() && self.state != State::Closed;
        let may = fits && is_open && self.agreed_option(kind).is_some() && self.extensions.next.is_none();
        if may {
            self.extensions.next = Some((kind, value.to_vec()));
            self.ack_due = AckDue::Now;
        }
        may
    }

    /// What the next segment carries.
    pub(super) fn attached_options(&self) -> ExtraOptions {
        let mut extra = ExtraOptions::default();
        if let Some((kind, value)) = &self.extensions.next {
            extra.push(*kind, value);
        }
        extra
    }

    /// It left.
    pub(super) fn attached_options_left(&mut self) {
        self.extensions.next = None;
    }

    /// Agreed options of an acceptable segment wait to be fetched.
    pub(super) fn take_options(&mut self, segment: &Segment<'_>) {
        for (kind, value) in segment.options.extra.iter() {
            if self.agreed_option(kind).is_some() {
                self.extensions.received.push_back((kind, value.to_vec()));
            }
        }
        while self.extensions.received.len() > MAX_RECEIVED {
            self.extensions.received.pop_front();
        }
    }

    pub(crate) fn poll_option(&mut self) -> Option<Valued> {
        self.extensions.received.pop_front()
    }
}

fn fits(options: &Options, extra: &ExtraOptions) -> bool {
    Options { extra: *extra, ..*options }.encoded_len() <= crate::segment::MAX_OPTIONS_BYTES
}
