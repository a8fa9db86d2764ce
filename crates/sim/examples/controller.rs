//! Controllers on links of which nothing is declared: share of the physical limit, cost, and the queue that
//! they inflict, in virtual time. `remembered`: the model with what an earlier connection would have kept of
//! this very link.
//! `cargo run --release -p skyhaul-sim --example controller -- [--seeds N] [--first SEED] [--with NAME,...]
//! [--links NAME,...] [--megabytes N] [--each] [--trace]`

#[path = "../benches/support/mod.rs"]
mod support;

use skyhaul_core::{Event, EventSink, Instant, MS, NullSink, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit, Reordering, ScheduleStep, preset};
use skyhaul_sim::{Outcome, Source, Transfer};
use skyhaul_stp::{ControllerKind, SavedPath};
use support::{argument, flag, median, text};

const MBIT: u64 = 1_000_000;

/// Name, link, payload.
fn links() -> Vec<(&'static str, LinkConfig, u64)> {
    let ready = |name| preset(name).unwrap_or_else(|| panic!("no link called {name}"));
    vec![
        ("geo", ready("geo"), 20 * MBIT),
        ("geo-1e-6", noisy(ready("geo"), 1e-6), 20 * MBIT),
        ("geo-1e-5", ready("geo-noisy"), 20 * MBIT),
        ("geo-thin", ready("thin-return"), 20 * MBIT),
        ("handoff", ready("leo-handoff"), 10 * MBIT),
        ("passes", ready("leo-passes"), 10 * MBIT),
        ("starlink", plain(100 * MBIT, 20 * MBIT, 20, 0.01), 20 * MBIT),
        ("scps", noisy(plain(1_500_000, 1_500_000, 50, 0.0), 1e-5), 5 * MBIT),
        ("shallow", queue(ready("geo"), QueueLimit::Packets(64)), 20 * MBIT),
        ("tenth", queue(ready("geo"), QueueLimit::Bytes(68_750)), 20 * MBIT),
        ("deep", queue(plain(28_000, 28_000, 200, 0.0), QueueLimit::Bytes(52_500)), 300_000),
        ("fade", fade(), 20 * MBIT),
        ("jitter", jitter(), 20 * MBIT),
        ("slots", slots(plain(10 * MBIT, 10 * MBIT, 275, 0.0), 20), 20 * MBIT),
        ("slots-50", slots(plain(10 * MBIT, 10 * MBIT, 50, 0.0), 15), 8 * MBIT),
        ("late", late(), 10 * MBIT),
        ("ebb", ebb(), MBIT),
        ("policed", queue(plain(5 * MBIT, 5 * MBIT, 275, 0.0), QueueLimit::Packets(4)), 20 * MBIT),
        ("fall", fall(), 40 * MBIT),
        ("whisper", whispering(), 20 * MBIT),
        ("whisper-1e-5", noisy(whispering(), 1e-5), 5 * MBIT),
    ]
}

/// To a twentieth, and back after 15 s.
fn fall() -> LinkConfig {
    let mut link = preset("geo").unwrap_or_else(|| panic!("no link called geo"));
    link.forward.schedule = steps(&[(15, 500_000), (30, 10_000_000)]);
    link
}

/// 1 kbit/s leads back.
fn whispering() -> LinkConfig {
    let reverse = plain(1000, 1000, 275, 0.0).forward;
    LinkConfig { reverse, ..preset("geo").unwrap_or_else(|| panic!("no link called geo")) }
}

fn plain(forward_bps: u64, reverse_bps: u64, delay_ms: u64, loss: f64) -> LinkConfig {
    let direction = |rate_bps: u64| DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: delay_ms * MS,
        queue: QueueLimit::Bytes((rate_bps * 2 * delay_ms / 8000).max(15_000)),
        loss,
        ..DirectionConfig::default()
    };
    LinkConfig { forward: direction(forward_bps), reverse: direction(reverse_bps), ..LinkConfig::default() }
}

