//! `skyhaul demo`: two sealed endpoints that know each other, an emulated link between them, a real file, the
//! result set beside the physical limit.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use skyhaul_association::PublicKey;
use skyhaul_congestion::ControllerKind;
use skyhaul_core::event::Alarm;
use skyhaul_core::units::show_bytes;
use skyhaul_core::{Instant, SECOND, Stats, Stream as Random};
use skyhaul_files::{Destination, Event, ReceiveOptions, SessionReport, Side, Source, Version};
use skyhaul_lab::transfer::{LatenessMs, Traffic};
use skyhaul_lab::{Acquaintance, MODE};
use skyhaul_link::{Discipline, ExplicitConfig, LinkConfig};
use skyhaul_net::{
    EmbeddedLink, EndpointOptions, LinkReport, Listener, PathKey, PathMemory, Seal, SealedEndpoint, SealedStp,
};
use skyhaul_stp::Config;

use crate::args::DemoArgs;
use crate::confirmed::asking;
use crate::cycles::{CycleLog, CycleRecord};
use crate::errors::of_files;
use crate::failure::Failure;
use crate::known::KnownFiles;
use crate::limited::{Held, LimitLog};
use crate::line::Said;
use crate::link_history::LinkHistory;
use crate::losers::failed_files;
use crate::output::note;
use crate::parameters::CommonArgs;
use crate::progress::{TICK, TransferBar};
use crate::protection::Protection;
use crate::remembered::Recalled;
use crate::result::TransferResult;
use crate::sent::{self, Cut, SendOutcome};
use crate::shown::Shown;
use crate::signals::stop_requested;
use crate::transport::USUAL_MTU_BYTES;
use crate::ways::FILES_PORT;
use crate::wrap::wrapped;

/// Random files are made in memory.
const MAX_RANDOM_BYTES: u64 = 4 << 30;

/// The two ends and the link between them.
struct DemoSetup {
    link: EmbeddedLink,
    sender: SealedEndpoint,
    /// Key of the receiver.
    key: PublicKey,
    cycles: CycleLog,
    receiver: SealedEndpoint,
    listener: Listener<SealedStp>,
}

/// Outcome of the receiving end.
struct Received {
    report: SessionReport,
    error: Option<String>,
    arrived_at: Option<Instant>,
    /// `None` if it came to nothing.
    stats: Option<Stats>,
}

/// Everything measured, by the link's clock.
struct DemoOutcome {
    sent: SendOutcome,
    sender: Stats,
    cycles: Vec<CycleRecord>,
    received: Received,
    started_at: Option<Instant>,
    confirmed_at: Option<Instant>,
    link: LinkReport,
    seal: Option<Seal>,
    recalled: Option<Recalled>,
    held: Held,
}

pub(crate) async fn run(args: DemoArgs) -> Result<ExitCode, Failure> {
    args.verbosity().begin();
    let source = source(&args)?;
    args.sender.check_stp()?;
    args.common.check_stp()?;
    let config = skyhaul_link::preset(&args.link)
        .ok_or_else(|| Failure::usage(format!("no link called '{}'", args.link)))?;
    let config = with_router(config, &args);
    let folder = tempfile::Builder::new()
        .prefix("skyhaul-demo-")
        .tempdir()
        .map_err(|e| Failure::new(format!("cannot make a folder for the received file: {e}")))?;
    let destination = Destination::open(folder.path()).map_err(|e| Failure::new(e.to_string()))?;
    let stage = DemoSetup::set(&config, args.seed, &args.common)?;
    let progress = TransferBar::alone(args.form().hides_progress(), "");
    let measured = stage.play(source, &destination, &args, &progress).await;
    drop(progress);
    conclude(&args, &config, measured?)
}

/// Link with a router at its queue, if the sender is to ask one. All ready links have a rate.
fn with_router(mut config: LinkConfig, args: &DemoArgs) -> LinkConfig {
    let discipline = match args.sender.controller {
        Some(ControllerKind::PXcp) => Discipline::PXcp,
        Some(ControllerKind::Xcp) => Discipline::Xcp,
        _ => return config,
    };
    config.forward.explicit = Some(ExplicitConfig { discipline, set_off: None });
    config
}

fn source(args: &DemoArgs) -> Result<Source, Failure> {
    if let Some(file) = &args.file {
        return Source::open(file).map_err(|e| Failure::new(e.to_string()));
    }
    if args.size > MAX_RANDOM_BYTES {
        return Err(Failure::usage("--size is limited to 4GiB here; larger files: --file"));
    }
    let mut bytes = vec![0; args.size as usize];
    Random::new(args.seed, "demo/file").fill(&mut bytes);
    Source::from_bytes("demo.bin", bytes).map_err(|e| Failure::new(e.to_string()))
}

