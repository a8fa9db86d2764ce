//! Each controller in the engine, over an emulated link.

mod common;

use common::pair::{Pair, content, transfer};
use common::{Lone, plain};
use skyhaul_congestion::{Acked, Controller, ControllerFactory, Lost, Snapshot};
use skyhaul_core::event::Phase;
use skyhaul_core::{Connections, Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{Config, ControllerKind, Recovery};

const BIG_BYTES: u64 = 64 << 20;

fn link(rate_bps: u64, delay_ns: u64, loss: f64, queue_packets: u32) -> LinkConfig {
    let forward = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns,
        loss,
        queue: QueueLimit::Packets(queue_packets),
        ..DirectionConfig::default()
    };
    let reverse = DirectionConfig { loss: 0.0, queue: QueueLimit::Packets(10_000), ..forward.clone() };
    LinkConfig { name: "l".into(), forward, reverse, ..LinkConfig::default() }
}

fn with(controller: ControllerKind) -> Config {
    let bytes = BIG_BYTES;
    Config { controller, send_limit_bytes: bytes, receive_limit_bytes: bytes, ..Config::standard() }
}

/// Sends without end over `flows` connections; payload that each of them delivered in [from, to) seconds.
fn deliver(config: &Config, link: LinkConfig, flows: usize, seconds: (u64, u64)) -> Vec<u64> {
    let mut pair = Pair::new(config, link, 1);
    let ids: Vec<_> = (0..flows).map(|_| pair.connect(config)).collect();
    let (mut accepted, mut scratch) = (Vec::new(), vec![0; 1 << 16]);
    let mut totals = Vec::new();
    for until in [seconds.0, seconds.1] {
        let end = Instant::from_ns(until * SECOND);
        loop {
            for &id in &ids {
                while pair.ends[0].write(id, &scratch).is_ok_and(|taken| taken > 0) {}
            }
            accepted.extend(pair.ends[1].accept());
            for &id in &accepted {
                while matches!(pair.ends[1].read(id, &mut scratch), Ok(Some(1..))) {}
            }
            if !pair.step(end) {
                break;
            }
        }
        let delivered = accepted.iter().filter_map(|&id| pair.ends[1].stats(id));
        totals.push(delivered.map(|stats| stats.delivered_bytes).collect::<Vec<u64>>());
    }
    totals[1].iter().zip(&totals[0]).map(|(after, before)| after - before).collect()
}

/// Goodput of one flow in percent of the link's rate.
fn share(controller: ControllerKind, link: LinkConfig, seconds: (u64, u64)) -> u64 {
    let rate_bps = link.forward.rate_bps.unwrap_or(1);
    let bytes: u64 = deliver(&with(controller), link, 1, seconds).iter().sum();
    bytes * 8 * 100 / (rate_bps * (seconds.1 - seconds.0))
}

/// Jain's index in percent.
fn fairness(shares: &[u64]) -> u64 {
    let (sum, squares) = shares.iter().fold((0u128, 0u128), |(sum, squares), &share| {
        (sum + u128::from(share), squares + u128::from(share).pow(2))
    });
    (sum * sum * 100 / (squares * shares.len() as u128)) as u64
}

#[test]
fn each_controller_fills_a_clean_link() {
    for (name, controller) in ControllerKind::WINDOWS {
        let share = share(controller, link(10_000_000, 20 * MS, 0.0, 70), (3, 20));
        println!("{name}: {share} %");
        assert!((90..=97).contains(&share), "{name}: {share} %");
    }
}

#[test]
fn each_controller_delivers_what_was_sent_over_a_link_with_losses() {
    let data = content(1_000_000);
    for (name, controller) in ControllerKind::WINDOWS {
        for recovery in [Recovery::Reno, Recovery::Sack] {
            let config = Config { recovery, ..with(controller.clone()) };
            let outcome = transfer(&config, link(10_000_000, 20 * MS, 0.03, 50), 3, &data, 600);
            assert!(outcome.ended && outcome.received == data, "{name}, {recovery:?}: {:?}", outcome.sender);
        }
    }
}

