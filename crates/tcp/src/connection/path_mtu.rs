//! The largest packet that the path takes: learnt from routers [RFC 1191, RFC 8201], and, where none says
//! anything, from large segments that vanish while small ones arrive [RFC 8899 4.3].

use skyhaul_core::event::Repeat;
use skyhaul_core::{Event, Instant, Path, SECOND};

use super::{Connection, Context};
use crate::segment::{HEADER_BYTES, Way};

/// Larger packets are tried again so long after the size was learnt [RFC 1191 6.3, RFC 8201 5.3].
pub(crate) const LEARNT_FOR_NS: u64 = 600 * SECOND;
/// Smallest packet that this engine cuts for IPv4: links below it are history.
const MIN_IPV4_BYTES: u32 = 296;
/// What every link takes [RFC 791 3.2]: a router that says less cannot be right.
const LEAST_IPV4_BYTES: u32 = 68;
/// What every link takes [RFC 8200 5].
const MIN_IPV6_BYTES: u32 = 1280;
/// Usual sizes, for routers that do not tell theirs [RFC 1191 7].
const PLATEAUS: [u32; 8] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508];
/// What is tried when large packets seem to vanish [RFC 8899 5.1.2, RFC 9293 3.7.1].
const SUSPICIONS: [u32; 2] = [1280, 576];

/// What is known beyond the first link's MTU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathMtu {
    /// Largest packet, and since when that is known.
    learnt: Option<(u32, Instant)>,
    suspicion: Suspicion,
}

/// Whether large packets vanish somewhere without a word.
#[derive(Clone, Copy, Debug, Default)]
enum Suspicion {
    #[default]
    None,
    /// Nothing larger than this is sent until something arrives.
    Small(u32),
    /// Something did, so it may have been an outage: full size is tried until this number is acknowledged,
    /// and the smaller size comes back at once if that fails.
    Trial { small_bytes: u32, until: u64 },
}

fn floor_bytes(way: Way) -> u32 {
    if way.remote.is_ipv4() { MIN_IPV4_BYTES } else { MIN_IPV6_BYTES }
}

/// The packet size that a router's word leads to; `None`: it cannot be true, or tells nothing new.
fn believed_bytes(way: Way, told_bytes: u32, now_bytes: u32) -> Option<u32> {
    let floor = floor_bytes(way);
    let least = if way.remote.is_ipv4() { LEAST_IPV4_BYTES } else { floor };
    let told = match told_bytes {
        0 => PLATEAUS.into_iter().find(|&plateau| plateau < now_bytes).unwrap_or(floor),
        told => told,
    };
    (told >= least).then_some(told.max(floor)).filter(|&believed| believed < now_bytes)
}

impl Connection {
    /// Largest packet that is sent.
    pub(super) fn path_mtu_bytes(&self, path: &Path) -> u32 {
        let learnt = self.path_mtu.learnt.map_or(u32::MAX, |(bytes, _)| bytes);
        let small = if let Suspicion::Small(bytes) = self.path_mtu.suspicion { bytes } else { u32::MAX };
        path.mtu_bytes.min(learnt).min(small)
    }

    /// Largest payload without SACK blocks, by everything that is known now.
    pub(super) fn update_mss(&mut self, path: &Path) {
        let overhead = (path.mtu_bytes as usize - path.max_segment_bytes()) + HEADER_BYTES;
        let room = u64::from(self.path_mtu_bytes(path)).saturating_sub(overhead as u64);
        let most = room.min(u64::from(self.agreed.peer_mss)).min(u64::from(self.config.mss_bytes));
        self.mss_bytes = self.agreed.payload_room(most);
        self.controller.set_mss(self.mss_bytes);
    }

    /// A router says that a packet of ours was too big. What is believed, if anything.
    pub(super) fn on_too_big(&mut self, told_bytes: u32, context: &mut Context<'_>) -> Option<u32> {
        let now_bytes = self.path_mtu_bytes(context.path);
        let bytes = believed_bytes(self.names.way, told_bytes, now_bytes)?;
        self.limit_packets(bytes, context);
        Some(bytes)
    }

    /// Nothing larger is sent from now on; what was, and was not acknowledged, goes again. That is no sign of
    /// congestion [RFC 1191 6.5], and says nothing about round trips.
    pub(crate) fn limit_packets(&mut self, bytes: u32, context: &mut Context<'_>) {
        if bytes >= self.path_mtu_bytes(context.path) {
            return;
        }
        self.path_mtu.learnt = Some((bytes, context.now));
        let before = self.mss_bytes;
        self.update_mss(context.path);
        self.emit(context, Event::PathMtu { mtu_bytes: bytes });
        if self.state.may_send() && self.mss_bytes < before && self.sending.nxt > self.sending.una {
            self.go_back(Repeat::TooBig);
        }
    }

    /// Everything that is not known to have arrived goes again, from the oldest on.
    pub(super) fn go_back(&mut self, why: Repeat) {
        self.repair = None;
        self.duplicate_acks = 0;
        self.recovered_to = self.sending.max;
        self.timing = None;
        self.sending.nxt = self.sending.una;
        self.sending.board.begin_repeats(self.sending.una);
        self.retransmit_at = None; // the repeat starts it
        self.again = why;
        self.doubt = None;
    }

    /// The retransmission timer ran out for the n-th time in a row.
    pub(super) fn suspect_black_hole(&mut self, context: &mut Context<'_>) {
        let Some(patience) = self.config.black_hole_timeouts else { return };
        let now_bytes = self.path_mtu_bytes(context.path);
        if let Suspicion::Trial { small_bytes, .. } = self.path_mtu.suspicion {
            // Small ones arrive, large ones do not.
            self.path_mtu.suspicion = Suspicion::None;
            self.stats.black_holes += 1;
            return self.limit_packets(small_bytes, context);
        }
        if self.timeouts > 0 && self.timeouts.is_multiple_of(patience.max(1)) {
            let floor = floor_bytes(self.names.way);
            let next = SUSPICIONS.into_iter().find(|&bytes| bytes < now_bytes && bytes >= floor);
            if let Some(bytes) = next {
                self.path_mtu.suspicion = Suspicion::Small(bytes);
                self.update_mss(context.path);
            }
        }
    }

    /// Something new was acknowledged.
    pub(super) fn on_path_works(&mut self, path: &Path) {
        match self.path_mtu.suspicion {
            Suspicion::Small(small_bytes) => {
                let until = self.sending.nxt + self.mss_bytes + 1;
                self.path_mtu.suspicion = Suspicion::Trial { small_bytes, until };
                self.update_mss(path);
            }
            Suspicion::Trial { until, .. } if self.sending.una >= until => {
                self.path_mtu.suspicion = Suspicion::None;
            }
            _ => {}
        }
    }

    /// What was learnt long ago may have changed: the full size is tried again.
    pub(super) fn forget_path_mtu(&mut self, context: &Context<'_>) {
        let is_old = |&(_, since): &(u32, Instant)| context.now.since(since) >= LEARNT_FOR_NS;
        if self.path_mtu.learnt.as_ref().is_some_and(is_old) {
            self.path_mtu.learnt = None;
            self.update_mss(context.path);
        }
    }
}
