//! Runs in real time: each in an emulation of its own, between network namespaces, against the kernel's own TCP.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_emulator::{Addresses, Home, HostAddress, HostPlan, Lab, LabError, LabOptions, Output, Report};
use skyhaul_net::Clock;
use skyhaul_sim::scenario::Scenario;

use super::args::RaceArgs;
use super::bottleneck::Bottleneck;
use super::end::{EndReport, Role, arguments};
use super::lab::{play, report};
use super::limit::{path_limit_bytes, time_limit_ns};
use super::outcome::{Row, Run};
use super::plan::{Plan, Work, words};
use super::progress::Progress;
use super::racer::Racer;
use crate::failure::Failure;
use crate::result::{Lateness, Traffic};
use crate::signals::stop_requested;

/// Port of the serving end.
const PORT: u16 = 4700;
/// Ends end themselves at their limit of time; this much later something is wrong.
const GRACE: Duration = Duration::from_secs(30);
/// What a buffer of the kernel's TCP can grow to, at least: the larger of its usual limits.
const USUAL_BUFFER_BYTES: u64 = 6 << 20;
/// Of its receive buffer, only every second byte is for payload.
const RECEIVE_SHARE: u64 = 2;

/// What came of all runs.
pub(super) struct Raced {
    pub(super) rows: Vec<Row>,
    /// What is to be told about the machine, a line each.
    pub(super) warnings: Vec<String>,
}

/// Runs everybody, one after the other and seed by seed. Ends early, with what there is, when the user asks for it.
pub(super) async fn race(plan: &Plan, args: &RaceArgs, progress: &Progress) -> Result<Raced, Failure> {
    let rows = plan.racers.iter().map(|&racer| Row { racer, runs: Vec::new() }).collect();
    let mut raced = Raced { rows, warnings: Vec::new() };
    let all = async {
        for seed in plan.seeds() {
            for row in &mut raced.rows {
                progress.tell(&format!("{} with seed {seed}", row.racer.name()));
                let run = run(plan, args, (row.racer, seed), &mut raced.warnings).await?;
                row.runs.push(run);
                progress.advance();
            }
        }
        Ok(())
    };
    let result = tokio::select! {
        result = all => result,
        () = stop_requested() => Ok(()),
    };
    result.map(|()| raced)
}

/// Runs one with one seed. What is to be told about the machine goes to `warnings`.
///
/// # Errors
/// There can be no emulation here.
pub(super) async fn run(
    plan: &Plan,
    args: &RaceArgs,
    (racer, seed): (Racer, u64),
    warnings: &mut Vec<String>,
) -> Result<Run, Failure> {
    Stage { plan, args, racer, seed }.run(warnings).await
}

/// One racer with one seed.
struct Stage<'a> {
    plan: &'a Plan,
    args: &'a RaceArgs,
    racer: Racer,
    seed: u64,
}

/// What came of one run.
struct Ran {
    sent: EndReport,
    served: EndReport,
    links: Report,
    /// The clock of the links.
    clock: Clock,
}

