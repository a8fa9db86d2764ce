//! Runs in real time: each in an emulation of its own, between network namespaces, against the kernel's own
//! TCP.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;
use skyhaul_emulator::{
    Addresses, EmulationReport, Home, HostAddress, HostPlan, Output, Testbed, TestbedOptions,
};
use skyhaul_net::Clock;
use skyhaul_net::association::mode_word;
use skyhaul_scenario::Scenario;
use skyhaul_sim::wrong_bytes_in_words;

use super::bottleneck::Bottleneck;
use super::end::{EndOrder, EndReport, Player, Role};
use super::error::RaceError;
use super::limit::{path_limit_bytes, time_limit_ns};
use super::outcome::{RaceRun, RacerRuns};
use super::plan::{RaceOrder, RacePlan, Work};
use super::play::{play, report};
use super::racer::Racer;
use crate::transfer::{LatenessMs, Traffic};
use crate::{MODE, Progress};

/// Port of the serving end.
const PORT: u16 = 4700;
/// Ends end themselves at their limit of time; this much later something is wrong.
const GRACE: Duration = Duration::from_secs(30);
/// Least size that a buffer of the kernel's TCP can grow to: the larger of its usual limits.
const USUAL_BUFFER_BYTES: u64 = 6 << 20;
/// Of its receive buffer, only every second byte is for payload.
const RECEIVE_SHARE: u64 = 2;

/// Command line that starts one end of a run as a process of its own; it calls [`run_end`](super::run_end).
pub type EndCommand = fn(&RaceOrder, &EndOrder<'_>) -> Vec<String>;

/// Race in real time.
#[derive(Clone, Copy, Debug)]
pub struct LiveRace<'a> {
    /// Plan that was made of the order.
    pub plan: &'a RacePlan,
    /// Order for both ends, which plan for themselves.
    pub order: &'a RaceOrder,
    /// Starts an end.
    pub end_command: EndCommand,
}

/// Outcome of a race in real time.
#[derive(Debug)]
pub struct Raced {
    /// A row for each racer.
    pub rows: Vec<RacerRuns>,
    /// Remarks about the machine, a line each.
    pub warnings: Vec<String>,
}

/// Check that this racer of a plan can race in real time.
///
/// # Errors
/// [`RaceError::NotInRealTime`].
pub fn check_real_time(plan: &RacePlan, racer: Racer) -> Result<(), RaceError> {
    Player::new(racer, &plan.transport(racer).opener).map(drop)
}

impl LiveRace<'_> {
    /// Runs everybody, one after the other and seed by seed. Ends early, with what there is, when `stop`
    /// resolves.
    ///
    /// # Errors
    /// There can be no emulation here; somebody cannot race in real time. Then nobody does.
    pub async fn race(
        &self,
        stop: impl Future<Output = ()>,
        progress: &dyn Progress,
    ) -> Result<Raced, RaceError> {
        self.plan.racers.iter().try_for_each(|&racer| check_real_time(self.plan, racer))?;
        let rows = self.plan.racers.iter().map(|&racer| RacerRuns { racer, runs: Vec::new() }).collect();
        let mut raced = Raced { rows, warnings: Vec::new() };
        let all = async {
            for seed in self.plan.seeds() {
                for row in &mut raced.rows {
                    progress.begun(&format!("{} with seed {seed}", row.racer.name()));
                    let run = self.run((row.racer, seed), &mut raced.warnings).await?;
                    row.runs.push(run);
                    progress.finished(1);
                }
            }
            Ok(())
        };
        let result = tokio::select! {
            result = all => result,
            () = stop => Ok(()),
        };
        result.map(|()| raced)
    }

    /// Outcome of one racer with one seed. Remarks about the machine go to `warnings`.
    ///
    /// # Errors
    /// There can be no emulation here.
    pub(crate) async fn run(
        &self,
        (racer, seed): (Racer, u64),
        warnings: &mut Vec<String>,
    ) -> Result<RaceRun, RaceError> {
        let Self { plan, order, end_command } = *self;
        Stage { plan, order, end_command, racer, seed }.run(warnings).await
    }
}

/// One racer with one seed.
struct Stage<'a> {
    plan: &'a RacePlan,
    order: &'a RaceOrder,
    end_command: EndCommand,
    racer: Racer,
    seed: u64,
}

/// Reports on one run.
struct Ran {
    sent: EndReport,
    served: EndReport,
    links: EmulationReport,
    /// The clock of the links.
    clock: Clock,
}

