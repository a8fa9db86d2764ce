//! Tunables of a connection, and the named profiles.

use alloc::sync::Arc;
use core::fmt;

use skyhaul_congestion::{ControllerConfig, ControllerKind, Counting, IdleRestart, VegasConfig};
use skyhaul_core::{DeclaredRate, MS, SECOND};

use crate::accelerated::AcceleratedOpen;
use crate::ack_policy::AckPolicy;
use crate::explicit::ExplicitConfig;
use crate::loss::LossJudge;
use crate::route::Routes;
use crate::scps::Scps;

/// Repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast recovery ends with the first new acknowledgement [RFC 2581 3.2]: a second loss of the same
    /// window waits for the timer.
    Reno,
    /// Partial acknowledgements repeat one segment each [RFC 6582].
    NewReno,
    /// Selective acknowledgements where the peer agrees, NewReno elsewhere [RFC 2018, 6675].
    Sack,
    /// With these, losses are found by the time of sending, those of repeats, too, and the last segments are
    /// probed [RFC 8985]; NewReno elsewhere.
    Rack,
}

impl Recovery {
    /// True if selective acknowledgements are wanted.
    pub(crate) fn wants_sack(self) -> bool {
        matches!(self, Self::Sack | Self::Rack)
    }
}

/// Questions to a silent peer, whether it is still there [RFC 9293 3.8.4].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first question; two hours at least, says the standard, unless the application
    /// knows.
    pub idle_ns: u64,
    /// From a question to the next one.
    pub interval_ns: u64,
    /// Unanswered questions after which the connection fails.
    pub max_questions: u32,
}

