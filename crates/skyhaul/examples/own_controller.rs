//! Controllers of your own: one of a window, one of a path's rate; each over loopback, then in a scenario.
//!
//! `cargo run -p skyhaul --example own_controller`

use std::io;
use std::time::Duration;

use skyhaul::control::{
    Acked, Controller, ControllerConfig, ControllerFactory, ControllerKind, Instant, Lost, PathController,
    PathControllerFactory, PathSample, PathStart, Phase, SECOND, Snapshot, UNMEASURED_RATE_BPS, Verdict,
};
use skyhaul::simulate::Scenario;
use skyhaul::{Config, Endpoint, EndpointOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A window that doubles each round trip until a queue overflows, then grows by a segment a round trip, and
/// shrinks by an eighth at each further overflow. What the link damaged does not move it.
#[derive(Clone, Debug)]
struct Gentle {
    start: ControllerConfig,
    window_bytes: u64,
    has_overflowed: bool,
}

impl Gentle {
    fn new(start: ControllerConfig) -> Self {
        Self { window_bytes: start.initial_window_bytes, start, has_overflowed: false }
    }
}

impl Controller for Gentle {
    fn on_acked(&mut self, _now: Instant, acked: &Acked) {
        if acked.app_limited {
            return; // a window that is not used tells nothing about the path
        }
        self.window_bytes += if self.has_overflowed {
            self.start.mss_bytes * acked.bytes / self.window_bytes.max(1)
        } else {
            acked.bytes
        };
        self.window_bytes = self.window_bytes.min(self.start.max_window_bytes);
    }

    fn on_lost(&mut self, _now: Instant, lost: &Lost) {
        // Packets of one overflow are found lost one report after the other: the first one counts.
        if lost.verdict == Verdict::Congestion && lost.begins_event {
            self.window_bytes = (self.window_bytes * 7 / 8).max(2 * self.start.mss_bytes);
            self.has_overflowed = true;
        }
    }

    fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Twice a window a round trip: packets do not leave in bursts, and what may leave does.
    fn pacing_rate_bps(&self, smoothed_rtt_ns: u64) -> Option<u64> {
        let bits = u128::from(self.window_bytes) * 8 * u128::from(SECOND) * 2;
        u64::try_from(bits / u128::from(smoothed_rtt_ns.max(1))).ok()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            name: "gentle",
            phase: Phase::Avoidance,
            cwnd_bytes: self.window_bytes,
            ssthresh_bytes: u64::MAX,
        }
    }

    fn boxed_clone(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// A rate: a quarter more than the largest at which anything arrived.
#[derive(Clone, Debug)]
struct Follows {
    first_window_bytes: u64,
    rate_bps: Option<u64>,
    min_rtt_ns: u64,
}

impl Follows {
    fn new(start: PathStart) -> Self {
        Self { first_window_bytes: start.first_window_bytes, rate_bps: None, min_rtt_ns: u64::MAX }
    }
}

impl PathController for Follows {
    fn on_sample(&mut self, _now: Instant, sample: &PathSample) {
        self.min_rtt_ns = self.min_rtt_ns.min(sample.rtt_ns);
        // What arrived over about half a round trip, by the receiver's clock.
        if let Some(seen) = sample.long.filter(|seen| seen.arrived_ns > 0) {
            let bits = u128::from(seen.arrived_bytes) * 8 * u128::from(SECOND);
            let arrived_bps = u64::try_from(bits / u128::from(seen.arrived_ns)).unwrap_or(u64::MAX);
            self.rate_bps = self.rate_bps.max(Some((arrived_bps / 4 * 5).max(1)));
        }
    }

    fn on_outage(&mut self, _now: Instant) {}

    fn rate_bps(&self) -> u64 {
        self.rate_bps.unwrap_or(UNMEASURED_RATE_BPS)
    }

    /// Two bandwidth-delay products.
    fn window_bytes(&self) -> u64 {
        let Some(rate_bps) = self.rate_bps else { return self.first_window_bytes };
        let bits = 2 * u128::from(rate_bps) * u128::from(self.min_rtt_ns) / u128::from(SECOND);
        u64::try_from(bits / 8).unwrap_or(u64::MAX).max(self.first_window_bytes)
    }

    fn phase(&self) -> Phase {
        if self.rate_bps.is_some() { Phase::Holding } else { Phase::Measuring }
    }

    fn name(&self) -> &'static str {
        "follows"
    }

    fn boxed_clone(&self) -> Box<dyn PathController> {
        Box::new(self.clone())
    }
}

/// Parameters with one of the two.
fn with(kind: ControllerKind) -> Config {
    let mut config = Config::standard();
    config.controller.kind = kind;
    config
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let gentle = with(ControllerKind::Window(ControllerFactory::new(|start| Box::new(Gentle::new(start)))));
    let follows =
        with(ControllerKind::Path(PathControllerFactory::new(|start| Box::new(Follows::new(start)))));
    for (name, config) in [("gentle", gentle), ("follows", follows)] {
        over_loopback(name, config.clone()).await?;
        in_a_scenario(name, config).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Sends 2 MB; the connection must say that it goes by this controller.
async fn over_loopback(name: &str, config: Config) -> io::Result<()> {
    let ground = Endpoint::bind("127.0.0.1:0".parse().expect("an address"), EndpointOptions::default())?;
    let mut listener = ground.listen(7)?;
    let craft = Endpoint::client(ground.local_addr(), EndpointOptions::default())?;
    let mut up = craft.open(ground.local_addr(), 7, config)?;
    let sending = async {
        up.write_all(&vec![7; 2_000_000]).await?;
        let controller = up.stats().controller;
        up.shutdown().await?;
        io::Result::Ok(controller)
    };
    let receiving = async {
        let mut down = listener.accept().await.ok_or(io::ErrorKind::NotConnected)?;
        let mut all = Vec::new();
        down.read_to_end(&mut all).await?;
        down.shutdown().await?;
        io::Result::Ok(all.len())
    };
    let (controller, received) = tokio::try_join!(sending, receiving)?;
    craft.wait_idle(Duration::from_secs(5)).await;
    if (controller, received) != (name, 2_000_000) {
        return Err(io::Error::other(format!("{received} bytes by {controller}")));
    }
    println!("{name}: 2 MB over loopback");
    Ok(())
}

/// A satellite link of 10 Mbit/s.
const SCENARIO: &str = r#"
title = "A file over a satellite, by a controller of one's own"

[run]
goal = "done"
duration = "60s"

[nodes.ground]
kind = "host"
[nodes.craft]
kind = "host"

[links.space]
between = ["ground", "craft"]

[links.space.forward]
rate = "10Mbit/s"
delay = "275ms"
queue = "687500B"

[links.space.reverse]
rate = "10Mbit/s"
delay = "275ms"
queue = "687500B"

[transports.stp]
protocol = "stp"

[flows.file]
from = "ground"
to = "craft"
transport = "stp"
workload = { kind = "bulk", size = "5MB" }
"#;

/// Sends 5 MB in virtual time.
fn in_a_scenario(name: &str, config: Config) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut scenario = Scenario::parse("own_controller.toml", SCENARIO, &[])?;
    scenario.set_opener("file", config)?;
    let result = scenario.run(1)?;
    let goodput_bps = result.metric("goodput_bps").ok_or("nothing arrived")?;
    println!("{name}: {:.2} Mbit/s over the satellite", goodput_bps / 1e6);
    if goodput_bps < 1e5 {
        return Err("that is too slow".into());
    }
    Ok(())
}

#[test]
fn both_controllers_work() {
    main().unwrap();
}
