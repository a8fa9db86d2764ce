//! Profiles of SCPS-TP.

use skyhaul_congestion::ControllerKind;
use skyhaul_core::{MS, SECOND, Verdict};

use crate::ack_policy::AckPolicy;
use crate::config::{Config, Keepalive};
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
            controller: ControllerKind::Vegas,
            pacing_percent: None,
            ack_policy: AckPolicy::Reduced { every_packets: 2, delay_ns: 200 * MS },
            loss_cause: Verdict::Congestion,
            snack: Snack::Short,
            max_snacks: 1,
            compression: false,
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

    /// The profile of SCPS-TP of this name.
    pub fn scps_profile(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::scps_tp()),
            "reference" => Some(Self::scps_reference()),
            _ => None,
        }
    }
}
