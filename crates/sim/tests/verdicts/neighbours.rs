//! Transfers beside neighbours of any kind, over queues of any length: what is taken for damage where the
//! link loses nothing by itself.

#[path = "../common/longest.rs"]
mod longest;

use std::fmt::Write as _;

use skyhaul_core::{Instant, Limit, LimitTimes, MS, NullSink};
use skyhaul_link::ScheduleStep;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{CAUSES, Confusion, Flows, STP, Simulation, TCP, VERDICTS};

use longest::longest;

const SECONDS: u32 = 20;
/// Number of the transfer: flows are numbered in the order of their names.
const OURS: u32 = 0;
/// Starts of a transfer, in thousandths of a second behind its due time: each meets others in another state.
pub(crate) const SHIFTS_MS: [u32; 4] = [0, 170, 430, 910];

/// Who sends beside the transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other {
    /// So many flows of TCP with this controller.
    Tcp(&'static str, u32),
    /// A constant rate, in kbit/s, whatever is lost.
    Constant(u32),
    /// Hosts that speak STP, each on its own, this many ms apart.
    Own(u32, u32),
    Nobody,
}

/// A transfer over one link, and others beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    pub(crate) rate_kbps: u32,
    pub(crate) delay: &'static str,
    pub(crate) queue: &'static str,
    /// What the link loses beside what its queue drops: keys of a direction.
    pub(crate) noise: &'static str,
    pub(crate) bytes: u32,
    pub(crate) start_ms: u32,
    pub(crate) other: Other,
    pub(crate) other_ms: u32,
}

/// What came of one transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) confusion: Confusion,
    limits: LimitTimes,
}

impl Run {
    /// Packets dropped by a queue and taken for damage; those of them with a verdict.
    pub(crate) fn damage(&self) -> (u64, u64) {
        let [congestion, corruption, ..] = self.confusion[0];
        (corruption, congestion + corruption)
    }
}

impl Run {
    /// As [`longest`] has it.
    pub(crate) fn first(&self) -> Limit {
        longest(&self.limits)
    }

    /// Time under a limit, in ms.
    pub(crate) fn spent_ms(&self, limit: Limit) -> u64 {
        self.limits.spent_ns(limit) / MS
    }
}

impl Beside {
    fn text(&self, shift_ms: u32) -> String {
        let Self { rate_kbps, delay, queue, noise, bytes, start_ms, other, other_ms } = self;
        let middle = format!("rate = \"{rate_kbps}kbit/s\", delay = \"{delay}\"{noise}");
        let queue = if queue.is_empty() { String::new() } else { format!(", queue = \"{queue}\"") };
        let mut text = format!(
            "[run]\nduration = \"{SECONDS}s\"\n[metrics]\nverdicts = true\n[nodes]\n\
             west = {{ kind = \"router\" }}\neast = {{ kind = \"router\" }}\n"
        );
        let mut links = String::new();
        let mut flows = String::from("[transports.ours]\nprotocol = \"stp\"\n");
        let mut flow = |name: &str, transport: &str, at_ms: u32, count: u32, size: &str| {
            for (host, router) in [(format!("{name}0"), "west"), (format!("{name}1"), "east")] {
                let _ = writeln!(text, "{host} = {{ kind = \"host\" }}");
                let _ = writeln!(links, "[links.{host}]\nbetween = [\"{host}\", \"{router}\"]");
                let _ = writeln!(links, "forward = {{ }}\nreverse = {{ }}");
            }
            let _ = writeln!(flows, "[flows.{name}]\nfrom = \"{name}0\"\nto = \"{name}1\"");
            let _ = writeln!(flows, "transport = \"{transport}\"\nstart = \"{at_ms}ms\"\ncount = {count}");
            let _ = writeln!(flows, "workload = {{ kind = \"bulk\"{size} }}");
        };
        let size = format!(", size = \"{bytes}B\"");
        flow("ours", "ours", start_ms + shift_ms, 1, &size);
        match *other {
            Other::Nobody => {}
            Other::Tcp(_, count) => flow("theirs", "theirs", *other_ms, count, ""),
            Other::Constant(_) => flow("theirs", "theirs", *other_ms, 1, ""),
            Other::Own(hosts, apart_ms) => {
                for at in 0..hosts {
                    flow(&format!("own{at}"), "ours", other_ms + apart_ms * at, 1, &size);
                }
            }
        }
        match other {
            Other::Tcp(controller, _) => {
                let _ =
                    writeln!(flows, "[transports.theirs]\nprotocol = \"tcp\"\ncontroller = \"{controller}\"");
            }
            Other::Constant(kbps) => {
                let _ = writeln!(flows, "[transports.theirs]\nprotocol = \"stp\"\nprobing = false");
                let _ = writeln!(flows, "rate = \"{kbps}kbit/s\"");
            }
            Other::Own(..) | Other::Nobody => {}
        }
        let _ = writeln!(text, "{links}[links.middle]\nbetween = [\"west\", \"east\"]");
        let _ = writeln!(text, "forward = {{ {middle}{queue} }}\nreverse = {{ {middle}{queue} }}");
        text + &flows
    }

    /// One run.
    pub(crate) fn run(&self, shift_ms: u32, seed: u64) -> Run {
        self.run_falling(shift_ms, seed, None)
    }

    /// One run in which the path carries no more than so many kbit/s from so many ms on.
    pub(crate) fn run_falling(&self, shift_ms: u32, seed: u64, falls: Option<(u64, u64)>) -> Run {
        let text = self.text(shift_ms);
        let file = File::parse(&Register::new(&[&STP, &TCP]), "neighbours.toml", &text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut scenario = file.first_scenario().unwrap_or_else(|error| panic!("{error}"));
        for link in scenario.links.iter_mut().filter(|link| link.config.name == "middle") {
            let first = link.config.forward.first_step();
            let step = falls.map(|(at_ms, kbps)| ScheduleStep {
                at: Instant::from_ns(at_ms * MS),
                rate_bps: Some(1000 * kbps),
                ..first
            });
            link.config.forward.schedule.extend(step);
        }
        let mut simulation = Simulation::new(&scenario, seed).unwrap_or_else(|error| panic!("{error}"));
        let ended = simulation.run(&mut NullSink);
        let measured = simulation.measured(ended).unwrap_or_else(|error| panic!("{error}"));
        let of = |cause: &str, verdict: &str| measured.metrics[&format!("verdicts.{cause}.{verdict}")] as u64;
        let hosts = simulation.network().hosts();
        let limits = hosts.flat_map(|(_, host)| {
            let flows = host.app.as_any().downcast_ref::<Flows>().into_iter();
            let ends: Vec<_> = flows.flat_map(|flows| flows.records(&host.engines)).collect();
            ends.into_iter().filter(|end| end.0 == OURS && end.1).filter_map(|end| end.3.limits)
        });
        let limits = limits.last().unwrap_or_default();
        Run { confusion: CAUSES.map(|cause| VERDICTS.map(|verdict| of(cause, verdict))), limits }
    }

    /// Runs from each start, with so many seeds.
    pub(crate) fn runs(&self, seeds: u64) -> Vec<Run> {
        let starts = SHIFTS_MS.into_iter().flat_map(|shift_ms| (1..=seeds).map(move |seed| (shift_ms, seed)));
        starts.map(|(shift_ms, seed)| self.run(shift_ms, seed)).collect()
    }
}
