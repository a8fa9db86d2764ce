//! What a seed makes of a run: link, faults, profiles, limits, traffic.

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{
    ChannelConfig, ChannelState, DirectionConfig, LinkConfig, Order, Outage, QueueLimit, Reordering,
    StateConfig,
};
use skyhaul_stp::{Baseline, Config, ProbingConfig, RetransmitRule};

use crate::common::dice::Dice;

/// Longest time that an application takes for a stream by itself.
const STEPS_NS: u64 = 60 * SECOND;

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Its seed.
    pub(crate) seed: u64,
    /// The link while it has faults.
    pub(crate) faulty: LinkConfig,
    /// The perfect link after that.
    pub(crate) healed: LinkConfig,
    /// When the link heals.
    pub(crate) heal_at: Instant,
    /// Packets delivered twice, per million.
    pub(crate) duplicated_ppm: u64,
    /// The copy arrives up to this much later.
    pub(crate) copy_delay_ns: u64,
    /// Packets delivered with flipped bits, per million.
    pub(crate) damaged_ppm: u64,
    /// Largest IP packet.
    pub(crate) mtu_bytes: u32,
    /// Both ends.
    pub(crate) ends: [End; 2],
    /// Configured patience stays: connections may fail, but must fail well.
    pub(crate) impatient: bool,
    /// Nobody finishes before the link is healed, so that nobody misses the last words.
    pub(crate) finish_late: bool,
}

/// One host.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// Parameters of what it opens and accepts.
    pub(crate) config: Config,
    /// When it opens connections, and whether the BGN waits for the first data.
    pub(crate) opens: Vec<(Instant, bool)>,
    /// Bytes of each of its streams, at most.
    pub(crate) most_bytes: u64,
    /// Most bytes a write, and time between writes (0: as fast as possible).
    pub(crate) writes: Steps,
    /// Most bytes a read, and the time that those take (0: as fast as possible).
    pub(crate) reads: Steps,
    /// Its first packet number lies close below the wrap.
    pub(crate) near_wrap: bool,
}

/// How an application moves its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// Bytes at a time.
    pub(crate) bytes: usize,
    /// Time from one step to the next.
    pub(crate) every_ns: u64,
}

impl Shape {
    /// The run of this seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed, "swarm/shape");
        let d = &mut dice;
        let heal_at = Instant::from_ns(d.scale(500, 60_000) * MS);
        let (forward, reverse) = (direction(d), direction(d));
        let healed = |one: &DirectionConfig| DirectionConfig { delay_ns: one.delay_ns, ..Default::default() };
        let rtt_ns = forward.delay_ns + reverse.delay_ns;
        let rates = [forward.rate_bps, reverse.rate_bps];
        let impatient = d.percent(10);
        let most_bytes = rates.map(|_| d.scale(1, 300_000));
        let mut ends = [0, 1].map(|i| end(d, rates[i], impatient, [most_bytes[i], most_bytes[1 - i]]));
        if ends.iter().all(|end| end.opens.is_empty()) {
            ends[0].opens.push((Instant::ZERO, true));
        }
        Self {
            seed,
            healed: LinkConfig {
                name: "healed".into(),
                forward: healed(&forward),
                reverse: healed(&reverse),
                ..LinkConfig::default()
            },
            faulty: LinkConfig {
                name: "faulty".into(),
                forward,
                reverse,
                outages: outages(d, heal_at),
                channel: d.percent(35).then(|| channel(d)),
            },
            heal_at,
            duplicated_ppm: if d.percent(40) { d.scale(100, 300_000) } else { 0 },
            copy_delay_ns: d.scale(MS, 2 * rtt_ns + 10 * MS),
            damaged_ppm: if d.percent(40) { d.scale(100, 300_000) } else { 0 },
            mtu_bytes: d.pick(&[1500, 1500, 1500, 296, 576, 9000]),
            ends,
            impatient,
            finish_late: d.percent(50),
        }
    }

    /// Time after which a healed link must have carried everything.
    pub(crate) fn patience_ns(&self) -> u64 {
        let rtt_ns = self.healed.forward.delay_ns + self.healed.reverse.delay_ns;
        let traffic_ns: u64 = self.ends.iter().map(|end| end.traffic_ns(rtt_ns, self.least_payload())).sum();
        // An opener of the paper's profile without an answer asks for an hour (specification, 11.2).
        let openings_ns = if self.impatient { 4_000 * SECOND } else { 0 };
        400 * SECOND + openings_ns + traffic_ns
    }

    /// The smaller of the payloads that the ends agree to.
    fn least_payload(&self) -> u64 {
        self.ends.iter().map(|end| end.config.max_payload_bytes.min(255) as u64).min().unwrap_or(1)
    }
}

