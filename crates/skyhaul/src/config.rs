//! Parameters of a connection, grouped by the part of it that they are for.

use std::time::Duration;

#[doc(inline)]
pub use skyhaul_stp::{Baseline, ProbingConfig, RetransmitRule, Spread};

use crate::control::{ControllerKind, SavedPath};

/// Parameters of a connection, of the end that has them: both ends may differ in all of them.
///
/// [`Config::standard`] is for use today; [`Config::paper`] has the constants of the papers; both stand side
/// by side in [`crate::manual::parameters`]. Change what must be different:
///
/// ```
/// use std::time::Duration;
/// use skyhaul::Config;
///
/// let mut config = Config::standard();
/// config.controller.rate_bps = Some(10_000_000); // the path is known to take 10 Mbit/s
/// config.buffers.send_limit_bytes = 4 << 20;
/// config.opening.give_up = Some(Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    /// Opening of a connection.
    pub opening: Opening,
    /// End of a connection, by its parties or by silence.
    pub ending: Ending,
    /// Questions (POLLs) by which a sender asks what has arrived.
    pub polling: Polling,
    /// Repeats of what is missing.
    pub repair: Repair,
    /// Probing for the cause of a loss [XSTP 4]; `None`: every loss is congestion.
    pub probing: Option<ProbingConfig>,
    /// Memory, and the size of packets.
    pub buffers: Buffers,
    /// Rate and window.
    pub controller: Control,
}

/// Parameters of an opening.
#[derive(Clone, Debug)]
pub struct Opening {
    /// True if data may follow the opening before it is answered [STP 5.1.2].
    pub early_data: bool,
    /// Bytes that may follow it.
    pub early_window_bytes: u64,
    /// Number of first packets that repeat the opening until it is answered.
    pub repeats: u64,
    /// Wait before the opening is repeated; it doubles up to [`Ending::max_timer`].
    pub timer: Duration,
    /// Time after which an opening without an answer fails; `None`: never.
    pub give_up: Option<Duration>,
}

/// Parameters of an end.
#[derive(Clone, Debug)]
pub struct Ending {
    /// True if the end goes with the last data instead of after its confirmation.
    pub with_data: bool,
    /// Least wait before the end is repeated; it doubles up to [`Self::max_timer`].
    pub timer: Duration,
    /// Longest wait before an opening, an end or a question about a full receiver is repeated.
    pub max_timer: Duration,
    /// Openings, and ends, that are sent without an answer before the connection fails.
    pub max_tries: u32,
    /// Time after which a connection without a sign of life fails; `None`: never.
    pub give_up: Option<Duration>,
    /// Interval of questions while nothing is sent, by which a silent peer is noticed; `None`: there are
    /// none.
    pub keepalive: Option<Duration>,
}

/// Parameters of POLLs, the questions by which a sender asks what has arrived.
#[derive(Clone, Debug)]
pub struct Polling {
    /// POLLs per round trip [STP 5.1.1].
    pub per_rtt: u64,
    /// POLLs per round trip while round trips are half as long again as the shortest: the way back is full.
    pub per_slow_rtt: u64,
    /// POLLs per round trip when nothing new is left to send.
    pub per_rtt_tail: u64,
    /// Least time between two POLLs.
    pub min_interval: Duration,
    /// True if POLLs at a rate of its own are so rare that answers cost half a percent of the data, down to
    /// one a round trip.
    pub spares_answers: bool,
    /// True if the first burst carries a POLL [STP 5.1.1].
    pub first_burst: bool,
    /// Share of the send limit, in percent, after which a POLL is forced [XSTP 3].
    pub forced_percent: u64,
    /// Segments of a window so small that the last packet of each burst carries the POLL [STP 5.3].
    pub small_window_packets: u64,
}

/// Parameters of repair.
#[derive(Clone, Debug)]
pub struct Repair {
    /// Rule by which a missing packet may be sent again.
    pub rule: RetransmitRule,
    /// Transmissions that the network may reorder.
    pub reorder_packets: u64,
    /// True if repeats wait for the window, too.
    pub within_window: bool,
    /// Packets beyond a gap before a receiver reports it unasked (by a USTAT); 0: at once; `None`: never.
    pub gap_report_packets: Option<u32>,
    /// Unasked reports that are sent per POLL received; `None`: no limit.
    pub gap_reports_per_poll: Option<u32>,
    /// True if a sender at a rate of its own, with repair symbols, says that it has no use for unasked
    /// reports.
    pub spares_gap_reports: bool,
    /// True if a sender at a rate of its own asks for answers that leave out what the last one said.
    pub incremental_reports: bool,
    /// True if unconfirmed packets are repeated while a declared rate would be left unused.
    pub idle_repeat: bool,
    /// True if repair symbols take the place of those repeats, where the peer takes them.
    pub coded_tail: bool,
}

