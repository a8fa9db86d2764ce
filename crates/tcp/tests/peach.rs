//! TCP-Peach+: segments of low priority beside the window, and their answers [P-XCP I].

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod common;

use common::pair::{content, transfer};
use common::{PORT, plain, way};
use skyhaul_core::{
    Class, ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, Stats, Stream,
};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};
use skyhaul_tcp::{AckPolicy, Config, ControllerKind, Endpoint, EndpointConfig, Recovery};

const MSS: usize = 1000;
const ONE_WAY_NS: u64 = 50 * MS;
const HEADER: usize = 20;

fn config(window: usize) -> Config {
    Config {
        controller: ControllerKind::PeachPlus,
        recovery: Recovery::Sack,
        ack_policy: AckPolicy::Immediate,
        mss_bytes: MSS as u16,
        receive_limit_bytes: (window * MSS) as u64,
        timestamps: false,
        rate_reduction: false,
        ..plain()
    }
}

/// Packet under way: who gets it, and when.
#[derive(Clone, Debug)]
struct Flying {
    at: Instant,
    to: usize,
    fields: NetworkFields,
    bytes: Vec<u8>,
}

/// Two ends; what the first one sends can be dropped.
struct Ends {
    ends: [Endpoint; 2],
    now: Instant,
    id: ConnectionId,
    peer: Option<ConnectionId>,
    flying: Vec<Flying>,
    /// (millisecond, side, class, octets after a header of 20) of all that left.
    sent: Vec<(u64, usize, Class, usize)>,
    drops: fn(u64, Class, &[u8]) -> bool,
}

impl Ends {
    fn new(config: &Config, drops: fn(u64, Class, &[u8]) -> bool) -> Self {
        let end = |name| {
            let accept = Config { controller: ControllerKind::Reno, ..config.clone() };
            Endpoint::new(EndpointConfig { accept, ..EndpointConfig::default() }, Stream::new(1, name))
        };
        let mut ends = [end("a"), end("b")];
        ends[1].listen(PORT);
        let now = Instant::from_ns(0);
        let id = ends[0].connect(now, way(), PORT, None, config.clone()).unwrap();
        let mut ends = Self { ends, now, id, peer: None, flying: Vec::new(), sent: Vec::new(), drops };
        ends.until(120);
        ends.sent.clear();
        ends
    }

    fn transmit(&mut self) {
        for side in 0..2 {
            let mut buffer = Vec::new();
            while let Some(transmit) = self.ends[side].poll_transmit(self.now, &mut buffer, 1, &mut NullSink)
            {
                let (ms, class) = (self.now.as_ns() / MS, transmit.fields.class);
                let options = usize::from(buffer[12] >> 4) * 4 - HEADER;
                self.sent.push((ms, side, class, buffer.len() - HEADER - options));
                if side == 1 || !(self.drops)(ms, class, &buffer) {
                    let at = self.now.after(ONE_WAY_NS);
                    self.flying.push(Flying {
                        at,
                        to: 1 - side,
                        fields: transmit.fields,
                        bytes: buffer.clone(),
                    });
                }
            }
        }
    }

    /// Goes on up to this millisecond.
    fn until(&mut self, ms: u64) {
        let end = Instant::from_ns(ms * MS);
        loop {
            self.transmit();
            let deadlines = self.ends.iter().map(Engine::deadline);
            let next = self.flying.iter().map(|packet| Some(packet.at)).chain(deadlines).flatten().min();
            let Some(next) = next.filter(|&next| next <= end) else { break };
            self.now = self.now.max(next);
            let due = self.flying.iter().filter(|packet| packet.at <= self.now).cloned().collect::<Vec<_>>();
            self.flying.retain(|packet| packet.at > self.now);
            for Flying { to, fields, bytes, .. } in due {
                let from = if to == 1 { way().reversed() } else { way() };
                self.ends[to].handle(self.now, from, fields, &bytes, &mut NullSink);
            }
            self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
            self.read();
        }
        self.now = end;
    }

    /// The peer reads all that is there.
    fn read(&mut self) {
        self.peer = self.peer.or_else(|| self.ends[1].accept());
        let mut scratch = [0; 1 << 12];
        while let Some(Ok(Some(1..))) = self.peer.map(|peer| self.ends[1].read(peer, &mut scratch)) {}
    }

    fn write(&mut self, segments: usize) {
        let data = vec![7; segments * MSS];
        assert_eq!(self.ends[0].write(self.id, &data), Ok(data.len()));
    }

    fn stats(&self) -> Stats {
        self.ends[0].stats(self.id).unwrap()
    }

    /// Milliseconds at which a side sent packets of a class with as much data.
    fn left(&self, side: usize, class: Class, bytes: usize) -> Vec<u64> {
        let is_asked =
            |&&(_, by, of, long): &&(u64, usize, Class, usize)| (by, of, long) == (side, class, bytes);
        self.sent.iter().filter(is_asked).map(|&(ms, ..)| ms).collect()
    }
}