/// Parameters of a connection.
#[derive(Clone)]
pub struct Config {
    /// Largest payload sent, and asked for; the path's MTU and the peer may lower it. Less than
    /// [`MIN_MSS_BYTES`](crate::MIN_MSS_BYTES), or [`MIN_SCPS_MSS_BYTES`](crate::MIN_SCPS_MSS_BYTES) where
    /// SCPS-TP is offered, counts as that.
    pub mss_bytes: u16,
    /// First congestion window in segments; `None`: 10, at most 14 600 bytes or 2 segments [RFC 6928 2].
    pub initial_window_packets: Option<u64>,
    /// Controller of the congestion window.
    pub controller: ControllerKind,
    /// Pacing rate over congestion window per round trip, in percent, in slow start and in avoidance. `None`:
    /// segments leave as the window lets them. A controller with a rate of its own paces in any case.
    pub pacing_percent: Option<(u64, u64)>,
    /// Declared rate of the path: every IP byte that this end sends to that peer, by whichever connection, is
    /// charged to it. A bound, not a controller: the congestion window holds, too. `None`: windows decide
    /// alone.
    pub rate_bps: Option<u64>,
    /// Time that a sender at a declared rate catches up when it wakes up late.
    pub budget_burst_ns: u64,
    /// CUBIC's first slow start ends early, as the Linux kernel's does (`HyStart`).
    pub hystart: bool,
    /// Unit in which acknowledgements make the congestion window grow.
    pub counting: Counting,
    /// Repair of losses.
    pub recovery: Recovery,
    /// With SACK, a repair sends in proportion to what arrives [RFC 6937]; without, all that the halved
    /// window leaves goes at once [RFC 6675 5].
    pub rate_reduction: bool,
    /// The first two duplicate acknowledgements release a new segment each [RFC 3042].
    pub limited_transmit: bool,
    /// A silence of one retransmission timeout brings the first window back [RFC 5681 4.1].
    pub idle_restart: bool,
    /// Most application bytes held for sending, acknowledged or not.
    pub send_limit_bytes: u64,
    /// Most application bytes held for reading or reassembly: the largest window advertised.
    pub receive_limit_bytes: u64,
    /// Ask for window scaling [RFC 7323 2]; without, windows end at 65 535 bytes.
    pub window_scale: bool,
    /// Ask for timestamps [RFC 7323 3].
    pub timestamps: bool,
    /// Unit of the timestamps, at least 1.
    pub timestamp_tick_ns: u64,
    /// Round trips are measured, and the retransmission timer runs out, in multiples of this, counted from
    /// time zero [RFC 6298 4]; 0: exactly.
    pub timer_granularity_ns: u64,
    /// Retransmission timeout before the first round trip was measured [RFC 6298 2.1].
    pub initial_rto_ns: u64,
    /// Shortest retransmission timeout [RFC 6298 2.4].
    pub min_rto_ns: u64,
    /// The retransmission timeout is at least so much longer than the smoothed round trip and, unless this is
    /// 0, than the last one, however little they vary: a queue that fills adds to it faster than samples
    /// tell. The Linux kernel's is 200 ms.
    pub rto_margin_ns: u64,
    /// Longest retransmission timeout, and longest wait between window probes [RFC 6298 2.5].
    pub max_rto_ns: u64,
    /// Policy of acknowledging.
    pub ack_policy: AckPolicy,
    /// The peer's SYN and its end are acknowledged by segments of their own, in front of what goes with them:
    /// so hosts do whose applications write, and end, once they are woken.
    pub bare_acks: bool,
    /// Ask for explicit congestion notification, and agree to it [RFC 3168].
    pub ecn: bool,
    /// Hold back a small segment while data is unacknowledged [RFC 9293 3.7.4].
    pub nagle: bool,
    /// Repeats of SYN before connecting fails.
    pub max_syn_repeats: u32,
    /// Timeouts in a row, or unanswered window probes, before the connection fails [RFC 9293 3.8.3].
    pub max_repeats: u32,
    /// A peer that answers nothing of what is under way, an opening included, is given up after so long
    /// without a sign of life [RFC 9293 3.8.3, RFC 5482]; `None`: [`Self::max_syn_repeats`] and
    /// [`Self::max_repeats`] decide alone. The sooner counts.
    pub user_timeout_ns: Option<u64>,
    /// Twice the longest life of a segment.
    pub time_wait_ns: u64,
    /// A connection that the application has let go of waits so long for the peer's end.
    pub fin_wait_ns: u64,
    /// After so many timeouts in a row (and every so many more) smaller segments are tried, for paths that
    /// drop large ones without a word [RFC 8899 4.3]; `None`: never.
    ///
    /// With [`Self::discover_mtu`] after two at most; to 1280 octets, or where no full segment ever arrived,
    /// after one.
    pub black_hole_timeouts: Option<u32>,
    /// After a black hole the largest packet that the path takes is found out, by segments of the data, and
    /// larger ones are tried again now and then [RFC 4821]. Only with SACK or SNACK. Without either the full
    /// size is tried once, and no other.
    pub discover_mtu: bool,
    /// Says what a loss is taken for; `None`: what the carrier said last, which is congestion unless told
    /// otherwise.
    pub loss_judge: Option<Arc<dyn LossJudge>>,
    /// Ask a peer that has long been silent; `None`: never.
    pub keepalive: Option<Keepalive>,
    /// SCPS-TP is offered and agreed to; these count where the peer agrees, too. `None`: plain TCP alone.
    pub scps: Option<Scps>,
    /// Routes that the endpoint goes by from the moment at which a connection with these parameters is
    /// opened, or, of those of accepted connections, from the beginning. None change nothing.
    pub routes: Routes,
    /// Openings carry data, where the peer agrees and what is known of it allows: the SYN waits for the
    /// application's first word then. An opening that is repeated may deliver its data twice.
    pub accelerated_open: Option<AcceleratedOpen>,
    /// Challenge acknowledgements a second [RFC 5961 7].
    pub max_challenges_per_s: u32,
    /// Explicit rate control.
    pub explicit: ExplicitConfig,
}

/// Shows the fields that are named, in this order.
macro_rules! show {
    ($to:expr, $config:expr, $($field:ident),+ $(,)?) => {{
        let Config {
            $($field,)+ max_challenges_per_s, discover_mtu, explicit, scps, routes, accelerated_open, bare_acks,
            user_timeout_ns,
        } = $config;
        let is_long = $to.alternate();
        let mut text = $to.debug_struct("Config");
        $(text.field(stringify!($field), $field);)+
        if !is_long {
            text.field("offered_options", &[(); 0]); // a field that is gone: digests keep it
        }
        text.field("max_challenges_per_s", max_challenges_per_s);
        if *discover_mtu || is_long {
            text.field("discover_mtu", discover_mtu);
        }
        if *bare_acks || is_long {
            text.field("bare_acks", bare_acks);
        }
        if user_timeout_ns.is_some() || is_long {
            text.field("user_timeout_ns", user_timeout_ns);
        }
        if *explicit != ExplicitConfig::default() || is_long {
            text.field("explicit", explicit);
        }
        if scps.is_some() || is_long {
            text.field("scps", scps);
        }
        if accelerated_open.is_some() || is_long {
            text.field("accelerated_open", accelerated_open);
        }
        if !routes.is_empty() || is_long {
            text.field("routes", routes);
        }
        text.finish()
    }};
}