impl End {
    /// A generous time for all of its streams over a perfect link.
    fn traffic_ns(&self, rtt_ns: u64, payload: u64) -> u64 {
        // The least that passes for progress is a packet a round trip: small packets are charged 256
        // octets of a window that may be small, and are slow by design.
        let packets = self.most_bytes.div_ceil(payload);
        let wire_bytes = self.most_bytes + 2 * 49 * packets;
        let sending = self.config.rate_bps.map_or(0, |rate| 32 * wire_bytes * 8 * SECOND / rate);
        let steps = |steps: &Steps| if steps.every_ns > 0 { 2 * STEPS_NS } else { 0 };
        sending + steps(&self.writes) + steps(&self.reads) + 4 * packets * (rtt_ns + 100 * MS)
    }
}

pub(crate) fn direction(d: &mut Dice) -> DirectionConfig {
    let rate_bps = (!d.percent(10)).then(|| d.scale(10_000, 50_000_000));
    let queue = match rate_bps {
        Some(rate) if rate < 1_000_000 || d.percent(60) => QueueLimit::Packets(d.scale(2, 200) as u32),
        Some(_) if d.percent(50) => QueueLimit::Bytes(d.scale(3_000, 1_000_000)),
        _ => QueueLimit::Unlimited,
    };
    let delay_ns = d.scale(MS, 600 * MS);
    DirectionConfig {
        rate_bps,
        delay_ns,
        order: d.pick(&[Order::default(), Order::Free]),
        queue,
        loss: if d.percent(60) { d.scale(100, 300_000) as f64 / 1e6 } else { 0.0 },
        bit_error_rate: if d.percent(20) { d.scale(1, 100) as f64 / 1e6 } else { 0.0 },
        reordering: Reordering {
            probability: if d.percent(40) { d.scale(1_000, 300_000) as f64 / 1e6 } else { 0.0 },
            extra_delay_ns: d.scale(MS / 10, 2 * delay_ns + MS),
        },
        ..DirectionConfig::default()
    }
}

/// Up to five outages of up to 20 s until a little after the link heals (which ends them).
pub(crate) fn outages(d: &mut Dice, heal_at: Instant) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut at = Instant::ZERO;
    let count = if d.percent(50) { d.below(6) } else { 0 };
    for _ in 0..count {
        let from = at.after(d.scale(1, heal_at.as_ns()));
        at = from.after(d.scale(10 * MS, 20 * SECOND));
        outages.push(Outage { from, to: at });
    }
    outages
}

pub(crate) fn channel(d: &mut Dice) -> ChannelConfig {
    ChannelConfig {
        good: channel_state(d, &[0.0, 0.0, 0.01]),
        bad: channel_state(d, &[0.05, 0.5, 1.0, 1.0]),
        start: d.pick(&[ChannelState::Good, ChannelState::Bad]),
    }
}

fn channel_state(d: &mut Dice, losses: &[f64]) -> StateConfig {
    let min_delay_ns = d.pick(&[0, 0, 20 * MS, 300 * MS]);
    StateConfig {
        mean_stay_ns: d.scale(20 * MS, 20 * SECOND),
        loss: d.pick(losses),
        min_delay_ns,
        max_delay_ns: min_delay_ns + d.pick(&[0, 0, 50 * MS, 500 * MS]),
    }
}

/// An end that sends and receives streams of at most so many bytes.
fn end(d: &mut Dice, link_bps: Option<u64>, impatient: bool, [sent, received]: [u64; 2]) -> End {
    let opens = if d.percent(20) { 0 } else { d.scale(1, 3) };
    let slow_reader = d.percent(25);
    let tiny_writes = d.percent(25);
    End {
        config: config(d, link_bps, impatient),
        opens: (0..opens).map(|_| (opening_time(d), d.percent(70))).collect(),
        most_bytes: sent,
        writes: steps(d, tiny_writes, sent),
        reads: steps(d, slow_reader, received),
        near_wrap: d.percent(25),
    }
}

fn opening_time(d: &mut Dice) -> Instant {
    let late = d.percent(40);
    Instant::from_ns(if late { d.below(10 * SECOND) } else { 0 })
}

