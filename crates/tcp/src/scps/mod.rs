//! SCPS-TP: extensions of TCP for links of space [SCPS-TP 3]. What comes from where, and what is our choice,
//! is in `docs/spec/scps-tp.md`.

mod capabilities;
pub mod compress;
#[cfg(test)]
mod compress_tests;
mod damage;
mod numbers;
#[cfg(test)]
mod numbers_tests;
mod records;
mod requests;
mod snack;
#[cfg(test)]
mod snack_tests;
mod telling;

use core::num::NonZeroU8;

use skyhaul_congestion::{ControllerKind, VegasConfig};
use skyhaul_core::Verdict;

use crate::ack_policy::AckPolicy;
use crate::segment::ExtraOptions;
pub use capabilities::{Capabilities, facility};
pub(crate) use damage::Damage;
pub(crate) use numbers::Numbers;
pub use records::RecordPart;
pub(crate) use records::{MAX_UNACKNOWLEDGED, MAX_UNREAD, RecordEnds};
pub(crate) use requests::{Said, read};
pub use snack::SnackOption;
pub(crate) use telling::Teller;

/// Kind of the option of capabilities.
pub const CAPABILITIES: u8 = 20;
/// Kind of the selective negative acknowledgement.
pub const SNACK: u8 = 21;
/// Kind of the mark behind a record.
pub const RECORD: u8 = 22;
/// Kind of "corruption experienced".
pub const CORRUPTION: u8 = 23;

/// Smallest packet that is cut where SCPS-TP is spoken: those of a spacecraft had 90 octets [SCPS-TP 6.3].
/// All options of a header have room in it.
pub(crate) const MIN_MTU_BYTES: u32 = 90;

/// Repeats after which a sender that need not deliver all gives up, as in the reference implementation.
const BEST_EFFORT_REPEATS: u32 = 20;

/// Number of a connection whose headers are never compressed, as zero stands for none.
const UNCOMPRESSED_ID: u8 = 1;

/// Form in which a receiver may be told of holes [SCPS-TP 3.3.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snack {
    /// Not at all.
    Off,
    /// One hole an option, of 6 octets: all that is in service.
    Short,
    /// With a vector of blocks behind the hole, where both ends offer it.
    Vector,
}

/// Unit of what receivers tell of holes. Both ends count in the same, and no option says in which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnackUnit {
    /// What a segment really carries, without what timestamps take of it, as in the reference implementation.
    Payload,
    /// The largest segment [SCPS-TP 3.3.2].
    Mss,
}

/// Parameters of SCPS-TP, in force where the peer agrees to it. To a plain peer the rest of the configuration
/// speaks, as if there were none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scps {
    /// Controller of the congestion window; [`ControllerKind::Off`]: the declared rate alone decides.
    pub controller: ControllerKind,
    /// Pacing rate over congestion window per round trip, in percent, in slow start and in avoidance. At 100
    /// segments come as long as there is a window, so that each acknowledgement tells of one that has just
    /// come; where a burst waits for it, Vegas takes that for a queue [SCPS-TP 6.1.1].
    pub pacing_percent: Option<(u64, u64)>,
    /// The slow start of Vegas doubles every round trip; else every other one [SCPS-TP 3.1.1].
    pub starts_each_round: bool,
    /// Vegas goes by the segments that are timed; else by the newest one that arrived.
    pub times_segments: bool,
    /// Bandwidth times delay of the path, where slow start ends at the latest [SCPS-TP 3.1.1]; `None`: it
    /// is not known.
    pub bandwidth_delay_bytes: Option<u64>,
    /// Policy of acknowledging.
    pub ack_policy: AckPolicy,
    /// Cause of losses where nobody says otherwise [SCPS-TP 3.1].
    pub loss_cause: Verdict,
    /// Form of negative acknowledgements.
    pub snack: Snack,
    /// Negative acknowledgements in a segment at most; what fits bounds them, too.
    pub max_snacks: u8,
    /// Unit of offsets, sizes and blocks.
    pub snack_unit: SnackUnit,
    /// What is asked for goes again at once, however lately it did [SCPS-TP 3.3.2]; else once in a smoothed
    /// round trip at most, as in the reference implementation.
    pub repeats_each_request: bool,
    /// Headers are compressed. Segments then have IP protocol 105, which is lost where something on the way
    /// passes TCP and UDP alone.
    pub compression: bool,
    /// Best effort transport service is asked for, and this is the time for which the receiver waits for what
    /// is missing before something that has come. Then that goes to the application, which is told of the gap
    /// ([`skyhaul_core::Connections::next_gap`]). `None`: everything arrives, or the connection ends. Only
    /// with negative acknowledgements.
    pub best_effort_ns: Option<u64>,
    /// Timeouts that a segment may meet in a row; at the next one a sender of that service takes it for
    /// acknowledged.
    pub best_effort_repeats: u32,
    /// Source quench of routers is a mark of congestion [SCPS-TP 3.1.1]. Anybody who guesses a number that is
    /// under way can send one.
    pub source_quench: bool,
}

