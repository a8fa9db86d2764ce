//! Decision about what a connection does next, and when. Nothing else says when.

use skyhaul_core::{CloseReason, Instant, Path, PathMtu, ResetReason, SECOND, Step};

use super::{Connection, Context};
use crate::call::Call;
use crate::segment::report_len;
use crate::send::{SenderAction, Situation};

/// Patience with packets larger than the path takes by now, while the peer answers and nothing else arrives.
const STUCK_NS: u64 = 60 * SECOND;

/// Time without a segment of the peer after which memory is given back, at the next timer.
const IDLE_NS: u64 = 5 * SECOND;

/// Next thing that a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Sends the RST that it ended with.
    Reset(ResetReason),
    /// Starts to probe, and sends the first probe.
    Probe,
    /// Sends a segment.
    Send(SenderAction),
    /// Ends by itself, cleanly without a reason. This is for `handle_timeout`: nothing is sent.
    Close(Option<CloseReason>),
}

impl Connection {
    /// Next action: at its moment, if nothing happens before. An action whose time has not come may be
    /// another one when it has. What is due is sent before the connection ends. Pure.
    pub(crate) fn next(&self, now: Instant, path: &Path) -> Option<Step<Action>> {
        self.or_close(self.next_transmission(self.situation(now, path).as_ref(), now, path), now)
    }

    /// Next action, where `transmission` is the next thing to send.
    pub(super) fn or_close(&self, transmission: Option<Step<Action>>, now: Instant) -> Option<Step<Action>> {
        let close = self.expiry().map(|(at, reason)| Step { at, action: Action::Close(reason) });
        match (transmission, close) {
            (Some(transmission), Some(close)) if close.at < transmission.at && transmission.at > now => {
                Some(close)
            }
            (Some(transmission), _) => Some(transmission),
            (None, close) => close,
        }
    }

    /// When data is to leave next as far as the connection goes: for the share that it has of its path.
    pub(crate) fn data_due(&self, now: Instant, path: &Path) -> Option<Instant> {
        let situation = self.situation(now, path)?;
        self.sender.data_at(&situation, now, path)
    }

    /// Next thing to send in this situation, and when.
    pub(super) fn next_transmission(
        &self,
        situation: Option<&Situation>,
        now: Instant,
        path: &Path,
    ) -> Option<Step<Action>> {
        let Some(situation) = situation else {
            return self.life.reset().map(|reason| Step { at: now, action: Action::Reset(reason) });
        };
        let silence_at = self.silence_at(path);
        if let Some(at) = silence_at.filter(|&at| at <= now) {
            return Some(Step { at, action: Action::Probe });
        }
        let next = self.sender.next(situation, now, path);
        match (next, silence_at) {
            (Some(step), Some(at)) if at < step.at => Some(Step { at, action: Action::Probe }),
            (Some(step), _) => Some(Step { at: step.at, action: Action::Send(step.action) }),
            (None, silence_at) => silence_at.map(|at| Step { at, action: Action::Probe }),
        }
    }

    /// Situation of the sender; `None`: nothing at all may be sent.
    pub(super) fn situation(&self, now: Instant, path: &Path) -> Option<Situation> {
        if self.life.is_closed() || self.life.is_held() {
            return None;
        }
        let allowance_bytes = self.reachability.allowance_bytes(self.sender.sent_bytes(), path)?;
        let receiver = self.receiver.as_ref();
        Some(Situation {
            is_opened: self.is_opened(),
            is_lingering: self.life.is_lingering(),
            last_report_bytes: self.last_report().map_or(0, |report| report_len(&report)),
            is_proven: self.reachability.is_proven(),
            is_peer_free: self.reachability.is_peer_free(),
            last_heard: self.reachability.last_heard(),
            allowance_bytes,
            probe_at: self.prober.probe_at(|| self.sender.probe_ns(path)),
            begin_at: self.life.begin_due(),
            begins_again: self.doubts.begins_again(),
            end_at: self.life.end_due(),
            has_ended: self.life.has_ended(),
            reply: receiver.and_then(|receiver| receiver.next_reply(now)),
            doubts_size: path.mtu().is_some_and(PathMtu::is_in_doubt),
            reply_at: receiver.and_then(|receiver| receiver.stat_at(now)),
        })
    }

    /// When the connection ends by itself, and why.
    fn expiry(&self) -> Option<(Instant, Option<CloseReason>)> {
        let expiry = self.life.expiry(self.patience_at(), self.config.max_tries);
        match self.stuck_at() {
            Some(at) if expiry.is_none_or(|(other, _)| at < other) => {
                Some((at, Some(CloseReason::Oversized)))
            }
            _ => expiry,
        }
    }

    /// When patience with packets ends that nothing brings across, though the peer answers.
    fn stuck_at(&self) -> Option<Instant> {
        let is_open = self.is_opened() && !self.life.is_closed() && !self.life.is_lingering();
        let since = self.sender.stuck_since().filter(|_| is_open)?;
        self.config.give_up_ns.map(|ns| since.after(ns.min(STUCK_NS)))
    }

    /// When patience with a silent peer ends.
    fn patience_at(&self) -> Option<Instant> {
        let last_heard = self.reachability.last_heard();
        if self.life.is_opening() || !self.reachability.is_proven() {
            // The proof may stand in a long queue behind early data, which goes on coming then.
            let since = self.life.opening_since().unwrap_or(last_heard);
            return self.config.connect_give_up_ns.map(|ns| since.after(ns));
        }
        self.config.give_up_ns.map(|ns| last_heard.after(ns))
    }

    /// Does what is due other than sending, which `poll_transmit` does.
    pub(crate) fn handle_timeout(&mut self, context: &mut Context<'_>) {
        let call = &mut Call::new(self.id, context);
        if let Some((_, reason)) = self.expiry().filter(|&(at, _)| at <= call.now) {
            // All data went both ways: a peer that is silent now has left.
            if self.is_all_but_confirmed() { self.part() } else { self.close(reason) }
        }
        if call.now.since(self.reachability.last_heard()) >= IDLE_NS && self.sender.is_settled() {
            self.give_back();
        }
        self.tell_news(call);
        self.check_invariants();
    }

    /// Gives memory back that grew with use: nothing has come for a while, and nothing is under way.
    fn give_back(&mut self) {
        self.sender.give_back();
        if let Some(receiver) = &mut self.receiver {
            receiver.give_back();
        }
    }
}