/// Small steps take at most [`STEPS_NS`] for all of a stream, in at most a thousand steps (and the
/// few that the stream's head takes).
fn steps(d: &mut Dice, small: bool, most_bytes: u64) -> Steps {
    if !small {
        return Steps { bytes: d.pick(&[1 << 16, 1 << 14, 1000]), every_ns: 0 };
    }
    let count = d.scale(1, 1000).min(most_bytes);
    let bytes = most_bytes.div_ceil(count).max(8) as usize;
    let every_ns = if d.percent(30) { 0 } else { d.below(STEPS_NS / count) };
    Steps { bytes, every_ns }
}

pub(crate) fn config(d: &mut Dice, link_bps: Option<u64>, impatient: bool) -> Config {
    let mut config = if d.percent(40) { Config::paper() } else { Config::standard() };
    if d.percent(40) {
        let link_bps = link_bps.unwrap_or(2_000_000);
        config.rate_bps = Some((link_bps * d.scale(50, 120) / 100).max(20_000));
    }
    if d.percent(60) {
        config.probing = probing(d);
    }
    if d.percent(60) {
        vary_limits(d, &mut config);
    }
    if d.percent(60) {
        vary_habits(d, &mut config);
    }
    if !impatient {
        config.connect_give_up_ns = None;
        config.give_up_ns = None;
        config.max_tries = u32::MAX;
    }
    config
}

/// Off, a profile, or anything.
fn probing(d: &mut Dice) -> Option<ProbingConfig> {
    let mut probing = d.pick(&[None, Some(ProbingConfig::paper()), Some(ProbingConfig::standard())])?;
    if d.percent(50) {
        probing.max_probes = d.scale(2, 64) as usize;
        probing.req_probes = d.scale(1, 4) as usize;
        probing.req_probes_declared = d.scale(1, 4) as usize;
        probing.baseline = d.pick(&[Baseline::Smoothed, Baseline::Smallest]);
        probing.gap_starts_declared = d.percent(50);
        probing.probes_per_rtt = d.scale(1, 8);
        probing.min_interval_ns = d.pick(&[0, 10 * MS, 40 * MS]);
        probing.age_divisor = d.pick(&[None, Some(4), Some(256)]);
        probing.silent_probes = d.below(4) as u32;
        probing.silent_packets = d.pick(&[None, Some(1), Some(8)]);
        probing.congested_percent = d.pick(&[None, Some(5), Some(20)]);
        probing.judges_in_passing = d.percent(50);
        probing.late_intervals = d.below(4);
        probing.late_deviations = d.below(6);
        probing.queue_holds_probes = d.percent(50);
        probing.declared_percent = d.scale(1, 100);
    }
    Some(probing)
}

fn vary_limits(d: &mut Dice, config: &mut Config) {
    let limits = [4 << 10, 8 << 10, 16 << 10, 64 << 10, 1 << 20];
    if d.percent(60) {
        config.receive_limit_bytes = d.pick(&limits);
    }
    if d.percent(40) {
        config.send_limit_bytes = d.pick(&limits);
    }
    if d.percent(30) {
        config.early_window_bytes = d.pick(&[0, 300, 4 << 10, 64 << 10]);
    }
    if d.percent(30) {
        config.max_payload_bytes = d.pick(&[10, 100, 536, 1000]);
    }
    if d.percent(30) {
        config.initial_window_packets = d.scale(1, 20);
    }
}

fn vary_habits(d: &mut Dice, config: &mut Config) {
    config.early_data = d.percent(70);
    config.nagle = d.percent(50);
    config.bgn_repeats = d.below(5);
    config.end_with_data = d.percent(50);
    config.idle_repeat = d.percent(50);
    config.poll_first_burst = d.percent(70);
    config.retransmit_within_window = d.percent(50);
    config.ustat_threshold = d.pick(&[None, Some(0), Some(3)]);
    config.ustats_per_poll = d.pick(&[None, Some(0), Some(2)]);
    config.retransmit = d.pick(&[RetransmitRule::SentBeforePoll, RetransmitRule::RttElapsed]);
    config.reorder_packets = d.below(5);
    config.initial_rtt_ns = d.scale(10 * MS, 2 * SECOND);
    config.idle_restart_ns = d.pick(&[None, Some(SECOND), Some(10 * SECOND)]);
    config.keepalive_ns = d.pick(&[None, Some(2 * SECOND), Some(60 * SECOND)]);
}