impl Stage<'_> {
    /// The transfer and the exchanges.
    async fn run(&self, warnings: &mut Vec<String>) -> Result<Run, Failure> {
        let (plan, racer) = (self.plan, self.racer);
        let ran = self.ran(Work::Bulk).await?;
        let mut run = self.transfer(&ran);
        if let Some(warning) = ran.links.warning() {
            warnings.push(format!("{} with seed {}: {warning}", racer.name(), self.seed));
        }
        for keep in [false, true] {
            if plan.requests == 0 || run.error.is_some() {
                break;
            }
            let ran = self.ran(Work::Exchanges { keep }).await?;
            run.exchange_error = run.exchange_error.or(problem(&ran));
            *(if keep { &mut run.kept_ms } else { &mut run.fresh_ms }) = ran.sent.exchanges_ms;
        }
        Ok(run)
    }

    /// Runs it in a laboratory of its own.
    async fn ran(&self, work: Work) -> Result<Ran, Failure> {
        let limit_ns = time_limit_ns(self.plan, work, self.seed);
        let scenario = self.plan.scenario(self.racer, work, limit_ns);
        let folder = tempfile::Builder::new().prefix("skyhaul-race-").tempdir();
        let folder = folder.map_err(|error| Failure::new(format!("cannot make a folder: {error}")))?;
        let signs = folder.path();
        let addresses = Arc::new(Addresses::new(&scenario));
        let [from, to] = self.hosts(&scenario, &addresses)?;
        let at = SocketAddr::from((to.v4, PORT));
        let plans = [(from, Role::Send), (to, Role::Serve)].map(|(host, role)| {
            let command = self.command((work, limit_ns), role, at, signs);
            HostPlan { host: host.clone(), home: Home::New, command: Some(command), output: Output::Capture }
        });
        let options = LabOptions { sysctls: self.switches(), ..LabOptions::new(self.seed) };
        let lab =
            Lab::start(&scenario, &addresses, plans.to_vec(), &options).map_err(|error| cannot(&error))?;
        let patience = Duration::from_nanos(limit_ns).saturating_add(GRACE);
        let clock = lab.emulation().clock();
        let (ended, links) = play(lab, [&from.name, &to.name], signs, patience).await?;
        let said = |host: &HostAddress| report(ended.iter().find(|finished| finished.host == host.name));
        Ok(Ran { sent: said(from), served: said(to), links, clock })
    }

    fn hosts<'a>(
        &self,
        scenario: &Scenario,
        addresses: &'a Addresses,
    ) -> Result<[&'a HostAddress; 2], Failure> {
        let host = |node: usize| {
            let name = &scenario.nodes[node].name;
            addresses.named(name).ok_or_else(|| Failure::new(format!("host {name} has no address")))
        };
        Ok([host(self.plan.from)?, host(self.plan.to)?])
    }

    fn command(
        &self,
        (work, limit_ns): (Work, u64),
        role: Role,
        at: SocketAddr,
        signs: &Path,
    ) -> Vec<String> {
        let mut words: Vec<String> = vec!["/proc/self/exe".into(), "race-end".into()];
        words.extend(arguments(self.args, (self.racer, work, limit_ns), role, at, signs));
        words
    }

    /// Buffers of the kernel's TCP that leave its growth to the path.
    fn switches(&self) -> Vec<(String, String)> {
        let bytes = self.plan.buffer_bytes().max(USUAL_BUFFER_BYTES).min(i32::MAX as u64 / RECEIVE_SHARE);
        vec![
            ("ipv4/tcp_rmem".into(), format!("4096 131072 {}", RECEIVE_SHARE * bytes)),
            ("ipv4/tcp_wmem".into(), format!("4096 16384 {bytes}")),
        ]
    }

    fn transfer(&self, ran: &Ran) -> Run {
        let (plan, sent, served) = (self.plan, &ran.sent, &ran.served);
        let [forward, reverse] = plan.gates().map(|(link, port)| {
            let counters = &ran.links.links[link].directions[port as usize];
            Traffic { packets: counters.entered_packets, bytes: counters.entered_bytes }
        });
        let (link, port) = plan.bottleneck();
        let narrowest = &ran.links.links[link].directions[port as usize];
        let protocol = self.racer.protocol();
        let bottleneck = Some(Bottleneck::new(narrowest, protocol, plan.max_payload_bytes()));
        let lateness = ran.links.lateness;
        let run = Run {
            seed: self.seed,
            transport: words(protocol),
            declared_rate_bps: plan.rate_bps.filter(|_| self.racer.is_declared()),
            complete: served.received_bytes >= plan.payload_bytes,
            payload_bytes: served.received_bytes,
            forward,
            reverse,
            bottleneck,
            lateness: Some(Lateness {
                p99_ms: lateness.p99_ns as f64 / 1e6,
                max_ms: lateness.max_ns as f64 / 1e6,
                share_over_1ms: lateness.late_share(),
            }),
            error: problem(ran),
            ..Run::default()
        };
        self.timed(counted(run, sent), ran)
    }

    fn timed(&self, run: Run, ran: &Ran) -> Run {
        let Some(start_ns) = ran.sent.started_at_ns else { return run };
        let last_ns = ran.served.last_byte_at_ns.filter(|_| run.complete);
        let end_ns = last_ns.unwrap_or(ran.served.ended_at_ns).max(start_ns);
        let by_links = |ns| Clock::of_machine().translate(Instant::from_ns(ns), ran.clock);
        let span = (by_links(start_ns), by_links(end_ns));
        let limit = path_limit_bytes(self.plan, self.racer.protocol(), self.seed, span);
        let confirmed_ns = ran.sent.confirmed_at_ns.map(|ns| ns.saturating_sub(start_ns));
        let run = Run { confirmed_s: confirmed_ns.map(|ns| ns as f64 / 1e9), ..run };
        run.with_time(end_ns - start_ns, limit)
    }
}

/// Why the run does not count.
fn problem(ran: &Ran) -> Option<String> {
    let (sent, served) = (&ran.sent, &ran.served);
    match sent.wrong_bytes + served.wrong_bytes {
        0 => served.error.clone().or_else(|| sent.error.clone()),
        wrong => Some(format!("{wrong} bytes arrived that were not sent so: a defect")),
    }
}

fn counted(run: Run, sent: &EndReport) -> Run {
    let Some(counted) = &sent.counted else { return run };
    let run = counted.own.as_ref().map_or(run.clone(), |own| run.with_stats(&own.stats()));
    Run {
        controller: counted.controller.clone(),
        retransmitted_packets: Some(counted.retransmitted_packets),
        ..run
    }
}

fn cannot(error: &LabError) -> Failure {
    Failure::new(format!("{error}. A race in virtual time needs nothing of that: --simulated"))
}
