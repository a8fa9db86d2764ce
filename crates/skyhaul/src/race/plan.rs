//! What is raced: one flow of a scenario, whatever carries it.

use skyhaul_core::MS;
use skyhaul_link::LinkConfig;
use skyhaul_sim::scenario::{Carrier, File, Flow, Metrics, Scenario, Stop, Transport, Workload};
use skyhaul_sim::{EndConfig, Protocol};

use super::args::RaceArgs;
use super::racer::Racer;
use crate::failure::Failure;

/// Bytes that the application writes at a time.
pub(super) const CHUNK_BYTES: u64 = 16 * 1024;
/// Sizes of a small exchange: a request like those of the web, and what fits into a packet.
pub(super) const REQUEST_BYTES: u64 = 350;
/// See [`REQUEST_BYTES`].
pub(super) const RESPONSE_BYTES: u64 = 1000;
/// Buffers of both ends hold so many bandwidth-delay products at least: nobody loses for want of memory.
const BUFFER_BDPS: u64 = 4;

/// What one run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The transfer.
    Bulk,
    /// Small exchanges, over one connection or over one each.
    Exchanges { keep: bool },
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Without flows.
    base: Scenario,
    pub(super) name: String,
    pub(super) title: String,
    /// Which point of the file's sweep, in words; empty if there is but one.
    pub(super) point: String,
    pub(super) racers: Vec<Racer>,
    pub(super) from: usize,
    pub(super) to: usize,
    /// What the file has for the flow.
    pub(super) transport: Transport,
    pub(super) payload_bytes: u64,
    /// What is declared.
    pub(super) rate_bps: Option<u64>,
    pub(super) seed: u64,
    pub(super) runs: u32,
    pub(super) requests: u32,
    time_limit_ns: Option<u64>,
    /// Links of the way there, with the port at which a packet enters.
    way: Vec<(usize, u32)>,
    /// The same for the way back.
    back: Vec<(usize, u32)>,
}

impl Plan {
    /// What these arguments ask for.
    pub(super) fn new(args: &RaceArgs, file: &File) -> Result<Self, Failure> {
        let point = file.points().next().ok_or_else(|| Failure::new("the scenario has no point"))?;
        let base = file.first_scenario().map_err(|error| Failure::new(error.to_string()))?;
        let flow = bulk_flow(&base, args)?;
        let way = |from, to| base.way(from, to).ok_or_else(|| Failure::new("no way leads to the other host"));
        let (way, back) = (way(flow.from, flow.to)?, way(flow.to, flow.from)?);
        let labels = file.labels(&point).into_iter().map(|(axis, label)| format!("{axis} = {label}"));
        let plan = Self {
            name: file.name().to_string(),
            title: file.settings().title.clone(),
            point: labels.collect::<Vec<_>>().join(", "),
            racers: args.racers(),
            from: flow.from,
            to: flow.to,
            payload_bytes: payload_bytes(&flow, args)?,
            rate_bps: args.rate.or(declared(&flow.transport)).or(lowest_rate_bps(&base, &way)),
            transport: flow.transport,
            seed: file.settings().seed,
            runs: args.runs,
            requests: args.requests,
            time_limit_ns: args.time_limit,
            base: Scenario { flows: Vec::new(), ..base },
            way,
            back,
        };
        if plan.rate_bps.is_none() && plan.racers.iter().any(|racer| racer.is_declared()) {
            return Err(Failure::usage("no link on the way has a rate that could be declared: add --rate"));
        }
        Ok(plan)
    }

