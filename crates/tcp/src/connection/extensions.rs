//! Options of other protocols over this engine: offered in SYN, agreed when both do, carried by segments.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::segment::{ExtraOptions, MAX_OPTIONS_BYTES, Options};

/// Options received and not fetched; at more, the oldest goes.
const MAX_RECEIVED: usize = 8;
/// Bytes that an attached option takes at most: it leaves room for others.
const MAX_ATTACHED_BYTES: usize = 16;

/// Kind and value of an option.
type Valued = (u8, Vec<u8>);

/// Options that were agreed, and those that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Extensions {
    /// Kinds that both offered, with the peer's values.
    agreed: Vec<Valued>,
    /// Option for the next segment.
    next: Option<Valued>,
    received: VecDeque<Valued>,
}

impl Extensions {
    /// Agreement with the peer's SYN; `None` where both offer nothing in common.
    pub(super) fn learn(offered: &[Valued], options: &Options) -> Option<Box<Self>> {
        let both = options.extra.iter().filter(|(kind, _)| offered.iter().any(|(ours, _)| ours == kind));
        let agreed: Vec<Valued> = both.map(|(kind, value)| (kind, value.to_vec())).collect();
        (!agreed.is_empty()).then(|| Box::new(Self { agreed, ..Self::default() }))
    }

    pub(super) fn agreed(&self, kind: u8) -> Option<&[u8]> {
        self.agreed.iter().find(|(other, _)| *other == kind).map(|(_, value)| &value[..])
    }

    /// The next segment carries the option. False if it was not agreed, another one waits, or it would leave
    /// no room for anything else.
    pub(super) fn attach(&mut self, kind: u8, value: &[u8]) -> bool {
        let mut extra = ExtraOptions::default();
        let fits = extra.push(kind, value) && extra.encoded_len() <= MAX_ATTACHED_BYTES;
        let may = fits && self.agreed(kind).is_some() && self.next.is_none();
        if may {
            self.next = Some((kind, value.to_vec()));
        }
        may
    }

    /// Options of the next segment.
    pub(super) fn attached(&self) -> ExtraOptions {
        let mut extra = ExtraOptions::default();
        if let Some((kind, value)) = &self.next {
            extra.push(*kind, value);
        }
        extra
    }

    /// They left.
    pub(super) fn attached_left(&mut self) {
        self.next = None;
    }

    /// Agreed options of an acceptable segment wait to be fetched.
    pub(super) fn take(&mut self, options: &Options) {
        for (kind, value) in options.extra.iter() {
            if self.agreed(kind).is_some() {
                self.received.push_back((kind, value.to_vec()));
            }
        }
        while self.received.len() > MAX_RECEIVED {
            self.received.pop_front();
        }
    }

    /// Next option received.
    pub(super) fn poll(&mut self) -> Option<Valued> {
        self.received.pop_front()
    }
}

/// Offer of our SYN. An answer offers what `is_wanted`: what the peer offered. Options that do not fit beside
/// `others` are left out.
pub(super) fn offer(offered: &[Valued], is_wanted: impl Fn(u8) -> bool, others: &Options) -> ExtraOptions {
    let mut extra = ExtraOptions::default();
    for (kind, value) in offered {
        let before = extra;
        if is_wanted(*kind) && extra.push(*kind, value) && !fits(others, &extra) {
            extra = before;
        }
    }
    extra
}

fn fits(options: &Options, extra: &ExtraOptions) -> bool {
    Options { extra: *extra, ..*options }.encoded_len() <= MAX_OPTIONS_BYTES
}