impl fmt::Debug for Config {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something
    /// (and in the long form, which they are not made of).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show!(
            f,
            self,
            mss_bytes,
            initial_window_packets,
            controller,
            pacing_percent,
            rate_bps,
            budget_burst_ns,
            hystart,
            counting,
            recovery,
            rate_reduction,
            limited_transmit,
            idle_restart,
            send_limit_bytes,
            receive_limit_bytes,
            window_scale,
            timestamps,
            timestamp_tick_ns,
            timer_granularity_ns,
            initial_rto_ns,
            min_rto_ns,
            rto_margin_ns,
            max_rto_ns,
            ack_policy,
            ecn,
            nagle,
            max_syn_repeats,
            max_repeats,
            time_wait_ns,
            fin_wait_ns,
            black_hole_timeouts,
            loss_judge,
            keepalive,
        )
    }
}

impl Config {
    /// Profile that a user today should have.
    pub fn standard() -> Self {
        Self {
            mss_bytes: u16::MAX,
            initial_window_packets: None,
            controller: ControllerKind::Cubic,
            pacing_percent: None,
            rate_bps: None,
            budget_burst_ns: 10 * MS,
            hystart: true,
            counting: Counting::Bytes,
            recovery: Recovery::Rack,
            rate_reduction: true,
            limited_transmit: true,
            idle_restart: true,
            send_limit_bytes: 4 << 20,
            receive_limit_bytes: 4 << 20,
            window_scale: true,
            timestamps: true,
            timestamp_tick_ns: MS,
            timer_granularity_ns: 0,
            initial_rto_ns: SECOND,
            min_rto_ns: 200 * MS,
            rto_margin_ns: 200 * MS,
            max_rto_ns: 60 * SECOND,
            ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 40 * MS },
            ecn: true,
            nagle: true,
            max_syn_repeats: 6,
            max_repeats: 15,
            user_timeout_ns: None,
            time_wait_ns: 60 * SECOND,
            fin_wait_ns: 60 * SECOND,
            black_hole_timeouts: Some(3),
            discover_mtu: false,
            loss_judge: None,
            scps: None,
            routes: Routes::default(),
            accelerated_open: None,
            keepalive: None,
            bare_acks: false,
            max_challenges_per_s: 10,
            explicit: ExplicitConfig::default(),
        }
    }

    /// Time for which an opening is tried that nobody answers, before connecting fails: to a tick of the
    /// timers.
    pub fn opening_ns(&self) -> u64 {
        let longest_ns = self.max_rto_ns.max(self.min_rto_ns);
        let first_ns = self.initial_rto_ns.clamp(self.min_rto_ns, longest_ns);
        let timeout_ns = |doublings: u32| first_ns.saturating_mul(1 << doublings.min(20)).min(longest_ns);
        let tried_ns =
            (0..=self.max_syn_repeats).fold(0, |sum: u64, repeat| sum.saturating_add(timeout_ns(repeat)));
        self.user_timeout_ns.map_or(tried_ns, |ns| ns.min(tried_ns))
    }

    /// The regular TCP of the papers: a first window of one segment, timers of 500 ms that wait at least 1 s,
    /// acknowledgements delayed by 200 ms, neither SACK nor timestamps nor scaled windows nor ECN; NewReno.
    pub fn paper() -> Self {
        Self {
            mss_bytes: 1000,
            initial_window_packets: Some(1),
            controller: ControllerKind::Reno,
            counting: Counting::Acks,
            recovery: Recovery::NewReno,
            rate_reduction: false,
            limited_transmit: false,
            send_limit_bytes: 64_000,
            receive_limit_bytes: 64_000,
            window_scale: false,
            timestamps: false,
            timer_granularity_ns: 500 * MS,
            initial_rto_ns: 3 * SECOND,
            min_rto_ns: SECOND,
            rto_margin_ns: 0,
            max_rto_ns: 64 * SECOND,
            ack_policy: AckPolicy::Delayed { every_packets: 2, delay_ns: 200 * MS },
            ecn: false,
            black_hole_timeouts: None,
            ..Self::standard()
        }
    }

    /// SunOS 4.1.3, the "regular TCP" of the SCPS-TP paper: Reno, 512-byte segments, a window of 51 968
    /// bytes, acknowledgements that wait go at a host-wide tick of 200 ms.
    pub fn sunos_4_1_3() -> Self {
        Self {
            mss_bytes: 512,
            recovery: Recovery::Reno,
            ack_policy: AckPolicy::Heartbeat { every_packets: 2, tick_ns: 200 * MS },
            send_limit_bytes: 51_968,
            receive_limit_bytes: 51_968,
            ..Self::paper()
        }
    }

    /// TCP of the wires of a path that relays split, LTL: a window of 32 segments of 1000 bytes, each of
    /// which is acknowledged, with the timers of [`Self::paper`] [PETRA V].
    pub fn petra() -> Self {
        Self { receive_limit_bytes: 32_000, ack_policy: AckPolicy::Immediate, ..Self::paper() }
    }

    /// The profile of this name.
    pub fn profile(name: &str) -> Option<Self> {
        match name {
            "standard" => Some(Self::standard()),
            "paper" => Some(Self::paper()),
            "sunos-4.1.3" => Some(Self::sunos_4_1_3()),
            "petra" => Some(Self::petra()),
            _ => None,
        }
    }

    /// Parameters of SCPS-TP, if they are in force: the peer `agrees`.
    pub(crate) fn in_force(&self, agrees: bool) -> Option<&Scps> {
        self.scps.as_ref().filter(|_| agrees)
    }

    /// True if streams are to go on behind what is missing, where the peer wants that, too: whoever reads
    /// them asks for gaps ([`skyhaul_core::Connections::next_gap`]).
    pub fn leaves_gaps(&self) -> bool {
        self.scps.as_ref().is_some_and(|scps| scps.best_effort_ns.is_some())
    }

    /// True if compressed headers are offered.
    pub(crate) fn offers_compression(&self) -> bool {
        self.scps.as_ref().is_some_and(|scps| scps.compression)
    }

    /// Controller of the window.
    pub(crate) fn controller(&self, is_scps: bool) -> &ControllerKind {
        self.in_force(is_scps).map_or(&self.controller, |scps| &scps.controller)
    }

    /// Policy of acknowledging.
    pub(crate) fn ack_policy(&self, is_scps: bool) -> AckPolicy {
        self.in_force(is_scps).map_or(self.ack_policy, |scps| scps.ack_policy)
    }

    /// True if marks of routers are asked for: somebody must answer them.
    pub(crate) fn wants_ecn(&self) -> bool {
        self.ecn && self.scps.as_ref().is_none_or(|scps| scps.controller != ControllerKind::Off)
    }

    /// Declaration for the path that a connection enters.
    pub(crate) fn declared_rate(&self) -> Option<DeclaredRate> {
        let burst_ns = self.budget_burst_ns;
        self.rate_bps.map(|rate_bps| DeclaredRate { rate_bps, burst_ns, peak: None })
    }

    /// Parameters of the controller, for segments of `mss_bytes`; without what only the connection knows.
    pub(crate) fn controller_config(
        &self,
        mss_bytes: u64,
        syn_was_lost: bool,
        is_scps: bool,
    ) -> ControllerConfig {
        // Few acknowledgements tell of many segments each, and pacing spreads what they allow.
        let (counting, pacing_percent, product_bytes, vegas) = match self.in_force(is_scps) {
            Some(scps) => (Counting::Reports, scps.pacing_percent, scps.bandwidth_delay_bytes, scps.vegas()),
            None => (self.counting, self.pacing_percent, None, VegasConfig::default()),
        };
        let default_bytes = (10 * mss_bytes).min(14_600.max(2 * mss_bytes));
        let initial_window_bytes = match self.initial_window_packets {
            _ if syn_was_lost => mss_bytes, // [RFC 5681 3.1]
            Some(packets) => packets.max(1) * mss_bytes,
            None => default_bytes,
        };
        ControllerConfig {
            mss_bytes,
            initial_window_bytes,
            max_window_bytes: self.send_limit_bytes.max(2 * mss_bytes),
            start_until_bytes: product_bytes.unwrap_or(u64::MAX),
            counting,
            idle_restart: if self.idle_restart { IdleRestart::AfterRto } else { IdleRestart::Never },
            pacing_percent,
            hystart: self.hystart,
            vegas,
            overhead_bytes: 0,
            rtt_ns: None,
            seed: 0,
        }
    }
}