fn noisy(mut link: LinkConfig, bit_error_rate: f64) -> LinkConfig {
    link.forward.bit_error_rate = bit_error_rate;
    link.reverse.bit_error_rate = bit_error_rate;
    link
}

fn queue(mut link: LinkConfig, queue: QueueLimit) -> LinkConfig {
    link.forward.queue = queue;
    link
}

/// `geo` whose delay is up to 4 ms longer, anew each ms.
fn jitter() -> LinkConfig {
    let mut link = preset("geo").unwrap_or_else(|| panic!("no link called geo"));
    let mut chance = skyhaul_core::Stream::new(1, "jitter");
    let mut step = |at_ms| ScheduleStep {
        at: Instant::from_ns(at_ms * MS),
        rate_bps: Some(10 * MBIT),
        delay_ns: 275 * MS + chance.next_u64() % (4 * MS),
        mtu_bytes: None,
    };
    link.forward.schedule = (0..120_000).map(&mut step).collect();
    link
}

/// Link whose packets arrive at the ends of slots of so many ms, as those of a shared channel do.
fn slots(mut link: LinkConfig, slot_ms: u64) -> LinkConfig {
    let base_ns = link.forward.delay_ns;
    let mut step = |at_ms: u64| ScheduleStep {
        at: Instant::from_ns(at_ms * MS),
        rate_bps: link.forward.rate_bps,
        delay_ns: base_ns + (slot_ms - at_ms % slot_ms) * MS,
        mtu_bytes: None,
    };
    link.forward.schedule = (0..120_000).map(&mut step).collect();
    link
}

/// `geo` where every twentieth packet comes 15 ms late.
fn late() -> LinkConfig {
    let mut link = preset("geo").unwrap_or_else(|| panic!("no link called geo"));
    link.forward.reordering = Reordering { probability: 0.05, extra_delay_ns: 15 * MS };
    link
}

/// `geo` at a rate that falls to an eighth within a moment.
fn ebb() -> LinkConfig {
    let mut link = preset("geo").unwrap_or_else(|| panic!("no link called geo"));
    link.forward.schedule = steps(&[(0, 400_000), (10, 50_000), (60, 20_000), (150, 400_000)]);
    link
}

/// `scenarios/rain-fade.toml`.
fn fade() -> LinkConfig {
    let steps = steps(&[
        (10, 8_000_000),
        (14, 5_000_000),
        (18, 2_500_000),
        (22, 1_000_000),
        (26, 400_000),
        (29, 100_000),
        (33, 400_000),
        (36, 1_000_000),
        (40, 2_500_000),
        (44, 5_000_000),
        (48, 8_000_000),
        (52, 10_000_000),
    ]);
    let mut link = preset("geo").unwrap_or_else(|| panic!("no link called geo"));
    link.forward.schedule.clone_from(&steps);
    link.reverse.schedule = steps;
    link
}

/// From so many seconds on this rate, over a geostationary link.
fn steps(rates: &[(u64, u64)]) -> Vec<ScheduleStep> {
    let step = |&(at_s, rate_bps): &(u64, u64)| ScheduleStep {
        at: Instant::from_ns(at_s * SECOND),
        rate_bps: Some(rate_bps),
        delay_ns: 275 * MS,
        mtu_bytes: None,
    };
    rates.iter().map(step).collect()
}

/// Prints rates, round trips and losses as they come.
struct Trace;

impl EventSink<Source> for Trace {
    fn wants(&self) -> bool {
        true
    }

    fn emit(&mut self, now: Instant, _: Source, event: Event) {
        let at = now.as_ns() as f64 / SECOND as f64;
        match event {
            Event::Rate { rate_bps } => println!("{at:9.4} rate {:.4} Mbit/s", rate_bps as f64 / 1e6),
            Event::Rtt { sample_ns, .. } => println!("{at:9.4} rtt {:.3} ms", sample_ns as f64 / 1e6),
            Event::Lost { first, end, verdict } => println!("{at:9.4} lost {} as {verdict:?}", end - first),
            Event::ProbeStarted { alarm, .. } => println!("{at:9.4} asks {alarm:?}"),
            Event::ProbeEnded { verdict, .. } => println!("{at:9.4} found {verdict:?}"),
            Event::Resume { phase, .. } => println!("{at:9.4} memory {}", phase.name()),
            Event::Refused { why } => println!("{at:9.4} refused {why:?}"),
            _ => {}
        }
    }
}