impl Received {
    fn nothing(error: &str) -> Self {
        Self { report: SessionReport::default(), error: Some(error.into()), arrived_at: None, stats: None }
    }
}

impl DemoSetup {
    fn set(config: &LinkConfig, seed: u64, common: &CommonArgs) -> Result<Self, Failure> {
        let cannot = |what: &str, e: std::io::Error| Failure::new(format!("cannot {what}: {e}"));
        let options = || EndpointOptions {
            mtu_bytes: Some(common.mtu.unwrap_or(USUAL_MTU_BYTES)),
            accept: common.config(),
            ..EndpointOptions::default()
        };
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let made = Acquaintance::new().and_then(|keys| Ok((keys.acceptor(loopback.ip())?, keys)));
        let ((associations, token), keys) = made.map_err(|e| cannot("make keys", e))?;
        let receiver = SealedEndpoint::bind_sealed(loopback, options(), associations);
        let receiver = receiver.map_err(|e| cannot("start the receiver", e))?;
        let listener = receiver.listen(FILES_PORT).map_err(|e| cannot("start the receiver", e))?;
        let link = EmbeddedLink::start(config.clone(), seed, receiver.local_addr())
            .map_err(|e| cannot("start the link", e))?;
        let (watch, cycles) = CycleLog::new();
        let watched = EndpointOptions { watch: Some(watch), ..options() };
        let sender = keys
            .opener(token)
            .and_then(|associations| SealedEndpoint::client_sealed(link.front_addr(), watched, associations));
        let sender = sender.map_err(|e| cannot("start the sender", e))?;
        Ok(Self { link, sender, key: keys.acceptor_key(), cycles, receiver, listener })
    }

    async fn play(
        mut self,
        source: Source,
        destination: &Destination,
        args: &DemoArgs,
        progress: &TransferBar,
    ) -> Result<DemoOutcome, Failure> {
        let peer = self.link.front_addr();
        let config = args.sender.config(&args.common);
        let recalled = recall(args, PathKey::new(self.sender.local_addr(), peer), &config);
        let config = Config { remembered: recalled.as_ref().and_then(Recalled::saved), ..config };
        let stream = self
            .sender
            .open_to(self.key, peer, FILES_PORT, config)
            .map_err(|e| Failure::new(format!("cannot open the connection: {e}")))?;
        let (mut reader, mut writer) = stream.into_split();
        progress.begin(1, source.size());
        let (known, clock) = (KnownFiles::default(), self.sender.clock());
        let limits = LimitLog::new(writer.monitor(), clock);
        let observer = |event: &Event<'_>| {
            known.observe(event, Side::Sender, clock.now());
            limits.observe(event);
        };
        let sending = sent::session(
            self.sender.clock(),
            &mut reader,
            &mut writer,
            (Version::Three, vec![source]),
            observer,
        );
        let receiving = receive(&self.receiver, &mut self.listener, destination, progress);
        let (sent, received) = tokio::select! {
            both = async { tokio::join!(sending, receiving) } => both,
            never = show_link(&self.link, &self.cycles, progress) => match never {},
            () = stop_requested() => (SendOutcome::cut(&known, Cut::Stop), Received::nothing("interrupted")),
        };
        let limited_by = limits.finish(sent.started_at, sent.confirmed_at);
        let seal = writer.monitor().id().and_then(|id| self.sender.seal_of(id));
        let (sender, clocks) = (writer.stats(), (self.sender.clock(), self.link.clock()));
        drop((reader, writer));
        let by_link = |at: Instant| clocks.0.translate(at, clocks.1);
        let received_at = received.arrived_at.map(|at| self.receiver.clock().translate(at, clocks.1));
        Ok(DemoOutcome {
            started_at: sent.started_at.map(by_link),
            confirmed_at: sent.confirmed_at.map(by_link),
            sender,
            cycles: self.cycles.finish(sender.probes),
            received: Received { arrived_at: received_at, ..received },
            sent,
            link: self.link.stop(),
            seal,
            recalled,
            held: Held { by: limited_by, read_ns: None },
        })
    }
}

/// Only if it was asked for: a demonstration is to show what a first transfer does.
fn recall(args: &DemoArgs, key: PathKey, config: &Config) -> Option<Recalled> {
    Recalled::new(PathMemory::at(args.memory.clone()?), key, config)
}