/// Parameters of memory, and the size of packets.
#[derive(Clone, Debug)]
pub struct Buffers {
    /// Largest payload of a packet; the path's MTU may lower it.
    pub max_payload_bytes: usize,
    /// True if the largest packet that the path takes is found out, up to the endpoint's bound; otherwise
    /// packets have that size, and on a path that takes less nothing arrives.
    pub discover_mtu: bool,
    /// What an earlier connection found out about that: it is tried first, and not believed.
    pub remembered_mtu_bytes: Option<u32>,
    /// Bytes held at most for sending, confirmed or not; then writers wait.
    pub send_limit_bytes: u64,
    /// Bandwidth-delay products held at most for sending at a declared rate; [`Self::send_limit_bytes`]
    /// holds, too.
    pub send_limit_bdps: Option<u64>,
    /// Most bytes that wait to be sent for the first time, as the time in which they leave at the path's
    /// rate; then writers wait. `None`: as many as may be held.
    pub unsent_limit_ns: Option<u64>,
    /// Bytes held at most for reading or reassembly; then the peer is told to wait.
    pub receive_limit_bytes: u64,
    /// True if a small packet is held back while data is unconfirmed.
    pub nagle: bool,
}

/// Parameters of rate and window.
#[derive(Clone, Debug)]
pub struct Control {
    /// Rate of the path in bit/s of IP bytes, if it is known: it takes the place of a controller [STP 5.2.3].
    pub rate_bps: Option<u64>,
    /// Controller where no rate is declared: one of skyhaul's, or one of yours (see [`crate::control`]).
    pub kind: ControllerKind,
    /// Rate below which pacing never falls, in bit/s. Under a measured rate it is the path's: the highest
    /// that any of its connections asks for, until the last has left.
    pub min_rate_bps: Option<u64>,
    /// Rate above which pacing never rises, in bit/s. Under a measured rate it is this connection's own: what
    /// it leaves, others may take.
    pub max_rate_bps: Option<u64>,
    /// Path as an earlier connection found it, for a controller that begins with that.
    pub remembered: Option<SavedPath>,
    /// First window, in packets.
    pub initial_window_packets: u64,
    /// Silence after which slow start begins again; `None`: never.
    pub idle_restart: Option<Duration>,
    /// Way of spreading a window's packets over time.
    pub spread: Spread,
    /// Number of allowed packets up to which they go in one burst [XSTP 3].
    pub few_packets: u64,
    /// Packets that may leave back to back.
    pub burst_packets: u64,
    /// Credit that a rate saves while the sender is late or silent.
    pub credit: Duration,
    /// Round trip that is assumed before the first one is measured.
    pub initial_rtt: Duration,
}

impl Config {
    /// Parameters for use today: nothing need be known of the path.
    pub fn standard() -> Self {
        skyhaul_stp::Config { discover_mtu: true, ..skyhaul_stp::Config::standard() }.into()
    }

    /// Parameters of the papers [STP 5, XSTP 5].
    pub fn paper() -> Self {
        skyhaul_stp::Config::paper().into()
    }
}

/// [`Config::standard`].
impl Default for Config {
    fn default() -> Self {
        Self::standard()
    }
}

