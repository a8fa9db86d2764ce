//! Plans: one flow of a scenario, whatever carries it.

use std::path::PathBuf;

use skyhaul_core::MS;
use skyhaul_link::LinkConfig;
use skyhaul_scenario::{
    Carrier, File, Flow, Grounds, Keep, Metrics, Protocol, Scenario, Sizes, Stop, Transport, Workload,
};

use super::error::RaceError;
use super::racer::Racer;

/// Bytes that the application writes at a time.
pub(super) const CHUNK_BYTES: u64 = 16 * 1024;
/// Size of a small exchange's request: like those of the web.
pub const REQUEST_BYTES: u64 = 350;
/// Size of its response: what fits into a packet.
pub const RESPONSE_BYTES: u64 = 1000;
/// Buffers of both ends hold so many bandwidth-delay products at least: nobody loses for want of memory.
const BUFFER_BDPS: u64 = 4;

/// Work of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The transfer.
    Bulk,
    /// Small exchanges, over one connection or over one each.
    Exchanges {
        /// Over one.
        keep: bool,
    },
}

/// Order of a race: a file, and what the user wants of it.
#[derive(Clone, Debug)]
pub struct RaceOrder {
    /// Scenario file.
    pub file: PathBuf,
    /// Keys of the file that are changed, the seed included.
    pub set: Vec<(String, String)>,
    /// Racers, each once.
    pub racers: Vec<Racer>,
    /// Runs of each, with seeds that count up from the first.
    pub runs: u32,
    /// Payload of a transfer; `None`: as the flow has it.
    pub size_bytes: Option<u64>,
    /// Rate that is declared; `None`: as the flow's transport has it, or else the lowest on the way.
    pub rate_bps: Option<u64>,
    /// Small exchanges of a run, over fresh connections and over a kept one.
    pub requests: u32,
    /// Time after which a run is ended; `None`: by what the links need.
    pub time_limit_ns: Option<u64>,
}

/// Plan of a race: the flow, the way that its packets take, and who carries it.
#[derive(Clone, Debug)]
pub struct RacePlan {
    /// Without flows.
    base: Scenario,
    /// Name of the scenario.
    pub name: String,
    /// Title of the scenario.
    pub title: String,
    /// Point of the file's sweep, in words; empty if there is but one.
    pub point: String,
    /// Racers, in the order of the tables.
    pub racers: Vec<Racer>,
    /// Sending host's number among the nodes.
    pub from: usize,
    /// Receiving host's number among the nodes.
    pub to: usize,
    /// Transport that the file has for the flow.
    of_file: Transport,
    /// Family by whose packets limits of time go, whoever races: the first of the file's register.
    pub(super) measure: &'static dyn Protocol,
    /// Payload of a transfer.
    pub payload_bytes: u64,
    /// Rate for racers that are told one.
    pub rate_bps: Option<u64>,
    /// First seed.
    pub seed: u64,
    /// Runs of each racer.
    pub runs: u32,
    /// Small exchanges of a run.
    pub requests: u32,
    /// Limit of time, if the user has set one.
    pub(super) time_limit_ns: Option<u64>,
    /// Links of the way there, with the port at which a packet enters.
    way: Vec<(usize, u32)>,
    /// Links of the way back, with the port at which a packet enters.
    back: Vec<(usize, u32)>,
}

impl RacePlan {
    /// Plan of the first bulk flow in the first point of `file`.
    ///
    /// # Errors
    /// The file has no such flow, or something is not known that must be.
    pub fn new(order: &RaceOrder, file: &File) -> Result<Self, RaceError> {
        let point = file.points().next().ok_or(RaceError::NoPoint)?;
        let base = file.first_scenario()?;
        let flow = bulk_flow(&base, order)?;
        let way = |from, to| base.way(from, to).ok_or(RaceError::NoWay);
        let (way, back) = (way(flow.from, flow.to)?, way(flow.to, flow.from)?);
        let labels = file.labels(&point).into_iter().map(|(axis, label)| format!("{axis} = {label}"));
        let plan = Self {
            name: file.name().to_string(),
            title: file.settings().title.clone(),
            point: labels.collect::<Vec<_>>().join(", "),
            racers: order.racers.clone(),
            from: flow.from,
            to: flow.to,
            payload_bytes: payload_bytes(&flow, order)?,
            rate_bps: order.rate_bps.or(declared(&flow.transport)).or(lowest_rate_bps(&base, &way)),
            measure: file.register().first().unwrap_or(flow.transport.protocol()),
            of_file: flow.transport,
            seed: file.settings().seed,
            runs: order.runs,
            requests: order.requests,
            time_limit_ns: order.time_limit_ns,
            base: Scenario { flows: Vec::new(), ..base },
            way,
            back,
        };
        if plan.rate_bps.is_none() && plan.racers.iter().any(|racer| racer.is_declared()) {
            return Err(RaceError::NoRate);
        }
        Ok(plan)
    }

