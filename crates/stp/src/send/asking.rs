//! Explicit rate control: headers of packets with data that ask the routers on the path, and what a peer's
//! STATs tell of the feedback (`docs/spec/xcp.md`, 6).

use alloc::boxed::Box;

use skyhaul_core::event::RuledBy;
use skyhaul_core::{Demand, Event, Instant, OpenRequests, Path, PathFeedback, PathHeader};

use super::{PollRecord, Sender};
use crate::call::Call;
use crate::config::Config;
use crate::segment::{Feedback, HEADER_BYTES, Stat};

/// State of a connection whose packets ask routers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asking {
    /// The peer takes headers, by its opening.
    peer_takes: bool,
    /// When the first packet with one left.
    asked_at: Option<Instant>,
    open: OpenRequests,
    /// Sum that the peer told last.
    told_sum: u32,
    /// Header of the packet that leaves now.
    leaving: Option<PathHeader>,
    ruled_by: Option<RuledBy>,
}

impl Asking {
    /// State at the begin, for a configuration that wants it.
    pub(super) fn wanted(config: &Config) -> Option<Box<Self>> {
        config.asks_routers().then(Box::default)
    }

    /// Apart, and into a place: a packet that has none is not to pay for it.
    #[cold]
    #[inline(never)]
    fn put_header(&mut self, place: &mut Option<PathHeader>) {
        *place = self.leaving.take();
    }
}

impl Sender {
    /// True if routers were heard to decide on the rate.
    pub(super) fn is_ruled_by_routers(&self) -> bool {
        self.asking.as_ref().is_some_and(|asking| asking.ruled_by == Some(RuledBy::Routers))
    }

    /// Takes in whether the peer takes headers.
    pub(super) fn learn_taking(&mut self, takes: bool, path: &mut Path) {
        if let Some(asking) = &mut self.asking {
            asking.peer_takes = takes;
            if !takes {
                path.expect_no_feedback();
            }
        }
    }

    /// True if a packet that leaves now is to carry a header. A peer of before headers drops what has one,
    /// so that the last packet with the opening has none, nor any once an answer to that is late.
    fn carries_header(&self, now: Instant) -> bool {
        let Some(asking) = &self.asking else { return false };
        let since = self.activity.first_data_at.unwrap_or(now);
        let is_tried =
            self.activity.order != self.config.bgn_repeats && now.since(since) < self.config.bgn_timer_ns;
        asking.peer_takes || is_tried
    }

    /// Size on the wire of a segment of `octets` with data that leaves now, a path header included that it
    /// may carry. The header is taken by [`Self::put_header`].
    pub(super) fn ask(&mut self, octets: usize, call: &mut Call<'_>) -> u32 {
        if call.path.asks() { self.ask_routers(octets, call) } else { call.path.wire_bytes(octets) }
    }

    /// That size on a path whose packets ask. Apart: those of other paths are not to pay for it.
    #[cold]
    #[inline(never)]
    fn ask_routers(&mut self, octets: usize, call: &mut Call<'_>) -> u32 {
        let wire_bytes = call.path.wire_bytes(octets);
        if !self.carries_header(call.now) {
            return wire_bytes;
        }
        let packet_bytes = call.path.data_wire_bytes(octets);
        let demand = Demand {
            loop_ns: self.rtt.is_known().then(|| self.loop_ns()),
            packet_bytes,
            wanted_bytes: self.wanted_bytes(call.path),
        };
        let Some(asking) = &mut self.asking else { return wire_bytes };
        asking.leaving = call.path.ask(call.now, &demand);
        asking.asked_at.get_or_insert(call.now);
        asking.open.ask(asking.leaving.map_or(0, |header| header.delta_bytes_per_s));
        packet_bytes
    }

    /// Puts the header of the packet that was just written into its place.
    pub(crate) fn put_header(&mut self, place: &mut Option<PathHeader>) {
        if let Some(asking) = &mut self.asking {
            asking.put_header(place);
        }
    }

    /// Time from a packet to the report that tells of it.
    fn loop_ns(&self) -> u64 {
        self.rtt.smoothed_ns().saturating_add(self.poll_interval_ns())
    }

    /// IP bytes that this connection could send in that time: no more than there is, the peer takes, and a
    /// highest rate allows.
    fn wanted_bytes(&self, path: &Path) -> u64 {
        let payload_bytes = self.mss_bytes(path) as u64;
        let repairs_bytes = self.cache.queued_packets() as u64 * payload_bytes;
        let there_bytes = self.there_bytes() + repairs_bytes;
        let packets = there_bytes.min(self.peer.window_bytes).div_ceil(payload_bytes.max(1));
        let packet_bytes = path.data_wire_bytes(HEADER_BYTES + payload_bytes as usize);
        let bits = u128::from(self.config.rate_caps().max_bps) * u128::from(self.loop_ns());
        let capped_bytes = u64::try_from(bits / u128::from(8 * skyhaul_core::SECOND)).unwrap_or(u64::MAX);
        packets.saturating_mul(packet_bytes.into()).min(capped_bytes)
    }

    /// Takes what a STAT that answers `poll` tells of the routers' feedback, before anything else that it
    /// tells of the path. One that tells of no header, though there were some for a round trip, says that
    /// what has one does not arrive.
    pub(crate) fn take_feedback(&mut self, stat: &Stat, poll: &PollRecord, call: &mut Call<'_>) {
        let (loop_ns, round_trip_ns) = (self.loop_ns(), self.rtt.smoothed_ns());
        let Some(asking) = &mut self.asking else { return };
        let Some(asked_at) = asking.asked_at else { return };
        if let Some(Feedback { sum_bytes_per_s, routers }) = stat.feedback {
            let told = sum_bytes_per_s.wrapping_sub(asking.told_sum) as i32;
            asking.told_sum = sum_bytes_per_s;
            let bytes_per_s = asking.open.believe(told);
            call.path.take_feedback(call.now, &PathFeedback { bytes_per_s, routers, loop_ns });
        } else if poll.sent_at >= asked_at.after(round_trip_ns) {
            call.path.expect_no_feedback();
        }
        self.take_terms(call);
        self.tell_rule(call);
    }

    /// Emits an event where the rate goes by something else than was told.
    pub(super) fn tell_rule(&mut self, call: &mut Call<'_>) {
        let Some(asking) = &mut self.asking else { return };
        let by = call.path.ruled_by();
        if by != asking.ruled_by
            && let Some(by) = by
        {
            asking.ruled_by = Some(by);
            call.emit(Event::Ruled { by });
        }
    }

    /// Packets are lost, though the link was there.
    pub(super) fn tell_routers_loss(&self, newest_sent_at: Instant, now: Instant, path: &mut Path) {
        if self.asking.is_some() {
            path.take_loss(now, newest_sent_at);
        }
    }
}
