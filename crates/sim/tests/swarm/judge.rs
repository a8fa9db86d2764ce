//! Conditions at the end of a run.

use std::fmt::Write as _;

use crate::common::family::Family;
use skyhaul_core::{CloseReason, ResetReason};
use skyhaul_sim::Engines;

use super::talker::{Conversation, Talker};
use super::world::{Summary, World};

/// BGNAK, POLL and END with headers: the least that an acceptor without proof sends.
const MIN_SENT_BYTES: u64 = 20 + 8 + 1 + 44;

impl World {
    pub(crate) fn talker(&self, index: usize) -> &Talker {
        let talker = self.hosts[index].app.as_any().downcast_ref();
        talker.unwrap_or_else(|| unreachable!("hosts of a swarm run talkers"))
    }

    pub(crate) fn judge(&self) -> Result<Summary, String> {
        if !self.is_done() {
            return self.judge_stuck();
        }
        for (index, host) in self.hosts.iter().enumerate() {
            let (left, deadline) = (host.engines.connection_count(), host.engines.deadline());
            if left != 0 || deadline.is_some() {
                return Err(format!("host {index}: {left} connections remain, deadline {deadline:?}"));
            }
        }
        let mut summary = Summary { lies: self.lies, ..Summary::default() };
        for index in [0, 1] {
            summary.strangers += self.talker(index).stranger_count();
            summary.connections += self.shape.ends[index].opens.len();
            for talk in &self.talker(index).over {
                summary.bytes += talk.read;
                summary.failed += usize::from(self.judge_one(index, talk)?);
            }
        }
        Ok(summary)
    }

    /// A known limit (specification, 11.2): an opener that is done may leave while its last words,
    /// the proof of its address among them, are lost. An acceptor without patience at its 3x limit
    /// then waits for ever.
    fn judge_stuck(&self) -> Result<Summary, String> {
        if self.shape.protocol == Family::Tcp {
            return Err(format!("stuck: {}", self.describe()));
        }
        let hosts = [0, 1].map(|index| (&self.hosts[index].engines, self.talker(index)));
        let waits = |(endpoint, talker): &(&Engines, &Talker)| {
            talker
                .open
                .keys()
                .filter_map(|&id| endpoint.stats(id))
                .all(|stats| 3 * stats.received_bytes < stats.sent_bytes + MIN_SENT_BYTES)
        };
        let alone = hosts.iter().any(|(_, talker)| talker.open.is_empty());
        if alone && hosts.iter().all(waits) {
            return Ok(Summary { failed: 1, ..Summary::default() });
        }
        Err(format!("stuck: {}", self.describe()))
    }

    /// True if the conversation failed in an allowed way.
    fn judge_one(&self, index: usize, talk: &Conversation) -> Result<bool, String> {
        let fail = |why: &str| Err(format!("host {index}: {why}: {talk:?}"));
        if let Some(fault) = talk.fault() {
            return fail(&fault);
        }
        let peer = self.talker(1 - index).over.iter().find(|t| t.receives() == Some(talk.sends));
        let arrived = peer.is_some_and(|peer| peer.ended);
        // An abort may end it for both before anything of its name has arrived.
        let aborts = self.shape.ends.iter().any(|end| end.aborts_at.is_some());
        let torn = aborts && peer.is_none_or(|peer| peer.aborted);
        match talk.closed {
            Some(None) if arrived && !talk.aborted => Ok(false),
            Some(None) => fail("a clean close, but not everything was delivered"),
            Some(Some(CloseReason::AbortedHere)) if talk.aborted => Ok(true),
            Some(Some(CloseReason::Reset(_))) if torn => Ok(true),
            Some(Some(reason)) if self.is_allowed(reason, talk, arrived) => Ok(true),
            _ => fail("it failed"),
        }
    }

    /// Patience may end where it is configured to; a peer that has seen both ends may have left
    /// before it could confirm the last of them (TCP: its TIME-WAIT is over).
    fn is_allowed(&self, reason: CloseReason, talk: &Conversation, arrived: bool) -> bool {
        use CloseReason::{ConnectTimeout, Reset, Silence, Unreachable};
        let (unknown, refused) = match self.shape.protocol {
            Family::Stp => (Reset(Some(ResetReason::UnknownConnection)), None),
            Family::Tcp => (Reset(None), Some(Reset(Some(ResetReason::Refused)))),
        };
        let is_over = talk.ended && arrived;
        let unsure = reason == unknown && is_over && !self.shape.finish_late;
        // Ends of an attacked run have the patience that the others have not.
        let alone = self.shape.is_attacked && is_over && [Silence, ConnectTimeout].contains(&reason);
        let tired =
            [unknown, Silence, ConnectTimeout, Unreachable].contains(&reason) || refused == Some(reason);
        unsure || alone || (self.shape.impatient && tired)
    }

    /// Description of what is not over.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::new();
        for index in [0, 1] {
            for (&id, talk) in &self.talker(index).open {
                let endpoint = &self.hosts[index].engines;
                let _ =
                    write!(text, "\nhost {index} connection {id}: {:?} {talk:?}", endpoint.state_name(id));
                let _ = write!(text, "\n  {:?}", endpoint.stats(id));
            }
            let deadline = self.hosts[index].deadline();
            let _ = write!(text, "\nhost {index} deadline {deadline:?}");
        }
        text
    }
}
