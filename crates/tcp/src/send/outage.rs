//! Outages of links that routers tell of [SCPS-TP 3.1.3]: timers stand still, and nothing leaves but a
//! question now and then, until the link is back; then goes again what was on its way to that link.

use skyhaul_core::{Event, Instant, SECOND};

use super::Sender;
use super::persist::Persist;
use crate::call::Call;
use skyhaul_core::event::Repeat;

/// Longest time between two questions. Each is an acknowledgement without data: as long as the link is down
/// and the application waits, one leaves in this time.
const MAX_INTERVAL_NS: u64 = 10 * SECOND;

/// Outage that goes on.
#[derive(Clone, Debug)]
struct Down {
    /// Number that was quoted of what left first, and its place in the order of leaving; `None`: there are no
    /// times of sending.
    quoted: u64,
    serial: Option<u64>,
    /// What arrives before this may have been on its way when the link went.
    doubt_until: Instant,
    questions: Persist,
}

/// Outage as routers tell of it.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkOutage {
    down: Option<Down>,
    /// No word of one counts: the route does not obey it.
    is_ignored: bool,
}

impl LinkOutage {
    pub(super) fn is_down(&self) -> bool {
        self.down.is_some()
    }

    /// The packet with this number did not find the link up. False if that was known.
    fn begin(&mut self, number: u64, serial: Option<u64>, doubt_until: Instant, ask_at: Instant) -> bool {
        if let Some(down) = &mut self.down {
            if serial < down.serial {
                (down.quoted, down.serial) = (number, serial);
            }
            return false;
        }
        let mut questions = Persist::default();
        questions.arm(ask_at);
        self.down = Some(Down { quoted: number, serial, doubt_until, questions });
        true
    }

    /// Everything below `una` is acknowledged. True if what was quoted is: the word was wrong, or no longer
    /// true as it came.
    pub(super) fn is_refuted(&mut self, una: u64) -> bool {
        self.down.take_if(|down| down.quoted < una).is_some()
    }
}

impl Sender {
    /// True while routers say that a link is down: nothing is sent, and no timer runs out.
    pub(crate) fn is_link_down(&self) -> bool {
        self.outage.is_down()
    }

    /// Moment of the next question whether the link is back.
    pub(crate) fn asks_link_at(&self) -> Option<Instant> {
        self.outage.down.as_ref()?.questions.due()
    }

    /// A question left. The next one waits twice as long, within bounds.
    pub(crate) fn on_link_asked(&mut self, call: &mut Call<'_>) {
        let first_ns = self.timer.timeout_ns().min(MAX_INTERVAL_NS);
        let Some(down) = &mut self.outage.down else { return };
        down.questions.tried(call.now, first_ns, MAX_INTERVAL_NS);
        call.stats.window_probes += 1;
    }

    /// Hears of no outage from now on.
    pub(super) fn ignore_outages(&mut self) {
        self.outage = LinkOutage { down: None, is_ignored: true };
    }

    /// A router says that the segment with this number, which is not acknowledged, found a link down. False
    /// if the peer says that it has arrived, or that is no matter here.
    pub(crate) fn on_link_outage(&mut self, number: u64, call: &mut Call<'_>) -> bool {
        let serial = self.rack.as_ref().and_then(|rack| rack.left_as(number));
        if self.outage.is_ignored || self.rack.is_some() && serial.is_none() {
            return false;
        }
        let rtt_ns = self.rtt_ns().unwrap_or_else(|| self.timer.timeout_ns());
        let (doubt_until, ask_at) = (call.now.after(rtt_ns), self.timer.due(call.now));
        if self.outage.begin(number, serial, doubt_until, ask_at) {
            self.verdicts.on_link_outage();
            call.emit(Event::LinkOutage { down: true });
        }
        true
    }

    /// A router says that the link is back. False if nothing was known of an outage.
    pub(crate) fn on_link_restored(&mut self, call: &mut Call<'_>) -> bool {
        let Some(down) = self.outage.down.take() else { return false };
        self.timer.on_link_restored(call.now);
        match (self.rack.as_mut(), down.serial) {
            // Negative acknowledgements find what was lost before that.
            (Some(rack), Some(serial)) => {
                rack.lose_since(serial, &self.board, self.space.una());
                self.go_on_from_board(call.now);
            }
            _ => self.go_back(Repeat::Timer, call.now),
        }
        call.emit(Event::LinkOutage { down: false });
        true
    }

    /// Something acceptable came from the peer: the link is back, unless that was on its way when it went.
    pub(crate) fn on_link_heard(&mut self, call: &mut Call<'_>) {
        if self.outage.down.as_ref().is_some_and(|down| down.doubt_until < call.now) {
            self.on_link_restored(call);
        }
    }

    /// Something new was acknowledged: if it was what a router had quoted, there was no outage.
    pub(super) fn refute_outage(&mut self, call: &mut Call<'_>) {
        if self.outage.is_refuted(self.space.una()) {
            self.timer.restart(self.space.outstanding() > 0, call.now);
            call.emit(Event::LinkOutage { down: false });
        }
    }

    /// A router has too much to forward, the segment with this number among it: a mark, where that is heard.
    pub(crate) fn on_source_quench(&mut self, number: u64, call: &mut Call<'_>) -> bool {
        let hears = self.config.scps.as_ref().is_some_and(|scps| scps.source_quench);
        if hears {
            self.answer_mark(number + 1, call);
        }
        hears
    }
}
