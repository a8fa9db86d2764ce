//! One run: two hosts, a link that is a little faster than what is sent, and what came of it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use skyhaul_emulator::{Addresses, EmulationReport, Home, HostPlan, Output, Testbed, TestbedOptions};
use skyhaul_net::realtime::LATENESS_ROWS;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP};

use crate::ends::{PACKET_BYTES, RECEIVE, SEND};

const SECONDS: u64 = 10;
const HALF_MS_NS: u64 = 500_000;

/// Outcome of a run.
pub(crate) struct Seen {
    mbps: u64,
    report: EmulationReport,
    received: u64,
}

pub(crate) fn run(mbps: u64) -> Result<Seen, Box<dyn Error>> {
    let scenario = File::parse(&Register::new(&[&STP, &TCP]), "capacity", &scenario(mbps))?;
    let point = scenario.points().next().ok_or("no point")?;
    let scenario = scenario.scenario_at(&point)?;
    let addresses = Arc::new(Addresses::new(&scenario));
    let [near, far] = addresses.hosts() else { return Err("two hosts are needed".into()) };
    let me = "/proc/self/exe".to_string();
    let plan = |host: &skyhaul_emulator::HostAddress, words: Vec<String>| HostPlan {
        host: host.clone(),
        home: Home::New,
        command: Some([vec![me.clone()], words].concat()),
        output: Output::Capture,
    };
    let sender = vec![SEND.into(), far.v4.to_string(), mbps.to_string(), SECONDS.to_string()];
    let plans = vec![plan(near, sender), plan(far, vec![RECEIVE.into()])];
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let mut lab = Testbed::start(&scenario, &addresses, plans, &TestbedOptions::new(1))?;
        lab.begin(&far.name)?;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        lab.begin(&near.name)?;
        let mut received = 0;
        for _ in 0..2 {
            let ended = lab.finished().await?.ok_or("an end is missing")?;
            if ended.host == far.name {
                received = String::from_utf8(ended.output)?.trim().parse()?;
            }
        }
        Ok(Seen { mbps, report: lab.stop().await, received })
    })
}

fn scenario(mbps: u64) -> String {
    let rate = mbps * 21 / 20;
    format!(
        "[run]\nduration = \"1h\"\n[nodes]\nnear = {{ kind = \"host\" }}\nfar = {{ kind = \"host\" }}\n\
         [links.middle]\nbetween = [\"near\", \"far\"]\n\
         forward = {{ rate = \"{rate}Mbit/s\", delay = \"20ms\", queue = \"20MB\" }}\n\
         reverse = {{ rate = \"{rate}Mbit/s\", delay = \"20ms\", queue = \"20MB\" }}\n\
         [transports.t]\nprotocol = \"tcp\"\n\
         [flows.f]\nfrom = \"near\"\nto = \"far\"\ntransport = \"t\"\nworkload = {{ kind = \"bulk\" }}\n"
    )
}

impl Seen {
    /// The link was late, or did not get what was offered.
    pub(crate) fn is_too_much(&self) -> bool {
        self.report.lateness.is_inexact() || self.carried_bps() < 0.98 * self.mbps as f64 * 1e6
    }

    fn carried_packets(&self) -> u64 {
        self.report.links[0].directions[0].delivered_packets
    }

    fn carried_bps(&self) -> f64 {
        (self.carried_packets() * PACKET_BYTES * 8) as f64 / SECONDS as f64
    }

    fn late_than_half_ms(&self) -> f64 {
        let lateness = &self.report.lateness;
        let first_row = LATENESS_ROWS.partition_point(|&bound| bound <= HALF_MS_NS);
        let late: u64 = lateness.histogram[first_row..].iter().sum();
        100.0 * late as f64 / lateness.packets.max(1) as f64
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lateness = &self.report.lateness;
        write!(
            f,
            "| {} | {:.0} | {:.3} | {:.3} % | {:.3} % | {:.0} us | {:.1} us | {:.1} % | {:.2} % |",
            self.mbps,
            self.carried_packets() as f64 / SECONDS as f64,
            self.carried_bps() / 1e9,
            self.late_than_half_ms(),
            100.0 * lateness.late_share(),
            lateness.p999_ns as f64 / 1e3,
            self.report.processor_us_per_packet().unwrap_or_default(),
            100.0 * self.report.processor_share(),
            100.0 * self.received as f64 / self.carried_packets().max(1) as f64
        )
    }
}