async fn receive(
    endpoint: &SealedEndpoint,
    listener: &mut Listener<SealedStp>,
    destination: &Destination,
    progress: &TransferBar,
) -> Received {
    let Some(stream) = listener.accept().await else {
        return Received::nothing("the receiver's socket failed");
    };
    let (mut reader, mut writer) = stream.into_split();
    let clock = endpoint.clock();
    let mut arrived_at = None;
    let observer = |event: &Event<'_>| match event {
        Event::Arrived { .. } => arrived_at = Some(clock.now()),
        Event::Moved { bytes, total } => progress.moved(*bytes, *total),
        _ => {}
    };
    let options = ReceiveOptions { any_name: true, ..ReceiveOptions::default() };
    let outcome = skyhaul_files::receive(&mut reader, &mut writer, destination, &options, observer).await;
    let (report, error) = match outcome {
        Ok(report) => (report, None),
        Err(error) => {
            let text = error.to_string();
            (error.report, Some(text))
        }
    };
    Received { report, error, arrived_at, stats: Some(writer.stats()) }
}

/// Shows the state of the link for as long as the transfer lasts.
async fn show_link(
    link: &EmbeddedLink,
    cycles: &CycleLog,
    progress: &TransferBar,
) -> std::convert::Infallible {
    let mut tick = tokio::time::interval(TICK);
    loop {
        tick.tick().await;
        progress.say(words(&link.report(), cycles.look(), progress.is_full()));
    }
}

/// The state of the link and what the sender does, in words.
fn words(link: &LinkReport, alarm: Option<Alarm>, is_all: bool) -> Said {
    let counters = &link.forward.counters;
    let state = if link.is_up { "link up" } else { "LINK GONE" };
    let doing = match alarm {
        _ if is_all => "waiting for confirmation",
        Some(alarm) => asking(alarm),
        None => "sending",
    };
    let lost = format!("{} lost", counters.dropped.total());
    vec![state.into(), doing.into(), lost, format!("{} queued", show_bytes(counters.queue_bytes))]
}

fn conclude(args: &DemoArgs, config: &LinkConfig, mut measured: DemoOutcome) -> Result<ExitCode, Failure> {
    let path_memory = measured.recalled.take().map(|recalled| recalled.finish(&measured.sender));
    let result = TransferResult { path_memory, ..result(args, config, &measured) };
    Shown::new(result, args.form()).print()?;
    match (measured.link.warning(), measured.link.remark()) {
        (Some(warning), _) => note(&wrapped(&format!("WARNING: {warning}"), 0)),
        (None, Some(remark)) => note(&wrapped(&format!("note: {remark}"), 0)),
        (None, None) => {}
    }
    let fault = measured.sent.fault.as_ref().map(ToString::to_string);
    if let Some(error) = fault.or(measured.received.error.clone()) {
        return Err(Failure::new(format!("the transfer failed: {error}")));
    }
    for report in [&measured.sent.report, &measured.received.report] {
        if let Some(code) = of_files(report) {
            return Err(Failure::of(code, format!("the file did not arrive: {}", failed_files(report))));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn result(args: &DemoArgs, config: &LinkConfig, measured: &DemoOutcome) -> TransferResult {
    let result = TransferResult::new(&measured.sent.report, Some(&measured.sender));
    let probing = args.sender.config(&args.common).probing;
    let mut result = result.with_cycles(&measured.cycles, measured.sent.started_at, probing.as_ref());
    result = result.with_limits(measured.held);
    let protection =
        measured.seal.map_or_else(|| Protection::wanted(MODE, None), |seal| Protection::sealed(seal, None));
    result.protection = Some(protection);
    result.link = Some(args.link.clone());
    result.seed = Some(args.seed);
    result.declared_rate_bps = args.sender.rate;
    if let Some(stats) = &measured.received.stats {
        result.reverse = Traffic::sent(stats);
    }
    result.lateness = Some(LatenessMs::new(&measured.link.forward.lateness));
    let forward = &measured.link.forward.counters;
    result.truth = measured
        .started_at
        .map(|start| LinkHistory::new(config, args.seed, start, measured.link.at, forward));
    let (Some(start), Some(end)) = (measured.started_at, measured.received.arrived_at) else {
        return result;
    };
    let seconds = end.since(start) as f64 / SECOND as f64;
    result.elapsed_s = Some(seconds);
    result.confirmed_s = measured.confirmed_at.map(|at| at.since(start) as f64 / SECOND as f64);
    result = result.with_goodput(seconds);
    let limit = skyhaul_sim::limit_bytes(&skyhaul_sim::STP, config, args.seed, 0, start, end)
        .filter(|&bytes| bytes > 0);
    result.limit_bps = limit.map(|bytes| bytes as f64 * 8.0 / seconds);
    let goodput = result.goodput_bps.filter(|&bps| bps > 0.0);
    result.share = goodput.zip(result.limit_bps).map(|(goodput, limit)| goodput / limit);
    result
}