#[test]
fn bbr_is_not_stopped_by_random_losses() {
    let lossy = link(10_000_000, 50 * MS, 0.01, 100);
    let [bbr, cubic, reno] = [ControllerKind::Bbr, ControllerKind::Cubic, ControllerKind::Reno]
        .map(|controller| share(controller, lossy.clone(), (3, 20)));
    println!("1 % loss, 10 Mbit/s, 100 ms: BBR {bbr} %, CUBIC {cubic} %, Reno {reno} %");
    assert!(bbr > 80 && cubic < 40 && reno < 40, "BBR {bbr} %, CUBIC {cubic} %, Reno {reno} %");
}

#[test]
fn bbr_keeps_the_queue_short() {
    let smoothed_ms = |controller| {
        let config = with(controller);
        let mut pair = Pair::new(&config, link(10_000_000, 20 * MS, 0.0, 400), 1);
        let id = pair.connect(&config);
        let data = vec![0; 1 << 16];
        let mut scratch = data.clone();
        let mut other = None;
        loop {
            while pair.ends[0].write(id, &data).is_ok_and(|taken| taken > 0) {}
            other = other.or_else(|| pair.ends[1].accept());
            while other.is_some_and(|id| matches!(pair.ends[1].read(id, &mut scratch), Ok(Some(1..)))) {}
            if !pair.step(Instant::from_ns(8 * SECOND)) {
                break;
            }
        }
        pair.ends[0].stats(id).unwrap().rtt_smoothed_ns.unwrap() / MS
    };
    let (bbr, cubic) = (smoothed_ms(ControllerKind::Bbr), smoothed_ms(ControllerKind::Cubic));
    println!("smoothed round trip of 40 ms: BBR {bbr} ms, CUBIC {cubic} ms");
    assert!(bbr < 60 && cubic > 150, "BBR {bbr} ms, CUBIC {cubic} ms");
}

/// After a loss Reno needs a round trip for each segment of half the window, CUBIC K seconds.
#[test]
fn cubic_beats_reno_on_a_long_fat_link() {
    let fat = link(100_000_000, 100 * MS, 0.000_05, 1600);
    let [cubic, reno] = [ControllerKind::Cubic, ControllerKind::Reno]
        .map(|controller| share(controller, fat.clone(), (10, 100)));
    println!("100 Mbit/s, 200 ms, loss of 1 in 20 000: CUBIC {cubic} %, Reno {reno} %");
    assert!(cubic > reno * 5 / 4, "CUBIC {cubic} %, Reno {reno} %");
}

#[test]
fn two_of_a_kind_share_a_link() {
    for (name, controller) in ControllerKind::WINDOWS {
        let shares = deliver(&with(controller), link(10_000_000, 20 * MS, 0.0, 70), 2, (10, 60));
        let index = fairness(&shares);
        println!("{name}: {shares:?}, Jain's index {index} %");
        assert!(shares.len() == 2 && index > 80, "{name}: {shares:?}, {index} %");
    }
}

/// A window of ten packets of 1040 bytes in a round trip of 100 ms.
#[test]
fn pacing_spreads_what_a_window_lets_go() {
    let config = Config { pacing_percent: Some((100, 100)), ..plain() };
    let (mut lone, _) = Lone::connecting(&config);
    lone.wait_ms(100);
    let options = Options { mss: Some(1000), ..Options::default() };
    lone.say(flags::SYN | flags::ACK, 0, 1, options, b"");
    lone.hear();
    lone.write(40_000);
    assert_eq!(lone.data_sent(), [1]);
    for number in 1..4 {
        assert_eq!(lone.wait(), 10);
        assert_eq!(lone.data_sent(), [1 + 1000 * number]);
    }
}