    /// The seeds of its runs.
    pub(super) fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.runs)).map(|run| self.seed.wrapping_add(run))
    }

    /// The scenario of one run that ends after `limit_ns` at the latest: nobody but this racer is under way.
    pub(super) fn scenario(&self, racer: Racer, work: Work, limit_ns: u64) -> Scenario {
        let flow = Flow {
            name: "race".into(),
            from: self.from,
            to: self.to,
            count: 1,
            start_ns: 0,
            stagger_ns: 0,
            weight: skyhaul_core::Weight::ONE,
            transport: self.transport(racer),
            workload: self.workload(work),
        };
        Scenario {
            flows: vec![flow],
            carrier: Carrier::Udp,
            stop: Stop { duration_ns: Some(limit_ns), when_done: true, ..self.base.stop },
            warm_up_ns: 0,
            metrics: Metrics::default(),
            ..self.base.clone()
        }
    }

    fn workload(&self, work: Work) -> Workload {
        match work {
            Work::Bulk => {
                Workload::Bulk { bytes: Some(self.payload_bytes), chunk_bytes: CHUNK_BYTES, rate_bps: None }
            }
            Work::Exchanges { keep } => Workload::Requests {
                request_bytes: REQUEST_BYTES,
                response_bytes: RESPONSE_BYTES,
                think_ns: 0,
                requests: Some(u64::from(self.requests)),
                keep,
            },
        }
    }

    /// Payload of a packet at most, for whoever races; what the MTU leaves may be less.
    pub(super) fn max_payload_bytes(&self) -> u16 {
        match &self.transport.opener {
            EndConfig::Stp(config) => u16::try_from(config.max_payload_bytes).unwrap_or(u16::MAX),
            EndConfig::Tcp(config) => config.mss_bytes,
        }
    }

    /// What buffers hold at least.
    pub(super) fn buffer_bytes(&self) -> u64 {
        let most_bps = |(link, port): (&LinkConfig, u32)| {
            let direction = link.direction(port);
            let steps = direction.schedule.iter().map(|step| step.rate_bps);
            steps.chain([direction.rate_bps]).flatten().max()
        };
        let rate_bps = self.way().filter_map(most_bps).min().unwrap_or(0);
        let bits = u128::from(rate_bps) * u128::from(self.round_trip_ns()) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX).saturating_mul(BUFFER_BDPS)
    }

    /// The longest round trip without queues.
    pub(super) fn round_trip_ns(&self) -> u64 {
        let delays = self.way.iter().chain(&self.back).map(|&(link, port)| delay_ns(self.link(link), port));
        delays.fold(MS, u64::saturating_add)
    }

    /// Its limit of time, if the user has set one.
    pub(super) fn own_time_limit_ns(&self) -> Option<u64> {
        self.time_limit_ns
    }

    /// Links on the way there, each with the port at which a packet enters.
    pub(super) fn way(&self) -> impl Iterator<Item = (&LinkConfig, u32)> {
        self.way.iter().map(|&(link, port)| (self.link(link), port))
    }

    /// Number of the link, and its port, with the lowest rate on the way there; of equal ones the first.
    pub(super) fn bottleneck(&self) -> (usize, u32) {
        let rate_bps =
            |&&(link, port): &&(usize, u32)| self.link(link).direction(port).rate_bps.unwrap_or(u64::MAX);
        self.way.iter().min_by_key(rate_bps).copied().unwrap_or((0, 0)) // no way is empty
    }

    /// Number of the link, and its port, at which the sender (and at which the receiver) hands its packets over.
    pub(super) fn gates(&self) -> [(usize, u32); 2] {
        [&self.way, &self.back].map(|way| way.first().copied().unwrap_or((0, 0))) // no way is empty
    }

    pub(super) fn lowest_rate_bps(&self) -> Option<u64> {
        lowest_rate_bps(&self.base, &self.way)
    }

    pub(super) fn host(&self, node: usize) -> &str {
        &self.base.nodes[node].name
    }

    fn link(&self, link: usize) -> &LinkConfig {
        &self.base.links[link].config
    }
}

fn bulk_flow(base: &Scenario, args: &RaceArgs) -> Result<Flow, Failure> {
    let flow = base.flows.iter().find(|flow| matches!(flow.workload, Workload::Bulk { .. }));
    flow.cloned().ok_or_else(|| {
        Failure::new(format!(
            "'{}' has no bulk flow, and that is what races: add [flows.NAME] with workload = {{ kind = \"bulk\", \
             size = \"10MB\" }}",
            args.file.display()
        ))
    })
}

fn payload_bytes(flow: &Flow, args: &RaceArgs) -> Result<u64, Failure> {
    let own = if let Workload::Bulk { bytes, .. } = flow.workload { bytes } else { None };
    match args.size.or(own) {
        Some(0) => Err(Failure::usage("--size 0: nothing would be sent")),
        Some(bytes) => Ok(bytes),
        None => {
            Err(Failure::usage(format!("flow '{}' has no size: say how much is sent by --size", flow.name)))
        }
    }
}

fn declared(transport: &Transport) -> Option<u64> {
    match &transport.opener {
        EndConfig::Stp(config) => config.rate_bps,
        EndConfig::Tcp(config) => config.rate_bps,
    }
}

/// When the run begins; rates may change later.
fn lowest_rate_bps(base: &Scenario, way: &[(usize, u32)]) -> Option<u64> {
    way.iter().filter_map(|&(link, port)| base.links[link].config.direction(port).rate_bps).min()
}

/// Of a packet at this port, at most.
fn delay_ns(link: &LinkConfig, port: u32) -> u64 {
    let channel = link.channel.as_ref();
    let of_channel = channel.map_or(0, |channel| channel.good.max_delay_ns.max(channel.bad.max_delay_ns));
    let direction = link.direction(port);
    let own = direction.schedule.iter().map(|step| step.delay_ns).fold(direction.delay_ns, u64::max);
    own.saturating_add(of_channel)
}

/// Whose headers the limit counts.
pub(super) fn words(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Stp => "stp",
        Protocol::Tcp => "tcp",
    }
}