    /// Seeds of a racer's runs.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        (0..u64::from(self.runs)).map(|run| self.seed.wrapping_add(run))
    }

    /// Scenario of one run that ends after `limit_ns` at the latest: nobody but this racer is under way.
    pub(crate) fn scenario(&self, racer: Racer, work: Work, limit_ns: u64) -> Scenario {
        let flow = Flow {
            name: "race".into(),
            from: self.from,
            to: self.to,
            count: 1,
            start_ns: 0,
            stagger_ns: 0,
            weight: skyhaul_core::Weight::ONE,
            transport: self.transport(racer),
            via: Vec::new(),
            end_to_end: None,
            workload: self.workload(work),
        };
        let scenario = Scenario {
            flows: vec![flow],
            carrier: Carrier::Udp,
            stop: Stop { duration_ns: Some(limit_ns), when_done: true, ..self.base.stop },
            warm_up_ns: 0,
            metrics: Metrics::default(),
            ..self.base.clone()
        };
        self.with_routers(scenario, racer)
    }

    /// Scenario with the links of the way there as this racer has them: a router that it follows stands at
    /// each that has a rate at all times, unless the file has one there.
    pub(crate) fn with_routers(&self, mut scenario: Scenario, racer: Racer) -> Scenario {
        let Some(router) = racer.router() else { return scenario };
        for &(link, port) in &self.way {
            let config = &mut scenario.links[link].config;
            let direction = if port == 0 { &mut config.forward } else { &mut config.reverse };
            if direction.is_limited() {
                direction.explicit.get_or_insert(router);
            }
        }
        scenario
    }

    fn workload(&self, work: Work) -> Workload {
        match work {
            Work::Bulk => {
                Workload::Bulk { bytes: Some(self.payload_bytes), chunk_bytes: CHUNK_BYTES, rate_bps: None }
            }
            Work::Exchanges { keep } => Workload::Requests {
                request_bytes: Sizes::Fixed(REQUEST_BYTES),
                response_bytes: Sizes::Fixed(RESPONSE_BYTES),
                think_ns: 0,
                requests: Some(u64::from(self.requests)),
                keep: if keep { Keep::Whole } else { Keep::WithRequest },
            },
        }
    }

    /// Parameters of both ends.
    pub(crate) fn transport(&self, racer: Racer) -> Transport {
        racer.transport(self.grounds())
    }

    /// Payload of a packet at most, for whoever races; what the MTU leaves may be less.
    pub(super) fn max_payload_bytes(&self) -> u16 {
        self.grounds().max_payload_bytes()
    }

    fn grounds(&self) -> Grounds<'_> {
        let Transport { opener, acceptor, .. } = &self.of_file;
        let buffer_bytes = self.buffer_bytes();
        Grounds { of_file: [opener, acceptor], rate_bps: self.rate_bps, buffer_bytes }
    }

    /// Least size of buffers: [`BUFFER_BDPS`] times what the way holds.
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

    /// Longest round trip without queues.
    pub(super) fn round_trip_ns(&self) -> u64 {
        let delays = self.way.iter().chain(&self.back).map(|&(link, port)| delay_ns(self.link(link), port));
        delays.fold(MS, u64::saturating_add)
    }

    /// Links on the way there, each with the port at which a packet enters.
    pub(super) fn way(&self) -> impl Iterator<Item = (&LinkConfig, u32)> {
        self.way.iter().map(|&(link, port)| (self.link(link), port))
    }

    /// Number of the link, and its port, with the lowest rate on the way there; of equal ones the first.
    pub(crate) fn bottleneck(&self) -> (usize, u32) {
        let rate_bps =
            |&&(link, port): &&(usize, u32)| self.link(link).direction(port).rate_bps.unwrap_or(u64::MAX);
        self.way.iter().min_by_key(rate_bps).copied().unwrap_or((0, 0)) // no way is empty
    }

    /// Number of the link, and its port, at which the sender (and at which the receiver) hands its packets
    /// over.
    pub(super) fn gates(&self) -> [(usize, u32); 2] {
        [&self.way, &self.back].map(|way| way.first().copied().unwrap_or((0, 0))) // no way is empty
    }

    /// Lowest rate on the way there when the run begins.
    pub(crate) fn lowest_rate_bps(&self) -> Option<u64> {
        lowest_rate_bps(&self.base, &self.way)
    }

    /// Name of a host.
    pub fn host(&self, node: usize) -> &str {
        &self.base.nodes[node].name
    }

    fn link(&self, link: usize) -> &LinkConfig {
        &self.base.links[link].config
    }
}

fn bulk_flow(base: &Scenario, order: &RaceOrder) -> Result<Flow, RaceError> {
    let flow = base.flows.iter().find(|flow| matches!(flow.workload, Workload::Bulk { .. }));
    flow.cloned().ok_or_else(|| RaceError::NoBulkFlow { file: order.file.clone() })
}

fn payload_bytes(flow: &Flow, order: &RaceOrder) -> Result<u64, RaceError> {
    let own = if let Workload::Bulk { bytes, .. } = flow.workload { bytes } else { None };
    match order.size_bytes.or(own) {
        Some(0) => Err(RaceError::NothingToSend),
        Some(bytes) => Ok(bytes),
        None => Err(RaceError::NoSize { flow: flow.name.clone() }),
    }
}

fn declared(transport: &Transport) -> Option<u64> {
    transport.protocol().declared_rate_bps(&transport.opener)
}

/// Lowest rate on a way when the run begins; rates may change later.
fn lowest_rate_bps(base: &Scenario, way: &[(usize, u32)]) -> Option<u64> {
    way.iter().filter_map(|&(link, port)| base.links[link].config.direction(port).rate_bps).min()
}

/// Longest delay of a packet that enters at this port.
fn delay_ns(link: &LinkConfig, port: u32) -> u64 {
    let channel = link.channel.as_ref();
    let of_channel = channel.map_or(0, |channel| channel.good.max_delay_ns.max(channel.bad.max_delay_ns));
    let direction = link.direction(port);
    let own = direction.schedule.iter().map(|step| step.delay_ns).fold(direction.delay_ns, u64::max);
    own.saturating_add(of_channel)
}