impl Scps {
    /// Profile for a user: several negative acknowledgements a segment, with vectors, eight acknowledgements
    /// a round trip; losses are congestion.
    pub fn standard() -> Self {
        Self {
            controller: ControllerKind::Vegas,
            pacing_percent: Some((100, 100)),
            starts_each_round: false,
            times_segments: false,
            bandwidth_delay_bytes: None,
            ack_policy: AckPolicy::PerRoundTrip { acks: 8 },
            loss_cause: Verdict::Congestion,
            snack: Snack::Vector,
            max_snacks: 6,
            snack_unit: SnackUnit::Payload,
            repeats_each_request: false,
            compression: false,
            best_effort_ns: None,
            best_effort_repeats: BEST_EFFORT_REPEATS,
            source_quench: false,
        }
    }

    /// Choices of Vegas.
    pub(crate) fn vegas(&self) -> VegasConfig {
        VegasConfig { doubles_each_round: self.starts_each_round, times_segments: self.times_segments }
    }

    /// Offer of our SYN, of a connection that has this number for compressed headers.
    pub(crate) fn offer(&self, number: Option<NonZeroU8>) -> Capabilities {
        let compressed = number.map_or(0, |_| facility::COMPRESSION);
        let snacks = match self.snack {
            Snack::Off => 0,
            Snack::Short => facility::SNACK,
            Snack::Vector => facility::SNACK | facility::SNACK_VECTOR,
        };
        // A receiver that tells no holes leaves it open what became of a segment.
        let best_effort = if snacks == 0 { None } else { self.best_effort_ns };
        let best_effort = best_effort.map_or(0, |_| facility::BETS);
        Capabilities {
            facilities: snacks | compressed | best_effort,
            connection_id: number.map_or(UNCOMPRESSED_ID, NonZeroU8::get),
        }
    }
}

/// Terms of negative acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnackTerms {
    /// Unit of offsets, sizes and blocks: the lesser MSS of both SYNs, without what timestamps take unless
    /// [`SnackUnit`] says otherwise.
    pub(crate) unit_bytes: u64,
    /// Both know vectors.
    pub(crate) has_vector: bool,
}

/// Agreement of both ends, as an application sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Form in which receivers tell holes.
    pub snack: Snack,
    /// Headers are compressed.
    pub compression: bool,
    /// What stays missing is given up.
    pub best_effort: bool,
}

/// Terms that both SYNs lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// `None`: at least one end knows no negative acknowledgements.
    pub(crate) snack: Option<SnackTerms>,
    /// Number that the peer announced; `None`: headers are not compressed.
    pub(crate) peer_number: Option<NonZeroU8>,
    /// What stays missing is given up, both ways.
    pub(crate) best_effort: bool,
}

