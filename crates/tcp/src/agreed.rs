//! Extensions that the two SYNs agree on.

use core::num::NonZeroU8;

use crate::accelerated::PADDED_COUNT_BYTES;
use crate::config::Config;
use crate::scps::{SnackTerms, SnackUnit, Terms, compress};
use crate::segment::{HEADER_BYTES, Segment, flags};

/// Largest shift of a window [RFC 7323 2.3].
const MAX_SHIFT: u8 = 14;
/// Payload that every peer takes if it does not say otherwise [RFC 9293 3.7.1].
const DEFAULT_MSS: u16 = 536;
/// Smallest payload of a full segment, whatever a peer asks for: tiny ones would be all header.
pub const MIN_MSS_BYTES: u16 = 88;
/// As much where SCPS-TP is offered: the packets of a spacecraft had 90 octets [SCPS-TP 6.3].
pub const MIN_SCPS_MSS_BYTES: u16 = 32;
/// Both bits of ECN's negotiation [RFC 3168 6.1.1].
pub(crate) const ECN_SETUP: u8 = flags::ECE | flags::CWR;

/// Extensions in force, and what the peer said of its limits. Settled by the peer's SYN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    /// Shift of the windows that the peer tells.
    pub(crate) send_shift: u8,
    /// Shift of the windows that we tell.
    pub(crate) receive_shift: u8,
    /// Both scale their windows.
    pub(crate) scales: bool,
    /// Both speak of selective acknowledgements.
    pub(crate) sack: bool,
    /// Both stamp their segments.
    pub(crate) timestamps: bool,
    /// Both know marks of routers.
    pub(crate) ecn: bool,
    /// Largest payload that the peer takes, options counted.
    peer_mss: u16,
    /// Both speak SCPS-TP.
    pub(crate) scps: Option<Terms>,
    /// Both count connections in every segment.
    pub(crate) counts: bool,
}

impl Agreed {
    /// State before the peer's SYN.
    pub(crate) const NOTHING: Self = Self {
        send_shift: 0,
        receive_shift: 0,
        scales: false,
        sack: false,
        timestamps: false,
        ecn: false,
        peer_mss: u16::MAX,
        scps: None,
        counts: false,
    };

    /// Agreement that follows from the peer's SYN. `offers_ecn`: our own SYN asked for ECN, or answers this
    /// one.
    pub(crate) fn learn(config: &Config, syn: &Segment<'_>, offers_ecn: bool) -> Self {
        let options = &syn.options;
        let scale = options.window_scale.filter(|_| config.window_scale);
        // One that says both with ACK merely mirrors ours [RFC 3168 6.1.1].
        let expected = if syn.has(flags::ACK) { flags::ECE } else { ECN_SETUP };
        Self {
            send_shift: scale.map_or(0, |shift| shift.min(MAX_SHIFT)),
            receive_shift: scale.map_or(0, |_| shift_for(config.receive_limit_bytes)),
            scales: scale.is_some(),
            sack: options.sack_permitted && config.recovery.wants_sack(),
            timestamps: options.timestamps.is_some() && config.timestamps,
            ecn: config.wants_ecn() && offers_ecn && syn.flags & ECN_SETUP == expected,
            peer_mss: options.mss.unwrap_or(DEFAULT_MSS),
            scps: None,
            counts: false,
        }
    }

    /// Agreement on SCPS-TP, too, where that is offered in an opening with `our_mss` and a `number` for
    /// compressed headers. Where holes are told, selective acknowledgements are not.
    pub(crate) fn with_scps(
        self,
        config: &Config,
        our_mss: u16,
        number: Option<NonZeroU8>,
        syn: &Segment<'_>,
    ) -> Self {
        let Some(offered) = &config.scps else { return self };
        let taken_bytes = match offered.snack_unit {
            SnackUnit::Payload => self.timestamp_bytes() as u64,
            SnackUnit::Mss => 0,
        };
        let unit_bytes = u64::from(our_mss.min(self.peer_mss)).saturating_sub(taken_bytes);
        let scps = Terms::agree(offered.offer(number), &syn.options.extra, unit_bytes);
        let told = scps.is_some_and(|terms| terms.snack.is_some());
        Self { scps, sack: self.sack && !told, ..self }
    }

    /// Number that the peer announced for compressed headers, if both ends agree on such.
    pub(crate) fn peer_number(self) -> Option<NonZeroU8> {
        self.scps.and_then(|terms| terms.peer_number)
    }

    /// Terms by which receivers tell holes, if they do.
    pub(crate) fn snack(self) -> Option<SnackTerms> {
        self.scps.and_then(|terms| terms.snack)
    }

    /// True if receivers tell more than a number in sequence.
    pub(crate) fn is_selective(self) -> bool {
        self.sack || self.snack().is_some()
    }

    /// Agreement after a peer repeats its SYN: where that asks for ECN no more, there is none
    /// [RFC 3168 6.1.1.1].
    pub(crate) fn after_repeat(self, syn: &Segment<'_>) -> Self {
        Self { ecn: self.ecn && syn.has(ECN_SETUP), ..self }
    }

    /// Agreement on a largest segment alone.
    pub(crate) fn without_options(self) -> Self {
        Self { peer_mss: self.peer_mss, ..Self::NOTHING }
    }

    /// Bytes that we hold for the peer at most: what a window can tell.
    pub(crate) fn receive_limit_bytes(self, config: &Config) -> u64 {
        let limit_bytes = config.receive_limit_bytes;
        if self.scales { limit_bytes } else { limit_bytes.min(0xFFFF) }.max(1)
    }

    /// True if the handshake could not tell all of our window, as no SYN can, and acknowledgements are rare:
    /// a sender at a declared rate would stand still for want of it.
    pub(crate) fn tells_window_late(self, config: &Config) -> bool {
        self.scps.is_some() && self.receive_limit_bytes(config) > 0xFFFF
    }

    /// Payload of a full segment without SACK blocks, where path and configuration leave `room_bytes`.
    pub(crate) fn payload_bytes(self, room_bytes: u64, config: &Config) -> u64 {
        let least = if config.scps.is_some() { MIN_SCPS_MSS_BYTES } else { MIN_MSS_BYTES };
        let mss_bytes = room_bytes.min(u64::from(self.peer_mss)).max(u64::from(least));
        // A compressed header leaves more of a packet that is as long as a plain one.
        (HEADER_BYTES as u64 + mss_bytes).saturating_sub(self.data_header_bytes() as u64).max(1)
    }

    /// Bytes of the header of data that carries nothing else: its number alone, where headers are compressed.
    pub(crate) fn data_header_bytes(self) -> usize {
        match self.peer_number() {
            Some(_) if !self.counts => compress::data_header_bytes(self.timestamps),
            _ => HEADER_BYTES + self.option_bytes(),
        }
    }

    /// Largest payload that the peer takes, options counted.
    pub(crate) fn peer_mss(self) -> u16 {
        self.peer_mss
    }

    /// Bytes that timestamps take of every segment.
    pub(crate) fn timestamp_bytes(self) -> usize {
        if self.timestamps { 12 } else { 0 }
    }

    /// Bytes of the options that every segment has.
    pub(crate) fn option_bytes(self) -> usize {
        self.timestamp_bytes() + if self.counts { PADDED_COUNT_BYTES } else { 0 }
    }
}

/// Smallest shift that can tell a window of `limit_bytes`.
pub(crate) fn shift_for(limit_bytes: u64) -> u8 {
    (0..MAX_SHIFT).find(|shift| limit_bytes >> shift <= 0xFFFF).unwrap_or(MAX_SHIFT)
}
