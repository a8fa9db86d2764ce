//! Every tunable of a connection, and the two named profiles. `docs/spec/stp.md`, section 8, lists
//! them, `docs/spec/stp-reasons.md` has their reasons.

use core::fmt;

use skyhaul_congestion::memory::SavedPath;
use skyhaul_congestion::{ControllerConfig, ControllerKind, Counting, IdleRestart, VegasConfig};
use skyhaul_core::{DeclaredRate, MS, RateCaps, SECOND};

use crate::probing::ProbingConfig;

/// When a packet that a STAT lists as missing may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetransmitRule {
    /// When it was last sent at least `reorder_packets` transmissions before the POLL that the
    /// STAT answers: its time to arrive was over [STP 5.1.1, Q.2110].
    SentBeforePoll,
    /// When a smoothed round-trip time has passed since it was last sent, doubled with each
    /// retransmission ("an RTT, subject to backoff" [XSTP 3]).
    RttElapsed,
}

/// How the window's packets are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Sends what a report allows over one round trip: the papers' delayed send [STP 5.1.2]. A controller
    /// with a rate of its own paces all the same.
    OverRtt,
    /// The controller's pacing rate.
    Controller,
}

/// Parameters of a connection.
#[derive(Clone)]
pub struct Config {
    /// Declared rate in bit/s of IP bytes; replaces window control [STP 5.2.3].
    pub rate_bps: Option<u64>,
    /// Pacing never falls below this under window control.
    pub min_rate_bps: Option<u64>,
    /// Pacing never rises above this under window control.
    pub max_rate_bps: Option<u64>,
    /// Largest SD payload; the path's MTU may lower it.
    pub max_payload_bytes: usize,
    /// Controller of the congestion window where no rate is declared.
    pub controller: ControllerKind,
    /// Estimate of the path by an earlier connection to this peer, for a controller that begins with
    /// it.
    pub remembered: Option<SavedPath>,
    /// First congestion window, in segments.
    pub initial_window_packets: u64,
    /// Silence after which slow start begins again; `None`: never.
    pub idle_restart_ns: Option<u64>,
    /// See [`Spread`].
    pub spread: Spread,
    /// This many allowed packets or fewer go in one burst [XSTP 3].
    pub few_packets: u64,
    /// Packets that may leave back to back.
    pub burst_packets: u64,
    /// Credit that the declared rate saves while the sender is late or silent.
    pub budget_burst_ns: u64,
    /// Most application bytes held for sending, acknowledged or not.
    pub send_limit_bytes: u64,
    /// With a declared rate the send limit is this many bandwidth-delay products (at most
    /// `send_limit_bytes`).
    pub send_limit_bdps: Option<u64>,
    /// Most application bytes that wait to be sent for the first time, as the time in which they leave at the
    /// path's rate (128 KiB at least, 2 MiB at most): what is written later may be something else. `None`:
    /// the send limit.
    pub unsent_limit_ns: Option<u64>,
    /// Most application bytes held for reading or reassembly.
    pub receive_limit_bytes: u64,
    /// Round-trip time assumed before the first sample.
    pub initial_rtt_ns: u64,
    /// POLLs per round trip [STP 5.1.1].
    pub polls_per_rtt: u64,
    /// POLLs per round trip when the last round trip was half as long again as the shortest: the
    /// return channel (or a queue) is full.
    pub polls_per_slow_rtt: u64,
    /// POLLs per round trip when nothing new is left to send.
    pub polls_per_rtt_tail: u64,
    /// POLLs are at least this far apart.
    pub min_poll_interval_ns: u64,
    /// At a rate of its own, POLLs are so rare that their answers cost half a percent of the data, down to
    /// one per round trip.
    pub spares_stats: bool,
    /// The first burst carries a POLL [STP 5.1.1].
    pub poll_first_burst: bool,
    /// A POLL is forced after this share (in percent) of the send limit [XSTP 3].
    pub forced_poll_percent: u64,
    /// Below this many segments of window the last packet of each burst carries the POLL [STP 5.3].
    pub small_window_packets: u64,
    /// Packets beyond a gap before it is reported by USTAT; 0: at once; `None`: no USTATs.
    pub ustat_threshold: Option<u32>,
    /// USTATs allowed per POLL received (the STAT repeats them anyway); `None`: no limit.
    pub ustats_per_poll: Option<u32>,
    /// With a rate of its own and repair symbols a sender has no use for USTATs, and says so.
    pub spares_ustats: bool,
    /// With a rate of its own a sender asks STATs to leave out what they told before, while its repeat is
    /// under way.
    pub incremental_stats: bool,
    /// See [`RetransmitRule`].
    pub retransmit: RetransmitRule,
    /// Transmissions that the network may reorder.
    pub reorder_packets: u64,
    /// Retransmissions wait for the congestion window, too.
    pub retransmit_within_window: bool,
    /// XSTP-probing [XSTP 4]; `None`: plain STP, every loss is congestion.
    pub probing: Option<ProbingConfig>,
    /// Hold back a small segment while data is unacknowledged.
    pub nagle: bool,
    /// Data may follow BGN before BGNAK (handshake avoidance [STP 5.1.2]).
    pub early_data: bool,
    /// What goes to an address that is not proven is not held to three times what came from it: a network
    /// whose operator controls both ends [STP 5.1.2]. Only for scenarios: an end on the Internet that does so
    /// is an amplifier.
    pub trusts_peers: bool,
    /// Bytes that may follow BGN before the peer's window is known.
    pub early_window_bytes: u64,
    /// First so many SDs repeat BGN until it is answered.
    pub bgn_repeats: u64,
    /// END goes with the last data instead of after its acknowledgement.
    pub end_with_data: bool,
    /// With a declared rate, unconfirmed packets are repeated while the link would idle.
    pub idle_repeat: bool,
    /// With a declared rate, and if the peer takes them, repair symbols take the place of idle repeats.
    pub coded_tail: bool,
    /// First BGN timer; doubles up to `max_timer_ns`.
    pub bgn_timer_ns: u64,
    /// Floor of the END timer; doubles up to `max_timer_ns`.
    pub end_timer_ns: u64,
    /// Longest BGN, END and persist timer.
    pub max_timer_ns: u64,
    /// BGNs, and ENDs, sent without an answer before giving up.
    pub max_tries: u32,
    /// Connecting fails after this.
    pub connect_give_up_ns: Option<u64>,
    /// A connection without a sign of life fails after this.
    pub give_up_ns: Option<u64>,
    /// An idle connection polls its peer this often.
    pub keepalive_ns: Option<u64>,
    /// The largest packet that the path takes is found out, up to the endpoint's [RFC 8899]. Without it
    /// packets have that size.
    pub discover_mtu: bool,
    /// What an earlier connection to this peer found out about that: it is tried first.
    pub remembered_mtu_bytes: Option<u32>,
}