impl Stage<'_> {
    /// The transfer and the exchanges.
    async fn run(&self, warnings: &mut Vec<String>) -> Result<RaceRun, RaceError> {
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
    async fn ran(&self, work: Work) -> Result<Ran, RaceError> {
        let limit_ns = time_limit_ns(self.plan, work, self.seed);
        let scenario = self.plan.scenario(self.racer, work, limit_ns);
        let folder = tempfile::Builder::new().prefix("skyhaul-race-").tempdir();
        let folder = folder.map_err(RaceError::Signs)?;
        let signs = folder.path();
        let addresses = Arc::new(Addresses::new(&scenario));
        let [from, to] = self.hosts(&scenario, &addresses)?;
        let at = SocketAddr::from((to.v4, PORT));
        let plans = [(from, Role::Send), (to, Role::Serve)].map(|(host, role)| {
            let end = EndOrder { racer: self.racer, work, limit_ns, role, at, from: from.v4.into(), signs };
            let command = (self.end_command)(self.order, &end);
            HostPlan { host: host.clone(), home: Home::New, command: Some(command), output: Output::Capture }
        });
        let options = TestbedOptions { sysctls: self.switches(), ..TestbedOptions::new(self.seed) };
        let lab = Testbed::start(&scenario, &addresses, plans.to_vec(), &options)?;
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
    ) -> Result<[&'a HostAddress; 2], RaceError> {
        let host = |node: usize| {
            let name = &scenario.nodes[node].name;
            addresses.named(name).ok_or_else(|| RaceError::NoAddress(name.clone()))
        };
        Ok([host(self.plan.from)?, host(self.plan.to)?])
    }

    /// Buffers of the kernel's TCP that leave its growth to the path, and the racer's switches.
    fn switches(&self) -> Vec<(String, String)> {
        let bytes = self.plan.buffer_bytes().max(USUAL_BUFFER_BYTES).min(i32::MAX as u64 / RECEIVE_SHARE);
        let buffers = [
            ("ipv4/tcp_rmem".into(), format!("4096 131072 {}", RECEIVE_SHARE * bytes)),
            ("ipv4/tcp_wmem".into(), format!("4096 16384 {bytes}")),
        ];
        buffers.into_iter().chain(self.racer.kernel_switches()).collect()
    }

    fn transfer(&self, ran: &Ran) -> RaceRun {
        let (plan, sent, served) = (self.plan, &ran.sent, &ran.served);
        let [forward, reverse] = plan.gates().map(|(link, port)| {
            let counters = &ran.links.links[link].directions[port as usize];
            Traffic { packets: counters.entered_packets, bytes: counters.entered_bytes }
        });
        let (link, port) = plan.bottleneck();
        let narrowest = &ran.links.links[link].directions[port as usize];
        let protocol = self.racer.protocol();
        let bottleneck = Some(Bottleneck::new(narrowest, protocol, plan.max_payload_bytes()));
        let run = RaceRun {
            seed: self.seed,
            transport: self.racer.transport_name(),
            protection: Some(mode_word(if self.racer.is_sealed() { MODE } else { Mode::Plain })),
            declared_rate_bps: plan.rate_bps.filter(|_| self.racer.is_declared()),
            complete: served.received_bytes >= plan.payload_bytes,
            payload_bytes: served.received_bytes,
            forward,
            reverse,
            bottleneck,
            lateness: Some(LatenessMs::new(&ran.links.lateness)),
            error: problem(ran),
            ..RaceRun::default()
        };
        self.timed(counted(run, sent), ran)
    }

    fn timed(&self, run: RaceRun, ran: &Ran) -> RaceRun {
        let Some(start_ns) = ran.sent.started_at_ns else { return run };
        let last_ns = ran.served.last_byte_at_ns.filter(|_| run.complete);
        let end_ns = last_ns.unwrap_or(ran.served.ended_at_ns).max(start_ns);
        let by_links = |ns| Clock::of_machine().translate(Instant::from_ns(ns), ran.clock);
        let span = (by_links(start_ns), by_links(end_ns));
        let limit = path_limit_bytes(self.plan, self.racer.protocol(), self.seed, span);
        let confirmed_ns = ran.sent.confirmed_at_ns.map(|ns| ns.saturating_sub(start_ns));
        let run = RaceRun { confirmed_s: confirmed_ns.map(|ns| ns as f64 / 1e9), ..run };
        run.with_time(end_ns - start_ns, limit)
    }
}

/// Reason why the run does not count.
fn problem(ran: &Ran) -> Option<String> {
    let (sent, served) = (&ran.sent, &ran.served);
    match sent.wrong_bytes + served.wrong_bytes {
        0 => served.error.clone().or_else(|| sent.error.clone()),
        wrong => {
            let directions = ran.links.links.iter().flat_map(|link| &link.directions);
            let damaged = directions.map(|counters| counters.damaged_packets).sum();
            Some(wrong_bytes_in_words(wrong, damaged))
        }
    }
}

fn counted(run: RaceRun, sent: &EndReport) -> RaceRun {
    let Some(counted) = &sent.counted else { return run };
    let run = counted.own.as_ref().map_or(run.clone(), |own| run.with_stats(&own.stats()));
    RaceRun {
        controller: counted.controller.clone(),
        retransmitted_packets: Some(counted.retransmitted_packets),
        ..run
    }
}
