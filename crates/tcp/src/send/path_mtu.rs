//! Largest packet that the path takes: learnt from routers [RFC 1191, RFC 8201], and, where none says
//! anything, from large segments that vanish while small ones arrive [RFC 8899 4.3].

use skyhaul_core::{Instant, SECOND};

use crate::config::Config;
use crate::scps::MIN_MTU_BYTES as MIN_SCPS_MTU_BYTES;

/// Time after which larger packets are tried again [RFC 1191 6.3, RFC 8201 5.3].
pub(crate) const LEARNT_FOR_NS: u64 = 600 * SECOND;
/// Smallest packet that plain TCP cuts for IPv4: links below it are history.
pub(super) const MIN_IPV4_BYTES: u32 = 296;
/// Size that every link takes [RFC 791 3.2]: a router that says less cannot be right.
const MIN_TOLD_IPV4_BYTES: u32 = 68;
/// Size that every link takes [RFC 8200 5].
const MIN_IPV6_BYTES: u32 = 1280;
/// Usual sizes, for routers that do not tell theirs [RFC 1191 7].
const PLATEAUS: [u32; 8] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508];
/// Sizes that are tried when large packets seem to vanish [RFC 8899 5.1.2, RFC 9293 3.7.1].
const SUSPICIONS: [u32; 2] = [1280, 576];

/// Knowledge beyond the first link's MTU.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathMtu {
    is_ipv4: bool,
    /// Smallest packet that is cut.
    floor_bytes: u32,
    /// Largest packet, and since when that is known.
    learnt: Option<(u32, Instant)>,
    suspicion: Suspicion,
}

/// Suspicion that large packets vanish somewhere without a word.
#[derive(Clone, Copy, Debug)]
enum Suspicion {
    None,
    /// Nothing larger than this is sent until something arrives.
    Small(u32),
    /// Something did, so it may have been an outage: full size is tried until this number is acknowledged,
    /// and the smaller size comes back at once if that fails.
    Trial {
        small_bytes: u32,
        until: u64,
    },
}

/// Conclusion from timeouts in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlackHole {
    /// Nothing points to one.
    No,
    /// Smaller packets are tried from now on.
    Suspected,
    /// Small packets arrive, large ones do not: this size is the largest.
    Found(u32),
}

impl Config {
    /// Smallest packet that is cut, and thus the least that a first link must take, over IPv4 or IPv6.
    pub const fn min_mtu_bytes(&self, is_ipv4: bool) -> u32 {
        match (is_ipv4, self.scps.is_some()) {
            (false, _) => MIN_IPV6_BYTES,
            (true, false) => MIN_IPV4_BYTES,
            (true, true) => MIN_SCPS_MTU_BYTES,
        }
    }
}

impl PathMtu {
    pub(super) fn new(is_ipv4: bool, config: &Config) -> Self {
        let floor_bytes = config.min_mtu_bytes(is_ipv4);
        Self { is_ipv4, floor_bytes, learnt: None, suspicion: Suspicion::None }
    }

    /// Largest packet to send, where the first link takes `link_bytes`.
    pub(super) fn packet_bytes(&self, link_bytes: u32) -> u32 {
        let learnt = self.learnt.map_or(u32::MAX, |(bytes, _)| bytes);
        let small = if let Suspicion::Small(bytes) = self.suspicion { bytes } else { u32::MAX };
        link_bytes.min(learnt).min(small)
    }

    /// Smallest packet that is cut.
    pub(super) fn floor_bytes(&self) -> u32 {
        self.floor_bytes
    }

    /// Packet size that a router's word leads to; `None`: it cannot be true, or tells nothing new.
    pub(super) fn believed_bytes(&self, told_bytes: u32, now_bytes: u32) -> Option<u32> {
        let floor = self.floor_bytes();
        let least = if self.is_ipv4 { MIN_TOLD_IPV4_BYTES } else { floor };
        let told = match told_bytes {
            0 => PLATEAUS.into_iter().find(|&plateau| plateau < now_bytes).unwrap_or(floor),
            told => told,
        };
        (told >= least).then_some(told.max(floor)).filter(|&believed| believed < now_bytes)
    }

    /// Nothing larger is sent from now on.
    pub(super) fn learn(&mut self, bytes: u32, now: Instant) {
        self.learnt = Some((bytes, now));
    }

    /// Forgets what was learnt long ago, as the path may have changed; true if there was such.
    pub(super) fn forget_old(&mut self, now: Instant) -> bool {
        let is_old = self.learnt.is_some_and(|(_, since)| now.since(since) >= LEARNT_FOR_NS);
        if is_old {
            self.learnt = None;
        }
        is_old
    }

    /// The retransmission timer ran out for the `timeouts`-th time in a row, with packets of `now_bytes` at
    /// most; every `patience` timeouts smaller ones are tried.
    pub(super) fn on_timeout(&mut self, timeouts: u32, patience: u32, now_bytes: u32) -> BlackHole {
        if let Suspicion::Trial { small_bytes, .. } = self.suspicion {
            self.suspicion = Suspicion::None;
            return BlackHole::Found(small_bytes);
        }
        if timeouts == 0 || !timeouts.is_multiple_of(patience.max(1)) {
            return BlackHole::No;
        }
        let floor = self.floor_bytes();
        match SUSPICIONS.into_iter().find(|&bytes| bytes < now_bytes && bytes >= floor) {
            Some(bytes) => {
                self.suspicion = Suspicion::Small(bytes);
                BlackHole::Suspected
            }
            None => BlackHole::No,
        }
    }

    /// Everything below `una` is acknowledged, and the next full segment ends below `until`. True if full
    /// size is tried again.
    pub(super) fn on_answer(&mut self, una: u64, until: u64) -> bool {
        match self.suspicion {
            Suspicion::Small(small_bytes) => {
                self.suspicion = Suspicion::Trial { small_bytes, until };
                true
            }
            Suspicion::Trial { until, .. } if una >= until => {
                self.suspicion = Suspicion::None;
                false
            }
            _ => false,
        }
    }
}