/// Shows the fields that are named, in this order.
macro_rules! show {
    ($to:expr, $config:expr, $($field:ident),+ $(,)?) => {{
        let Config { $($field,)+ discover_mtu, remembered_mtu_bytes, unsent_limit_ns, trusts_peers } = $config;
        let is_long = $to.alternate();
        let mut text = $to.debug_struct("Config");
        $(text.field(stringify!($field), $field);)+
        if *discover_mtu || is_long {
            text.field("discover_mtu", discover_mtu);
        }
        if *trusts_peers || is_long {
            text.field("trusts_peers", trusts_peers);
        }
        if remembered_mtu_bytes.is_some() {
            text.field("remembered_mtu_bytes", remembered_mtu_bytes);
        }
        if unsent_limit_ns.is_some() {
            text.field("unsent_limit_ns", unsent_limit_ns);
        }
        text.finish()
    }};
}

impl fmt::Debug for Config {
    /// Text that digests of scenarios are made of: a field that came later is shown where it says something
    /// (and, without a value of its own, in the long form, which they are not made of).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show!(
            f,
            self,
            rate_bps,
            min_rate_bps,
            max_rate_bps,
            max_payload_bytes,
            controller,
            remembered,
            initial_window_packets,
            idle_restart_ns,
            spread,
            few_packets,
            burst_packets,
            budget_burst_ns,
            send_limit_bytes,
            send_limit_bdps,
            receive_limit_bytes,
            initial_rtt_ns,
            polls_per_rtt,
            polls_per_slow_rtt,
            polls_per_rtt_tail,
            min_poll_interval_ns,
            spares_stats,
            poll_first_burst,
            forced_poll_percent,
            small_window_packets,
            ustat_threshold,
            ustats_per_poll,
            spares_ustats,
            incremental_stats,
            retransmit,
            reorder_packets,
            retransmit_within_window,
            probing,
            nagle,
            early_data,
            early_window_bytes,
            bgn_repeats,
            end_with_data,
            idle_repeat,
            coded_tail,
            bgn_timer_ns,
            end_timer_ns,
            max_timer_ns,
            max_tries,
            connect_give_up_ns,
            give_up_ns,
            keepalive_ns
        )
    }
}

