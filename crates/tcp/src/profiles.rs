//! Profiles of SCPS-TP: for a user, the reference implementation's, and the tables of the paper.

use skyhaul_congestion::ControllerKind;
use skyhaul_core::{MS, SECOND, Verdict};

use crate::ack_policy::AckPolicy;
use crate::config::{Config, Keepalive, Recovery};
use crate::scps::{Scps, Snack};

impl Config {
    /// Profile of SCPS-TP for a user; to a plain peer [`Self::standard`].
    pub fn scps_tp() -> Self {
        Self { scps: Some(Scps::standard()), ..Self::standard() }
    }

    /// SCPS-TP with the constants of the public reference implementation, as far as they have a place here
    /// (`docs/spec/scps-tp.md`).
    pub fn scps_reference() -> Self {
        let scps = Scps {
            pacing_percent: None,
            starts_each_round: true,
            ack_policy: AckPolicy::Reduced { every_packets: 2, delay_ns: 200 * MS },
            max_snacks: 1,
            ..Scps::short()
        };
        Self {
            send_limit_bytes: 32_768,
            receive_limit_bytes: 32_768,
            initial_rto_ns: 6 * SECOND,
            min_rto_ns: 250 * MS,
            rto_margin_ns: 0,
            max_rto_ns: 64 * SECOND,
            max_repeats: 32,
            ecn: false,
            black_hole_timeouts: None,
            keepalive: Some(Keepalive { idle_ns: 900 * SECOND, interval_ns: 75 * SECOND, max_questions: 8 }),
            ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 200 * MS },
            scps: Some(scps),
            ..Self::standard()
        }
    }

    /// Asymmetry tests of the paper [SCPS-TP Table 1]: Vegas and a declared rate; acknowledgements take half
    /// of the way back, here as it is without asymmetry. Slow start ends at bandwidth times delay of the
    /// link, which the table does not say (`docs/deviations.md`).
    pub fn scps_asymmetry() -> Self {
        let scps = Scps {
            bandwidth_delay_bytes: Some(18_750),
            ack_policy: AckPolicy::ShareOfRate { rate_bps: 1_500_000, percent: 50 },
            ..Scps::short()
        };
        Self { rate_bps: Some(1_500_000), ..Self::scps_laboratory(scps) }
    }

    /// Corruption tests of the paper [SCPS-TP Table 2]: no control of congestion, all losses are damage.
    pub fn scps_corruption() -> Self {
        let ack_policy = AckPolicy::Reduced { every_packets: u32::MAX, delay_ns: 69 * MS };
        let scps = Scps { ack_policy, ..Scps::uncontrolled() };
        Self { rate_bps: Some(1_425_000), ..Self::scps_laboratory(scps) }
    }

    /// Bent-pipe test of the paper [SCPS-TP Table 3], with its segments of 1000 octets.
    pub fn scps_bent_pipe() -> Self {
        let ack_policy = AckPolicy::PerRoundTrip { acks: 2 };
        Self {
            mss_bytes: 1000,
            rate_bps: Some(256_000),
            send_limit_bytes: 71_929,
            receive_limit_bytes: 69_881,
            timestamps: true,
            scps: Some(Scps { ack_policy, compression: true, ..Scps::uncontrolled() }),
            ..Self::scps_laboratory(Scps::uncontrolled())
        }
    }

    /// Test on board of a spacecraft [SCPS-TP Table 4], with both extensions that its figure compares. No
    /// timer is to run out within a round trip of 8 s.
    pub fn scps_on_board() -> Self {
        let ack_policy = AckPolicy::PerRoundTrip { acks: 1 };
        Self {
            mss_bytes: 50,
            rate_bps: Some(1000),
            send_limit_bytes: 19_712,
            receive_limit_bytes: 69_880,
            initial_rto_ns: 20 * SECOND,
            scps: Some(Scps { ack_policy, compression: true, ..Scps::uncontrolled() }),
            ..Self::scps_laboratory(Scps::uncontrolled())
        }
    }

    /// What the tests of the paper have in common: no timestamps, as the TCP beside it, segments of 512
    /// octets, and to whoever tells no holes the repairs of its time.
    fn scps_laboratory(scps: Scps) -> Self {
        Self {
            mss_bytes: 512,
            recovery: Recovery::NewReno,
            send_limit_bytes: 300_000,
            receive_limit_bytes: 300_000,
            timestamps: false,
            ecn: false,
            black_hole_timeouts: None,
            scps: Some(scps),
            ..Self::standard()
        }
    }

    /// The profile of SCPS-TP of this name.
    pub fn scps_profile(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::scps_tp()),
            "reference" => Some(Self::scps_reference()),
            "asymmetry" => Some(Self::scps_asymmetry()),
            "corruption" => Some(Self::scps_corruption()),
            "bent-pipe" => Some(Self::scps_bent_pipe()),
            "on-board" => Some(Self::scps_on_board()),
            _ => None,
        }
    }
}

impl Scps {
    /// Holes in options of six octets, as many as fit: all that was in service.
    fn short() -> Self {
        Self { snack: Snack::Short, ..Self::standard() }
    }

    /// No control of congestion, and losses that are damage.
    fn uncontrolled() -> Self {
        Self {
            controller: ControllerKind::Off,
            pacing_percent: None,
            loss_cause: Verdict::Corruption,
            ..Self::short()
        }
    }
}
