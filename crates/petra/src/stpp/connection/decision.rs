//! Decision about what a connection does next, and when. Nothing else says when.

use skyhaul_core::endpoint::Context;
use skyhaul_core::{CloseReason, Instant, Path, ResetReason, Step};

use super::Connection;
use super::life::Life;
use crate::stpp::call::Call;
use crate::stpp::send::SenderAction;

/// Next thing that a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Sends something.
    Send(Sending),
    /// Does what needs no sending: `handle_timeout`.
    Fire(Firing),
}

/// Something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Reset that it ended with.
    Reset(ResetReason),
    /// OPEN.
    Open,
    /// Answer to the peer's OPEN.
    OpenAck,
    /// Status.
    Status,
    /// Data, or a POLL alone.
    Data(SenderAction),
}

/// Timer that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Firing {
    /// PDUs go to the retransmission queue.
    Expire,
    /// The connection ends.
    Close(Option<CloseReason>),
}

impl Connection {
    /// Next action: at its moment, if nothing happens before. What is due is sent before a timer fires. Pure.
    pub(super) fn next(&self, now: Instant, path: &Path) -> Option<Step<Action>> {
        let sending =
            self.next_sending(now, path).map(|Step { at, action }| Step { at, action: Action::Send(action) });
        let firing = self.next_firing().map(|Step { at, action }| Step { at, action: Action::Fire(action) });
        match (sending, firing) {
            (Some(sending), Some(firing)) if firing.at < sending.at && sending.at > now => Some(firing),
            (sending, firing) => sending.or(firing),
        }
    }

    fn next_sending(&self, now: Instant, path: &Path) -> Option<Step<Sending>> {
        let at_once = |action| Some(Step { at: now, action });
        match &self.life {
            Life::Closed { .. } => self.life.owed_reset().and_then(|reason| at_once(Sending::Reset(reason))),
            Life::Opening { tries, due } => {
                let may_try = *tries < self.config.max_tries;
                may_try.then_some(Step { at: *due, action: Sending::Open })
            }
            Life::Open { owes_answer: true } => at_once(Sending::OpenAck),
            Life::Open { .. } | Life::Lingering { .. } => self.next_traffic(now, path),
        }
    }

    /// Status or data, whichever is sooner; of equal ones the status.
    fn next_traffic(&self, now: Instant, path: &Path) -> Option<Step<Sending>> {
        let status = self.receiver.status_at(now).map(|at| Step { at, action: Sending::Status });
        let data =
            self.sender.next(now, path).map(|Step { at, action }| Step { at, action: Sending::Data(action) });
        match (status, data) {
            (Some(status), Some(data)) => Some(if data.at < status.at { data } else { status }),
            (status, data) => status.or(data),
        }
    }

    /// Timer that ends next.
    fn next_firing(&self) -> Option<Step<Firing>> {
        let close = |at, reason| Some(Step { at, action: Firing::Close(reason) });
        match &self.life {
            Life::Closed { .. } => None,
            Life::Lingering { until } => close(*until, None),
            Life::Opening { tries, due } => {
                let is_last = *tries >= self.config.max_tries;
                close(*due, Some(CloseReason::ConnectTimeout)).filter(|_| is_last)
            }
            Life::Open { .. } => {
                let expire = self.sender.next_timeout().map(|at| Step { at, action: Firing::Expire });
                let silence = self.patience_at().and_then(|at| close(at, Some(CloseReason::Silence)));
                match (expire, silence) {
                    (Some(expire), Some(silence)) => {
                        Some(if silence.at <= expire.at { silence } else { expire })
                    }
                    (expire, silence) => expire.or(silence),
                }
            }
        }
    }

    /// When patience with a silent peer ends: one that has something to confirm, to repeat or to prove.
    fn patience_at(&self) -> Option<Instant> {
        let waits = self.sender.waits() || self.receiver.has_gaps() || self.is_unproven_yet();
        let give_up_ns = self.config.give_up_ns.filter(|_| waits)?;
        Some(self.last_heard.after(give_up_ns))
    }

    /// When data is to leave next as far as the connection goes: for the share that it has of its path.
    pub(super) fn next_data_at(&self, now: Instant, path: &Path) -> Option<Instant> {
        let is_open = matches!(self.life, Life::Open { .. });
        let data = self.sender.next_data(now, path).filter(|_| is_open)?;
        Some(data.at)
    }

    /// Does what is due other than sending.
    pub(super) fn fire(&mut self, context: &mut Context<'_>) {
        while let Some(Step { at, action }) = self.next_firing() {
            if at > context.now {
                return;
            }
            match action {
                Firing::Close(reason) => self.close(reason, None),
                Firing::Expire => {
                    let mut call = Call::new(self.id, &mut self.stats, context);
                    self.sender.expire(&mut call);
                }
            }
        }
    }
}
