//! Routes: peers behind one prefix, over paths of 50 ms that lose nothing, in virtual time.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use skyhaul_core::{
    ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream, Verdict,
};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::segment::Way;
use skyhaul_tcp::{Config, ControllerKind, Endpoint, EndpointConfig, Route, RouteRate, Routes};

const PORT: u16 = 80;
const DELAY_NS: u64 = 50 * MS;
const HUB: &str = "10.88.0.1";
const RATE_BPS: u64 = 1_000_000;

/// Packet of the hub: when it left, to whom, its octets.
type Left = (Instant, IpAddr, u64);

/// A host and its peers.
struct Star {
    hub: Endpoint,
    peers: BTreeMap<IpAddr, Endpoint>,
    under_way: VecDeque<(Instant, IpAddr, bool, NetworkFields, Vec<u8>)>,
    left: Vec<Left>,
    now: Instant,
}

fn endpoint(config: &Config, name: &str) -> Endpoint {
    let config = EndpointConfig { accept: config.clone(), ..EndpointConfig::default() };
    let mut endpoint = Endpoint::new(config, Stream::new(1, name));
    endpoint.listen(PORT);
    endpoint
}

impl Star {
    fn new(config: &Config, peers: &[&str]) -> Self {
        let peer = |text: &&str| (text.parse().unwrap(), endpoint(&speaking(), text));
        Self {
            hub: endpoint(config, "hub"),
            peers: peers.iter().map(peer).collect(),
            under_way: VecDeque::new(),
            left: Vec::new(),
            now: Instant::from_ns(SECOND),
        }
    }

    fn connect(&mut self, peer: &str, config: &Config) -> ConnectionId {
        let way = Way { local: HUB.parse().unwrap(), remote: peer.parse().unwrap() };
        self.hub.connect(self.now, way, PORT, None, config.clone()).unwrap()
    }

    fn transmit(&mut self) {
        let (mut buffer, at) = (Vec::new(), self.now.after(DELAY_NS));
        while let Some(sent) = self.hub.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
            for bytes in buffer.chunks(sent.segment_bytes) {
                self.left.push((self.now, sent.peer.remote, bytes.len() as u64 + 20));
                self.under_way.push_back((at, sent.peer.remote, true, sent.fields, bytes.to_vec()));
            }
        }
        for (&address, peer) in &mut self.peers {
            while let Some(sent) = peer.poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
                for bytes in buffer.chunks(sent.segment_bytes) {
                    self.under_way.push_back((at, address, false, sent.fields, bytes.to_vec()));
                }
            }
        }
    }

    fn arrive(&mut self) {
        while self.under_way.front().is_some_and(|packet| packet.0 <= self.now) {
            let (_, address, is_to_peer, fields, bytes) = self.under_way.pop_front().unwrap();
            let way = Way { local: HUB.parse().unwrap(), remote: address };
            if is_to_peer {
                let peer = self.peers.get_mut(&address).unwrap();
                peer.handle(self.now, way.reversed(), fields, &bytes, &mut NullSink);
            } else {
                self.hub.handle(self.now, way, fields, &bytes, &mut NullSink);
            }
        }
    }

    /// Time passes; `work` is what the hub's application does meanwhile.
    fn run(&mut self, for_ns: u64, mut work: impl FnMut(&mut Endpoint)) {
        let (end, mut scratch) = (self.now.after(for_ns), vec![0; 1 << 16]);
        loop {
            work(&mut self.hub);
            for peer in self.peers.values_mut() {
                while let Some(id) = peer.accept() {
                    assert_eq!(id, 1, "one connection a peer");
                }
                while let Ok(Some(1..)) = peer.read(1, &mut scratch) {}
            }
            self.transmit();
            let peers = self.peers.values().filter_map(Engine::deadline);
            let timers = peers.chain(self.hub.deadline());
            let next = timers.chain(self.under_way.front().map(|packet| packet.0)).min();
            let Some(next) = next.filter(|&next| next <= end) else { break };
            self.now = self.now.max(next);
            self.arrive();
            self.hub.handle_timeout(self.now, &mut NullSink);
            self.peers.values_mut().for_each(|peer| peer.handle_timeout(self.now, &mut NullSink));
        }
        self.now = end;
    }

    /// Octets to each peer since a moment.
    fn octets(&self, since: Instant) -> BTreeMap<IpAddr, u64> {
        let mut octets: BTreeMap<IpAddr, u64> = self.peers.keys().map(|&address| (address, 0)).collect();
        for (_, address, bytes) in self.left.iter().filter(|left| left.0 >= since) {
            *octets.get_mut(address).unwrap() += bytes;
        }
        octets
    }
}

/// A declared rate alone decides.
fn speaking() -> Config {
    let scps = Scps {
        controller: ControllerKind::Off,
        pacing_percent: None,
        loss_cause: Verdict::Corruption,
        ..Scps::standard()
    };
    Config { scps: Some(scps), ..Config::standard() }
}

fn rate(rate_bps: u64) -> RouteRate {
    RouteRate { rate_bps, depth_bytes: None, burst_bytes: None }
}

fn routed(routes: &[(&str, RouteRate)]) -> Config {
    let route = |(prefix, rate): &(&str, RouteRate)| Route {
        rate: Some(*rate),
        ..Route::to(prefix.parse().unwrap())
    };
    Config { routes: Routes::new(routes.iter().map(route).collect()).unwrap(), ..speaking() }
}

/// Most octets by which any time saw more than its rate: what a bucket must save to let them through.
fn most_above_rate(left: &[Left], rate_bps: u64) -> f64 {
    let (mut level, mut most, mut last) = (0.0f64, 0.0f64, left[0].0);
    for &(at, _, bytes) in left {
        let earned = at.since(last) as f64 * rate_bps as f64 / 8e9;
        level = (level - earned).max(0.0) + bytes as f64;
        (most, last) = (most.max(level), at);
    }
    most
}