impl Terms {
    /// Terms of our `offer` and the peer's SYN; `None`: the peer speaks plain TCP [SCPS-TP 3]. A facility
    /// counts if both set its bit. `unit_bytes`: what both count in.
    pub(crate) fn agree(offer: Capabilities, syn: &ExtraOptions, unit_bytes: u64) -> Option<Self> {
        let theirs = Capabilities::find(syn)?;
        let both = offer.facilities & theirs.facilities;
        let has_vector = both & facility::SNACK_VECTOR != 0;
        let is_told = has_vector || both & facility::SNACK != 0;
        let snack = is_told.then_some(SnackTerms { unit_bytes: unit_bytes.max(1), has_vector });
        let peer_number = theirs.number().filter(|_| both & facility::COMPRESSION != 0);
        let best_effort = is_told && both & facility::BETS != 0;
        Some(Self { snack, peer_number, best_effort })
    }

    /// Agreement, as an application sees it.
    pub(crate) fn agreement(self) -> Agreement {
        let snack = match self.snack {
            None => Snack::Off,
            Some(SnackTerms { has_vector: false, .. }) => Snack::Short,
            Some(SnackTerms { has_vector: true, .. }) => Snack::Vector,
        };
        Agreement { snack, compression: self.peer_number.is_some(), best_effort: self.best_effort }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syn(options: &[&[u8]]) -> ExtraOptions {
        let mut extra = ExtraOptions::default();
        assert!(options.iter().all(|value| extra.push(CAPABILITIES, value)));
        extra
    }

    #[test]
    fn a_facility_counts_if_both_set_its_bit() {
        let agree = |snack, bits| {
            let offer = Scps { snack, ..Scps::standard() }.offer(None);
            let snack = Terms::agree(offer, &syn(&[&[bits, 9]]), 500).unwrap().snack;
            snack.map(|SnackTerms { unit_bytes, has_vector }| (unit_bytes, has_vector))
        };
        assert_eq!(agree(Snack::Vector, 0xFF), Some((500, true)));
        assert_eq!(agree(Snack::Vector, 0x20), Some((500, true)));
        assert_eq!(agree(Snack::Vector, 0x40), Some((500, false)));
        assert_eq!(agree(Snack::Short, 0x60), Some((500, false)));
        assert_eq!(agree(Snack::Short, 0x20), None);
        assert_eq!(agree(Snack::Off, 0xFF), None);
        assert_eq!(agree(Snack::Vector, 0x9F), None);
    }

    #[test]
    fn the_best_effort_service_counts_where_both_ask_for_it_and_holes_are_told() {
        let agree = |best_effort_ns, snack, bits| {
            let offer = Scps { snack, best_effort_ns, ..Scps::standard() }.offer(None);
            let terms = Terms::agree(offer, &syn(&[&[bits, 9]]), 500).unwrap();
            (offer.facilities & facility::BETS != 0, terms.agreement().best_effort)
        };
        assert_eq!(agree(None, Snack::Vector, 0xFF), (false, false), "nobody asked for it here");
        assert_eq!(agree(Some(1), Snack::Vector, 0xFF), (true, true));
        assert_eq!(agree(Some(1), Snack::Short, 0xC0), (true, true));
        assert_eq!(agree(Some(1), Snack::Vector, 0x7F), (true, false), "nor there");
        assert_eq!(agree(Some(1), Snack::Vector, 0x80), (true, false), "no holes would be told");
        assert_eq!(agree(Some(1), Snack::Off, 0xFF), (false, false));
    }

    #[test]
    fn without_option_20_there_is_plain_tcp_and_extended_blocks_are_skipped() {
        let offer = Scps::standard().offer(None);
        assert_eq!(Terms::agree(offer, &ExtraOptions::default(), 500), None);
        let block: &[u8] = &[7, 0x10, 0xAB, 0xCD];
        assert_eq!(Terms::agree(offer, &syn(&[block]), 500), None, "a block alone says nothing that counts");
        let found = Terms::agree(offer, &syn(&[block, &[0x40, 3], &[0x60, 4]]), 500).unwrap();
        assert!(!found.snack.unwrap().has_vector, "of two the first counts");
    }
}