/// Sudden start: one segment, and the rest of the peer's window as NILs, evenly over a round trip; each is
/// answered at low priority, and each answer opens the window by one.
#[test]
fn a_sudden_start_fills_the_first_round_trip_with_low_priority_segments() {
    let mut ends = Ends::new(&config(10), |_, _, _| false);
    ends.write(100);
    ends.until(215);
    assert_eq!(ends.left(0, Class::Normal, MSS), [120], "one segment");
    assert_eq!(ends.left(0, Class::Low, MSS), [130, 140, 150, 160, 170, 180, 190, 200, 210]);
    assert_eq!(ends.left(1, Class::Low, 0), [180, 190, 200, 210], "each is answered in its class");
    assert_eq!(ends.left(1, Class::Normal, 0), [170], "and the segment as ever");
    ends.until(315);
    assert_eq!(ends.stats().cwnd_bytes / MSS as u64, 10 + 1, "nine answers, and one window of avoidance");
    assert_eq!(ends.left(0, Class::Low, MSS).len(), 9, "no more NILs");
    assert_eq!(ends.stats().lost_packets, [0; 4], "NILs are no losses");
}

/// Answers to NILs are no duplicates, with SACK or without.
#[test]
fn answers_to_low_priority_segments_repair_nothing() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut ends = Ends::new(&Config { recovery, ..config(10) }, |_, _, _| false);
        ends.write(100);
        ends.until(330);
        let stats = ends.stats();
        assert_eq!(stats.retransmitted_packets, 9, "{recovery:?}: the NILs alone");
        assert!(ends.left(0, Class::Normal, MSS).len() > 10, "{recovery:?}");
    }
}

/// Routers that have no room drop NILs, and nothing opens.
#[test]
fn what_routers_drop_opens_nothing() {
    let mut ends = Ends::new(&config(10), |_, class, _| class == Class::Low);
    ends.write(100);
    ends.until(315);
    assert_eq!(ends.left(0, Class::Low, MSS).len(), 9);
    assert_eq!(ends.left(1, Class::Low, 0), []);
    assert_eq!(ends.stats().cwnd_bytes / MSS as u64, 2, "one segment more a window");
}

/// Rapid recovery: half the window, as many NILs as there were segments in it; and a NIL that carries what
/// was lost repairs it.
#[test]
fn a_rapid_recovery_sends_as_many_as_the_old_window_had() {
    let mut ends = Ends::new(&config(10), |ms, class, _| ms == 350 && class == Class::Normal);
    ends.write(300);
    ends.until(1500);
    let before = ends.left(0, Class::Low, MSS).iter().filter(|&&ms| ms <= 215).count();
    assert_eq!(before, 9);
    let stats = ends.stats();
    assert_eq!(stats.timeouts, 0, "{stats:?}");
    let after = ends.left(0, Class::Low, MSS).len() - before;
    assert!((9..=12).contains(&after), "{after} NILs after the loss");
    assert!(stats.cwnd_bytes / MSS as u64 >= 10, "the window is back: {}", stats.cwnd_bytes);
}

/// A peer that answers more NILs than there were opens nothing.
#[test]
fn nobody_answers_more_than_was_sent() {
    let mut ends = Ends::new(&config(10), |_, class, _| class == Class::Low);
    ends.write(100);
    ends.until(171);
    // The peer's acknowledgement, over and over, in low class.
    let ack = ends.flying.iter().find(|packet| packet.to == 0).unwrap().clone();
    let fields = NetworkFields { class: Class::Low, ..ack.fields };
    for _ in 0..100 {
        ends.ends[0].handle(ends.now, way(), fields, &ack.bytes, &mut NullSink);
    }
    assert!(ends.stats().cwnd_bytes / MSS as u64 <= 1 + 9, "{}", ends.stats().cwnd_bytes);
}

fn lossy(loss: f64) -> LinkConfig {
    let direction = DirectionConfig {
        rate_bps: Some(4_000_000),
        delay_ns: 50 * MS,
        queue: QueueLimit::Packets(50),
        loss,
        ..DirectionConfig::default()
    };
    LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() }
}

/// Whatever is lost, the data arrives as it was; where there is loss by damage it beats Reno.
#[test]
fn data_arrives_whole_and_damage_costs_less_than_with_reno() {
    let data = content(2_000_000);
    let seconds = |controller: ControllerKind| -> f64 {
        let mut all = 0.0;
        for seed in 0..4 {
            let config = Config { controller: controller.clone(), send_limit_bytes: 1 << 20, ..config(64) };
            let outcome = transfer(&config, lossy(0.01), seed, &data, 300);
            assert!(outcome.ended && outcome.received == data, "{controller:?}, seed {seed}");
            all += outcome.elapsed_ns as f64 / 1e9;
        }
        all
    };
    let (peach, reno) = (seconds(ControllerKind::PeachPlus), seconds(ControllerKind::Reno));
    println!("{peach:.1} s and {reno:.1} s");
    assert!(peach < 0.8 * reno, "{peach:.1} s beside {reno:.1} s");
}