/// Most octets of packets with data at one moment: an acknowledgement alone, of 52, waits for nothing.
fn most_at_once(left: &[Left]) -> u64 {
    let mut by_moment = BTreeMap::<Instant, u64>::new();
    let data = left.iter().filter(|left| left.2 > 52);
    data.for_each(|&(at, _, bytes)| *by_moment.entry(at).or_default() += bytes);
    by_moment.into_values().max().unwrap_or(0)
}

#[test]
fn two_peers_behind_a_prefix_get_half_of_its_rate_each() {
    let peers = ["10.88.0.2", "10.88.0.3"];
    let config = routed(&[("10.88.0.0/16", rate(RATE_BPS))]);
    let mut star = Star::new(&config, &peers);
    let ids = peers.map(|peer| star.connect(peer, &config));
    let data = vec![7; 20_000];
    star.run(2 * SECOND, |hub| ids.iter().for_each(|&id| _ = hub.write(id, &data)));
    let since = star.now;
    star.run(20 * SECOND, |hub| ids.iter().for_each(|&id| _ = hub.write(id, &data)));
    let rate_octets = (20 * RATE_BPS / 8) as f64;
    let shares: Vec<f64> = star.octets(since).values().map(|&octets| octets as f64 / rate_octets).collect();
    // Every byte of both peers, the openings included, and pauses in which the bucket fills.
    star.run(SECOND, |_| ());
    star.run(5 * SECOND, |hub| ids.iter().for_each(|&id| _ = hub.write(id, &data)));
    let above = most_above_rate(&star.left, RATE_BPS);
    println!(
        "shares of the rate: {:.4} and {:.4}; at most {above:.0} octets above it, {} at once",
        shares[0],
        shares[1],
        most_at_once(&star.left)
    );
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.02), "{shares:?}");
    // The reference implementation's depth, five packets, and its burst, four.
    assert!(above <= 7500.0, "{above}");
    assert!(most_at_once(&star.left) <= 6000);
}

#[test]
fn an_accepted_connection_and_one_that_is_opened_share_their_route() {
    let config = routed(&[("10.88.0.0/16", rate(RATE_BPS))]);
    let mut star = Star::new(&config, &["10.88.0.2", "10.88.0.3"]);
    let way = Way { local: "10.88.0.3".parse().unwrap(), remote: HUB.parse().unwrap() };
    let peer = star.peers.get_mut(&way.local).unwrap();
    assert_eq!(peer.connect(star.now, way, PORT, None, speaking()), Ok(1));
    let opened = star.connect("10.88.0.2", &speaking());
    let (data, mut accepted) = (vec![7; 20_000], None);
    let mut work = |hub: &mut Endpoint| {
        accepted = accepted.or_else(|| hub.accept());
        accepted.iter().chain([&opened]).for_each(|&id| _ = hub.write(id, &data));
    };
    star.run(2 * SECOND, &mut work);
    let since = star.now;
    star.run(20 * SECOND, &mut work);
    for (peer, octets) in star.octets(since) {
        let share = octets as f64 / (20 * RATE_BPS / 8) as f64;
        assert!((share - 0.5).abs() < 0.02, "{peer}: {share}");
    }
}

#[test]
fn the_longest_prefix_counts_and_peers_of_no_route_are_on_their_own() {
    let routes = [("10.0.0.0/8", rate(RATE_BPS)), ("10.88.3.0/24", rate(RATE_BPS / 2))];
    let config = routed(&routes);
    let peers = ["10.1.0.1", "10.88.3.1", "192.0.2.1"];
    let mut star = Star::new(&config, &peers);
    let own = Config { rate_bps: Some(2 * RATE_BPS), ..config.clone() };
    let ids = peers.map(|peer| star.connect(peer, &own));
    let data = vec![7; 20_000];
    let mut work = |hub: &mut Endpoint| ids.iter().for_each(|&id| _ = hub.write(id, &data));
    star.run(2 * SECOND, &mut work);
    let since = star.now;
    star.run(10 * SECOND, &mut work);
    let octets = star.octets(since);
    for (peer, rate_bps) in peers.iter().zip([RATE_BPS, RATE_BPS / 2, 2 * RATE_BPS]) {
        let share = octets[&peer.parse::<IpAddr>().unwrap()] as f64 / (10 * rate_bps / 8) as f64;
        assert!((share - 1.0).abs() < 0.01, "{peer}: {share}");
    }
}

#[test]
fn a_bucket_of_a_given_depth_lets_no_more_through_at_once_than_a_burst() {
    let deep = RouteRate { rate_bps: RATE_BPS, depth_bytes: Some(60_000), burst_bytes: Some(9000) };
    for (rate, depth, burst) in
        [(deep, 60_000.0, 9000), (RouteRate { burst_bytes: Some(100_000), ..deep }, 60_000.0, 60_000)]
    {
        let config = routed(&[("0.0.0.0/0", rate)]);
        let mut star = Star::new(&config, &["10.88.0.2"]);
        let id = star.connect("10.88.0.2", &config);
        for _ in 0..3 {
            star.run(2 * SECOND, |_| ());
            let mut left = 200_000;
            star.run(5 * SECOND, |hub| left -= hub.write(id, &vec![7; left]).unwrap_or(0));
        }
        let (above, at_once) = (most_above_rate(&star.left, RATE_BPS), most_at_once(&star.left));
        assert!(above <= depth && above > 0.9 * depth, "{rate:?}: {above}");
        assert!(at_once <= burst && at_once + 1500 > burst, "{rate:?}: {at_once}");
    }
}
