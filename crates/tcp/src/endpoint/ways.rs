//! Facts about ways, for the connections there are and those to come.

use alloc::collections::BTreeMap;

use skyhaul_core::endpoint::Context;
use skyhaul_core::{Instant, Verdict};

use super::Endpoint;
use crate::accelerated::{Facts, Lesson};
use crate::connection::{Connection, LEARNT_FOR_NS};
use crate::segment::Way;

/// Ways that something is remembered of; at more, the one that was heard of first is forgotten.
const MAX_WAYS: usize = 256;

/// Facts about a way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    mtu: Option<(u32, Instant)>,
    /// As the carrier said; `None`: it has said nothing.
    loss_cause: Option<Verdict>,
    /// What openings with data go by.
    opening: Facts,
    since: Instant,
}

/// Facts about ways.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways(BTreeMap<Way, Known>);

impl Ways {
    pub(super) fn learn_mtu(&mut self, way: Way, bytes: u32, now: Instant) {
        self.entry(way, now).mtu = Some((bytes, now));
    }

    fn entry(&mut self, way: Way, now: Instant) -> &mut Known {
        if self.0.len() >= MAX_WAYS && !self.0.contains_key(&way) {
            let oldest = self.0.iter().min_by_key(|&(_, known)| known.since).map(|(&way, _)| way);
            oldest.and_then(|way| self.0.remove(&way));
        }
        self.0.entry(way).or_insert(Known {
            mtu: None,
            loss_cause: None,
            opening: Facts::default(),
            since: now,
        })
    }

    /// Facts that openings with data go by, to be changed.
    pub(super) fn opening(&mut self, way: Way, now: Instant) -> &mut Facts {
        &mut self.entry(way, now).opening
    }

    /// Takes what an opening has taught. That a peer does not count is news of a way that is known.
    pub(super) fn learn(&mut self, way: Way, lesson: Lesson, now: Instant) {
        let is_news = lesson != Lesson::NoCount || self.0.contains_key(&way);
        if is_news {
            self.opening(way, now).learn(lesson, now);
        }
    }

    /// Those of a way that something is known of: who only claims to be at one changes nothing.
    pub(super) fn known_opening(&mut self, way: Way) -> Option<&mut Facts> {
        self.0.get_mut(&way).map(|known| &mut known.opening)
    }

    /// Facts about the far end of a way, to be looked at.
    pub(super) fn opening_of(&self, way: Way) -> Option<&Facts> {
        self.0.get(&way).map(|known| &known.opening)
    }

    pub(super) fn get(&self, way: Way) -> Option<Known> {
        self.0.get(&way).copied()
    }
}

/// Tells a new connection.
pub(super) fn brief(known: Option<Known>, connection: &mut Connection, context: &mut Context<'_>) {
    let Some(known) = known else { return };
    if let Some(cause) = known.loss_cause {
        connection.assume_loss_cause(cause);
    }
    if let Some((bytes, _)) = known.mtu.filter(|&(_, at)| context.now.since(at) < LEARNT_FOR_NS) {
        connection.limit_packets(bytes, context);
    }
}

impl Endpoint {
    /// The carrier knows why packets of this way are lost from now on (it sees bit errors, or the link is
    /// gone): what [`LossEvidence::assumed`](crate::LossEvidence::assumed) says, and the verdict where there
    /// is no judge. Holds until something else is said.
    pub fn assume_loss_cause(&mut self, now: Instant, way: Way, cause: Verdict) {
        self.0.family.ways.entry(way, now).loss_cause = Some(cause);
        for id in self.0.connections_to(way) {
            if let Some((connection, _)) = self.0.get_mut(id) {
                connection.assume_loss_cause(cause);
            }
        }
    }

    /// The carrier knows that what comes this way is damaged on its way: connections that speak SCPS-TP tell
    /// their peers for two round trips, so that these take losses for damage.
    pub fn report_damage(&mut self, now: Instant, way: Way) {
        for id in self.0.connections_to(way) {
            if let Some((connection, _)) = self.0.get_mut(id) {
                connection.report_damage(now);
            }
        }
    }
}
