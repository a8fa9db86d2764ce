//! What is known of ways, for the connections there are and those to come.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use skyhaul_core::{ConnectionId, Instant, Verdict};

use super::Endpoint;
use crate::connection::{Connection, Context, LEARNT_FOR_NS, Names};
use crate::segment::Way;

/// Ways that something is remembered of; at more, the one that was heard of first is forgotten.
const MAX_WAYS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Known {
    mtu: Option<(u32, Instant)>,
    loss_cause: Verdict,
    since: Instant,
}

/// What is known of ways.
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
        self.0.entry(way).or_insert(Known { mtu: None, loss_cause: Verdict::Congestion, since: now })
    }

    /// Tells a new connection.
    pub(super) fn brief(&self, connection: &mut Connection, context: &mut Context<'_>) {
        let Some(known) = self.0.get(&connection.names.way) else { return };
        connection.assume_loss_cause(known.loss_cause);
        if let Some((bytes, _)) = known.mtu.filter(|&(_, at)| context.now.since(at) < LEARNT_FOR_NS) {
            connection.limit_packets(bytes, context);
        }
    }
}

impl Endpoint {
    /// The carrier knows why packets of this way are lost from now on (it sees bit errors, or the link is
    /// gone): what [`LossEvidence::assumed`](crate::LossEvidence::assumed) says, and the verdict where there
    /// is no judge. Holds until something else is said.
    pub fn assume_loss_cause(&mut self, now: Instant, way: Way, cause: Verdict) {
        self.ways.entry(way, now).loss_cause = cause;
        for id in self.connections_of(way) {
            if let Some(slot) = self.slots.get_mut(&id) {
                slot.connection.assume_loss_cause(cause);
            }
        }
    }

    pub(super) fn connections_of(&self, way: Way) -> Vec<ConnectionId> {
        let first = Names { way, local_port: 0, remote_port: 0 };
        let last = Names { way, local_port: u16::MAX, remote_port: u16::MAX };
        self.keys.range(first..=last).map(|(_, &id)| id).collect()
    }
}