/// Slow start overfills a queue of a third of the window: hundreds of losses. What goes again at once is lost
/// again, and then only the timer helps.
#[test]
fn a_repair_in_proportion_is_not_lost_again() {
    let timeouts = |rate_reduction, rto_margin_ns| {
        let reno = with(ControllerKind::Reno);
        let config = Config { rate_reduction, rto_margin_ns, recovery: Recovery::Sack, ..reno };
        let sender =
            transfer(&config, link(20_000_000, 100 * MS, 0.0, 170), 1, &content(8_000_000), 60).sender;
        assert!(sender.retransmitted_packets > 300, "{sender:?}");
        sender.timeouts
    };
    assert_eq!(timeouts(true, 200 * MS), 0);
    assert!(timeouts(false, 200 * MS) > 0);
    assert!(timeouts(true, 0) > 0, "the queue grows faster than the smoothed round trip");
}

#[test]
fn connections_to_one_peer_share_a_declared_rate() {
    for controller in [ControllerKind::Cubic, ControllerKind::Bbr] {
        let config = Config { rate_bps: Some(2_000_000), ..with(controller.clone()) };
        let shares = deliver(&config, link(10_000_000, 50 * MS, 0.0, 100), 3, (10, 40));
        let total_bps = shares.iter().sum::<u64>() * 8 / 30;
        assert!((1_800_000..2_000_000).contains(&total_bps), "{controller:?} {total_bps}");
        assert!(fairness(&shares) > 95, "{controller:?} {shares:?}");
    }
}

#[test]
fn a_declared_rate_is_no_window() {
    let config = Config { rate_bps: Some(8_000_000), ..with(ControllerKind::Cubic) };
    let total_bps = deliver(&config, link(1_000_000, 50 * MS, 0.0, 20), 1, (5, 35))[0] * 8 / 30;
    assert!((900_000..1_000_000).contains(&total_bps), "{total_bps}");
}

#[test]
fn a_declared_rate_ends_with_its_last_connection() {
    let declared = Config { rate_bps: Some(10_000), ..with(ControllerKind::Cubic) };
    let mut pair = Pair::new(&plain(), link(10_000_000, MS, 0.0, 100), 1);
    let slow = pair.connect(&declared);
    pair.step(Instant::from_ns(SECOND));
    pair.ends[0].abort(slow);
    pair.ends[0].release(Instant::from_ns(SECOND), slow);
    let free = pair.connect(&with(ControllerKind::Cubic));
    while pair.step(Instant::from_ns(2 * SECOND)) {}
    let data = vec![0; 20_000];
    assert_eq!(pair.ends[0].write(free, &data), Ok(data.len()));
    while pair.step(Instant::from_ns(4 * SECOND)) {}
    let stats = pair.ends[0].stats(free).unwrap();
    assert_eq!(stats.acknowledged_bytes, 20_000, "10 kbit/s would take 16 s");
}

/// A window that never changes.
#[derive(Clone, Debug)]
struct Fixed(u64);

impl Controller for Fixed {
    fn on_acked(&mut self, _now: Instant, _acked: &Acked) {}

    fn on_lost(&mut self, _now: Instant, _lost: &Lost) {}

    fn window_bytes(&self) -> u64 {
        self.0
    }

    fn pacing_rate_bps(&self, _smoothed_rtt_ns: u64) -> Option<u64> {
        None
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { name: "fixed", phase: Phase::Avoidance, cwnd_bytes: self.0, ssthresh_bytes: u64::MAX }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

#[test]
fn a_controller_from_elsewhere_decides_on_the_window() {
    let of_segments = |segments| {
        let factory = ControllerFactory::new(move |start| Box::new(Fixed(segments * start.mss_bytes)));
        ControllerKind::Window(factory)
    };
    let outcome =
        transfer(&with(of_segments(4)), link(10_000_000, 50 * MS, 0.0, 70), 1, &content(50_000), 20);
    assert!(outcome.ended && outcome.sender.controller == "fixed", "{:?}", outcome.sender);
    // A window each round trip of 100 ms and some, of a link that carries 83 segments in that time.
    let shares = [10, 20, 40]
        .map(|segments| share(of_segments(segments), link(10_000_000, 50 * MS, 0.0, 70), (3, 20)));
    assert!(
        shares[0].abs_diff(11) <= 1 && shares[1].abs_diff(22) <= 2 && shares[2].abs_diff(44) <= 4,
        "{shares:?}"
    );
}
