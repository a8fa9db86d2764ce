//! STATs and USTATs: what they mean for sender and prober, and in which order these hear of it.

use skyhaul_core::event::Refusal;
use skyhaul_core::{CloseReason, ResetReason, StreamEvent};

use super::Connection;
use crate::call::Call;
use crate::receive::Receiver;
use crate::segment::{Report, Stat};
use crate::send::Answer;

impl Connection {
    pub(super) fn on_stat(&mut self, stat: &Stat, call: &mut Call<'_>) {
        if !self.sender.has_polled(stat.echo) {
            return self.refuse(Refusal::Absurd, call);
        }
        if self.prober.is_probing() {
            let sent_at = self.sender.polled_at(stat.echo);
            self.prober.heard_echo(call.now, stat.echo, sent_at, self.sender.rtt().latest_ns());
        }
        let Some(answer) = self.sender.answer(call.now, stat.echo, call.path) else {
            return self.apply_report(&stat.report, None, call); // late: good for the cumulative part
        };
        self.reachability.prove();
        if self.receiver.as_mut().is_some_and(Receiver::deliver) {
            self.tell(StreamEvent::Readable);
        }
        let was_probing = self.prober.is_probing();
        if let Some(rtt_ns) = answer.rtt_ns {
            self.prober.take_previous_rtt(self.sender.rtt());
            self.sender.take_rtt(rtt_ns, call);
            self.sender.take_feedback(stat, &answer.poll, call);
        }
        if answer.rtt_ns.is_some() && !was_probing {
            self.report_path(stat, &answer, call);
        }
        self.apply_report(&stat.report, Some(&answer), call);
        if answer.rtt_ns.is_some() && was_probing && self.prober.has_found_link(call.now) {
            self.report_path(stat, &answer, call);
        }
        self.sender.take_wanting(stat, &answer.poll);
    }

    fn report_path(&mut self, stat: &Stat, answer: &Answer, call: &mut Call<'_>) {
        if let Err(why) = self.sender.report_path(stat, &answer.poll, call) {
            self.refuse(why, call);
            self.sender.stop_following(call);
        }
    }

    /// While probing, the gaps of USTATs are ignored: the STATs repeat what they say [XSTP 4.2].
    pub(super) fn on_ustat(&mut self, report: &Report, call: &mut Call<'_>) {
        if !self.prober.is_probing() || report.runs.is_empty() {
            self.apply_report(report, None, call);
        }
    }

    /// Applies a report; `answer` for a STAT that answers a POLL in time.
    fn apply_report(&mut self, report: &Report, answer: Option<&Answer>, call: &mut Call<'_>) {
        let missing = match self.sender.read(report, answer.map(|answer| answer.poll)) {
            Ok(Some(missing)) => missing,
            Ok(None) => return,
            Err(why) => return self.refuse(why, call),
        };
        self.sender.acknowledge(&missing, answer.and_then(|answer| answer.rtt_ns), call);
        if self.sender.has_peer_lied() {
            return self.end_with(ResetReason::Protocol, CloseReason::FalseReport);
        }
        if self.may_repeat(&missing, call) {
            let verdicts = self.prober.verdicts(self.default_verdict());
            let were_too_large = self.sender.lose(&missing, &verdicts, call);
            self.limits.judge(call.now, Some(self.sender.repeat_limit()));
            if let Some(were_too_large) = were_too_large {
                self.limits.settle_outages(were_too_large);
            }
        }
        if self.sender.is_settled() {
            self.abort_probing(call); // nothing is left to ask about
        }
        if self.sender.conclude(self.is_opened(), call) {
            self.tell(StreamEvent::Writable);
        }
    }
}