/// The shortest.
fn round_trip_ns(link: &LinkConfig) -> u64 {
    let channel_ns = link.channel.as_ref().map_or(0, |c| c.good.min_delay_ns.min(c.good.max_delay_ns));
    link.forward.delay_ns + link.reverse.delay_ns + 2 * channel_ns
}

fn transfer(link: &LinkConfig, seed: u64, bytes: u64, with: &str) -> Transfer {
    let mut transfer = Transfer::new(link.clone(), seed, bytes);
    match with {
        "declared" => transfer = transfer.with_rate(link.forward.rate_bps.unwrap_or(10 * MBIT)),
        "remembered" => {
            transfer.sender.controller = ControllerKind::Model;
            transfer.sender.remembered = Some(SavedPath {
                rate_bps: link.forward.rate_bps.unwrap_or(10 * MBIT),
                rtt_min_ns: round_trip_ns(link),
                age_ns: 0,
            });
        }
        name => {
            let kind =
                ControllerKind::from_name(name).unwrap_or_else(|| panic!("no controller called {name}"));
            transfer.sender.controller = kind;
        }
    }
    transfer
}

fn row(name: &str, with: &str, outcomes: &[Outcome]) {
    let of = |figure: &dyn Fn(&Outcome) -> f64| median(outcomes.iter().map(figure).collect());
    let per_mb = |bytes: u64, o: &Outcome| bytes as f64 * 1e6 / o.bytes as f64;
    println!(
        "{name:<9} {with:<9} share {:.3}  goodput {:>7.3} Mbit/s  sent/payload {:.3}  back {:>6.0} B/MB  wait {:>6.1} ms  queue {:>7.0} B  dropped {:>5.0}",
        of(&|o| o.share().unwrap_or(0.0)),
        of(&|o| o.goodput_bps() / 1e6),
        of(&|o| o.sender.sent_bytes as f64 / o.bytes as f64),
        of(&|o| per_mb(o.receiver.sent_bytes, o)),
        of(&|o| o.link[0].waited_ns as f64 / 1e6 / o.link[0].entered_packets.max(1) as f64),
        of(&|o| o.link[0].max_queue_bytes as f64),
        of(&|o| o.link[0].dropped.congestion() as f64),
    );
}

fn main() {
    let seeds: u64 = argument("--seeds").unwrap_or(20);
    let first: u64 = argument("--first").unwrap_or(1);
    let with = text("--with").unwrap_or_else(|| "model,slow-start-avoidance,declared".to_string());
    let wanted = text("--links");
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|list| list.split(',').any(|one| one == name));
    let megabytes: Option<u64> = argument("--megabytes");
    for (name, link, bytes) in links().into_iter().filter(|(name, ..)| is_wanted(name)) {
        let bytes = megabytes.map_or(bytes, |megabytes| megabytes * MBIT);
        for with in with.split(',') {
            if flag("--trace") {
                let _ = transfer(&link, first, bytes, with).run(&mut Trace);
            }
            let run = |seed| transfer(&link, seed, bytes, with).run(&mut NullSink);
            let outcomes: Vec<Outcome> = (first..first + seeds).filter_map(|seed| run(seed).ok()).collect();
            if flag("--each") {
                let shares: Vec<String> =
                    outcomes.iter().map(|o| format!("{:.3}", o.share().unwrap_or(0.0))).collect();
                println!("{name:<9} {with:<9} {}", shares.join(" "));
            }
            if outcomes.len() as u64 == seeds {
                row(name, with, &outcomes);
            } else {
                println!("{name:<9} {with:<9} {} of {seeds} ended", outcomes.len());
            }
        }
    }
}