/// Parameters as the engine takes them. Every field stands here, so that none can be forgotten.
impl From<Config> for skyhaul_stp::Config {
    fn from(config: Config) -> Self {
        let Config { opening, ending, polling, repair, probing, buffers, controller } = config;
        Self {
            probing,
            early_data: opening.early_data,
            trusts_peers: false, // only in scenarios
            early_window_bytes: opening.early_window_bytes,
            bgn_repeats: opening.repeats,
            bgn_timer_ns: ns(opening.timer),
            connect_give_up_ns: opening.give_up.map(ns),
            end_with_data: ending.with_data,
            end_timer_ns: ns(ending.timer),
            max_timer_ns: ns(ending.max_timer),
            max_tries: ending.max_tries,
            give_up_ns: ending.give_up.map(ns),
            keepalive_ns: ending.keepalive.map(ns),
            polls_per_rtt: polling.per_rtt,
            polls_per_slow_rtt: polling.per_slow_rtt,
            polls_per_rtt_tail: polling.per_rtt_tail,
            min_poll_interval_ns: ns(polling.min_interval),
            spares_stats: polling.spares_answers,
            poll_first_burst: polling.first_burst,
            forced_poll_percent: polling.forced_percent,
            small_window_packets: polling.small_window_packets,
            retransmit: repair.rule,
            reorder_packets: repair.reorder_packets,
            retransmit_within_window: repair.within_window,
            ustat_threshold: repair.gap_report_packets,
            ustats_per_poll: repair.gap_reports_per_poll,
            spares_ustats: repair.spares_gap_reports,
            incremental_stats: repair.incremental_reports,
            idle_repeat: repair.idle_repeat,
            coded_tail: repair.coded_tail,
            max_payload_bytes: buffers.max_payload_bytes,
            discover_mtu: buffers.discover_mtu,
            remembered_mtu_bytes: buffers.remembered_mtu_bytes,
            send_limit_bytes: buffers.send_limit_bytes,
            send_limit_bdps: buffers.send_limit_bdps,
            unsent_limit_ns: buffers.unsent_limit_ns,
            receive_limit_bytes: buffers.receive_limit_bytes,
            nagle: buffers.nagle,
            rate_bps: controller.rate_bps,
            controller: controller.kind,
            min_rate_bps: controller.min_rate_bps,
            max_rate_bps: controller.max_rate_bps,
            remembered: controller.remembered,
            initial_window_packets: controller.initial_window_packets,
            idle_restart_ns: controller.idle_restart.map(ns),
            spread: controller.spread,
            few_packets: controller.few_packets,
            burst_packets: controller.burst_packets,
            budget_burst_ns: ns(controller.credit),
            initial_rtt_ns: ns(controller.initial_rtt),
        }
    }
}

/// Parameters of the engine, grouped. Every field stands here, so that none can be forgotten.
impl From<skyhaul_stp::Config> for Config {
    fn from(config: skyhaul_stp::Config) -> Self {
        Self {
            probing: config.probing,
            opening: Opening {
                early_data: config.early_data,
                early_window_bytes: config.early_window_bytes,
                repeats: config.bgn_repeats,
                timer: Duration::from_nanos(config.bgn_timer_ns),
                give_up: config.connect_give_up_ns.map(Duration::from_nanos),
            },
            ending: Ending {
                with_data: config.end_with_data,
                timer: Duration::from_nanos(config.end_timer_ns),
                max_timer: Duration::from_nanos(config.max_timer_ns),
                max_tries: config.max_tries,
                give_up: config.give_up_ns.map(Duration::from_nanos),
                keepalive: config.keepalive_ns.map(Duration::from_nanos),
            },
            polling: Polling {
                per_rtt: config.polls_per_rtt,
                per_slow_rtt: config.polls_per_slow_rtt,
                per_rtt_tail: config.polls_per_rtt_tail,
                min_interval: Duration::from_nanos(config.min_poll_interval_ns),
                spares_answers: config.spares_stats,
                first_burst: config.poll_first_burst,
                forced_percent: config.forced_poll_percent,
                small_window_packets: config.small_window_packets,
            },
            repair: Repair {
                rule: config.retransmit,
                reorder_packets: config.reorder_packets,
                within_window: config.retransmit_within_window,
                gap_report_packets: config.ustat_threshold,
                gap_reports_per_poll: config.ustats_per_poll,
                spares_gap_reports: config.spares_ustats,
                incremental_reports: config.incremental_stats,
                idle_repeat: config.idle_repeat,
                coded_tail: config.coded_tail,
            },
            buffers: Buffers {
                max_payload_bytes: config.max_payload_bytes,
                discover_mtu: config.discover_mtu,
                remembered_mtu_bytes: config.remembered_mtu_bytes,
                send_limit_bytes: config.send_limit_bytes,
                send_limit_bdps: config.send_limit_bdps,
                unsent_limit_ns: config.unsent_limit_ns,
                receive_limit_bytes: config.receive_limit_bytes,
                nagle: config.nagle,
            },
            controller: Control {
                rate_bps: config.rate_bps,
                kind: config.controller,
                min_rate_bps: config.min_rate_bps,
                max_rate_bps: config.max_rate_bps,
                remembered: config.remembered,
                initial_window_packets: config.initial_window_packets,
                idle_restart: config.idle_restart_ns.map(Duration::from_nanos),
                spread: config.spread,
                few_packets: config.few_packets,
                burst_packets: config.burst_packets,
                credit: Duration::from_nanos(config.budget_burst_ns),
                initial_rtt: Duration::from_nanos(config.initial_rtt_ns),
            },
        }
    }
}

/// Nanoseconds of a duration; five centuries at most.
pub(crate) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_nothing_changes() {
        for engine in [skyhaul_stp::Config::standard(), skyhaul_stp::Config::paper()] {
            let back = skyhaul_stp::Config::from(Config::from(engine.clone()));
            assert_eq!(format!("{back:?}"), format!("{engine:?}"));
        }
    }
}