impl Config {
    /// The constants of the papers [STP 5, XSTP 5].
    pub fn paper() -> Self {
        Self {
            rate_bps: None,
            min_rate_bps: None,
            max_rate_bps: None,
            max_payload_bytes: 1000,
            controller: ControllerKind::SlowStartAvoidance,
            remembered: None,
            initial_window_packets: 1,
            idle_restart_ns: Some(10 * SECOND),
            spread: Spread::OverRtt,
            few_packets: 8,
            burst_packets: 8,
            budget_burst_ns: 10 * MS,
            send_limit_bytes: 64_000,
            send_limit_bdps: None,
            unsent_limit_ns: None,
            receive_limit_bytes: 64_000,
            initial_rtt_ns: 600 * MS,
            polls_per_rtt: 3,
            polls_per_slow_rtt: 3,
            polls_per_rtt_tail: 3,
            min_poll_interval_ns: 10 * MS,
            spares_stats: false,
            poll_first_burst: true,
            forced_poll_percent: 50,
            small_window_packets: 10,
            ustat_threshold: Some(3),
            ustats_per_poll: None,
            spares_ustats: false,
            incremental_stats: false,
            retransmit: RetransmitRule::RttElapsed,
            reorder_packets: 0,
            retransmit_within_window: false,
            probing: Some(ProbingConfig::paper()),
            nagle: true,
            early_data: true,
            trusts_peers: false,
            early_window_bytes: 64_000,
            bgn_repeats: 1,
            end_with_data: false,
            idle_repeat: false,
            coded_tail: false,
            bgn_timer_ns: SECOND,
            end_timer_ns: SECOND,
            max_timer_ns: 64 * SECOND,
            max_tries: 12,
            connect_give_up_ns: None,
            give_up_ns: None,
            keepalive_ns: Some(60 * SECOND),
            discover_mtu: false,
            remembered_mtu_bytes: None,
        }
    }

    /// Profile that a user today should have.
    pub fn standard() -> Self {
        Self {
            max_payload_bytes: usize::from(u16::MAX),
            controller: ControllerKind::Model,
            initial_window_packets: 10,
            spread: Spread::Controller,
            send_limit_bytes: 64 << 20,
            send_limit_bdps: Some(8),
            receive_limit_bytes: 64 << 20,
            polls_per_slow_rtt: 1,
            polls_per_rtt_tail: 8,
            spares_stats: true,
            ustats_per_poll: Some(2),
            spares_ustats: true,
            incremental_stats: true,
            retransmit: RetransmitRule::SentBeforePoll,
            reorder_packets: 3,
            retransmit_within_window: true,
            probing: Some(ProbingConfig::standard()),
            nagle: false,
            early_window_bytes: 4 << 20,
            bgn_repeats: 3,
            end_with_data: true,
            idle_repeat: true,
            coded_tail: true,
            end_timer_ns: 100 * MS,
            max_timer_ns: 10 * SECOND,
            max_tries: u32::MAX,
            connect_give_up_ns: Some(30 * SECOND),
            give_up_ns: Some(600 * SECOND),
            keepalive_ns: Some(20 * SECOND),
            ..Self::paper()
        }
    }

    /// True if the peer is asked for its clock and count: the controller goes by them.
    pub(crate) fn wants_timing(&self) -> bool {
        self.rate_bps.is_none() && self.controller.measures()
    }

    /// True if packets with data ask the routers on the path for a rate.
    pub(crate) fn asks_routers(&self) -> bool {
        self.rate_bps.is_none() && self.controller.asks_routers()
    }

    /// Rate that a connection declares for its path.
    pub(crate) fn declared_rate(&self) -> Option<DeclaredRate> {
        let burst_ns = self.budget_burst_ns;
        self.rate_bps.map(|rate_bps| DeclaredRate { rate_bps, burst_ns, peak: None })
    }

    /// Bounds of a measured rate.
    pub(crate) fn rate_caps(&self) -> RateCaps {
        RateCaps { min_bps: self.min_rate_bps.unwrap_or(1), max_bps: self.max_rate_bps.unwrap_or(u64::MAX) }
    }

    /// Configuration of the controller, for segments of `mss_bytes`; without what only the connection knows.
    pub(crate) fn controller_config(&self, mss_bytes: u64) -> ControllerConfig {
        ControllerConfig {
            mss_bytes,
            initial_window_bytes: self.initial_window_packets * mss_bytes,
            max_window_bytes: self.send_limit_bytes,
            start_until_bytes: u64::MAX,
            counting: Counting::Reports,
            idle_restart: self.idle_restart_ns.map_or(IdleRestart::Never, IdleRestart::After),
            pacing_percent: (self.spread == Spread::Controller).then_some((200, 120)),
            hystart: false,
            vegas: VegasConfig::default(),
            overhead_bytes: 0,
            rtt_ns: None,
            seed: 0,
        }
    }
}
