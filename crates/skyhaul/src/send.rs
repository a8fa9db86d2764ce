//! `skyhaul send FILE... ADDRESS:PORT`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_files::{Event, Report, Source};
use skyhaul_net::{Endpoint, EndpointOptions, OwnedReadHalf, OwnedWriteHalf};

use crate::address::resolve;
use crate::args::SendArgs;
use crate::confirmed::Confirmed;
use crate::failure::Failure;
use crate::output::print;
use crate::progress::Progress;
use crate::result::TransferResult;
use crate::signals::stop_requested;
use crate::table::table;

/// STP port of the file transfer.
pub(crate) const FILES_PORT: u16 = 1;
/// How long late repeats of the peer are answered after the result is known.
pub(crate) const LINGER: Duration = Duration::from_secs(15);

pub(crate) async fn run(args: SendArgs) -> Result<ExitCode, Failure> {
    let sources = open_sources(&args.files)?;
    let peer = resolve(&args.to).await?;
    let config = args.common.config(args.rate);
    let options =
        EndpointOptions { mtu_bytes: args.common.mtu, accept: config.clone(), ..EndpointOptions::default() };
    let endpoint =
        Endpoint::client(peer, options).map_err(|e| Failure::new(format!("cannot send to {peer}: {e}")))?;
    let stream = endpoint
        .open(peer, FILES_PORT, config)
        .map_err(|e| Failure::new(format!("cannot open a connection to {peer}: {e}")))?;
    let progress = Progress::new(args.common.json);
    let (mut reader, mut writer) = stream.into_split();
    let confirmed = Confirmed::new(&progress, writer.monitor(), endpoint.clock());
    let observer = |event: &Event<'_>| confirmed.observe(event);
    let outcome = tokio::select! {
        outcome = session(&endpoint, &mut reader, &mut writer, sources, observer) => outcome,
        never = confirmed.show() => match never {},
        () = stop_requested() => {
            progress.clear();
            drop((reader, writer));
            endpoint.close().await;
            return Err(Failure::new("interrupted; the receiver keeps nothing of unfinished files"));
        }
    };
    progress.clear();
    let result = TransferResult { declared_rate_bps: args.rate, ..outcome.result(&writer) };
    drop((reader, writer));
    let shown = show(&result, args.common.json);
    endpoint.wait_idle(LINGER).await;
    shown?;
    match outcome.error {
        Some(error) => Err(Failure::new(format!("sending to {peer} failed: {error}"))),
        None if outcome.report.all_delivered() => Ok(ExitCode::SUCCESS),
        None => Err(Failure::new("not every file arrived; the reasons are above")),
    }
}

/// Prints the result as it was asked for.
pub(crate) fn show(result: &TransferResult, json: bool) -> Result<(), Failure> {
    if json { print(&format!("{}\n", result.to_json())) } else { print(&table(result)) }
}

/// Opens every file before anything is connected.
fn open_sources(files: &[PathBuf]) -> Result<Vec<Source>, Failure> {
    let mut names = BTreeSet::new();
    for file in files {
        if !names.insert(file.file_name()) {
            let name = file.file_name().unwrap_or_default();
            let name = name.to_string_lossy().escape_debug().to_string();
            return Err(Failure::usage(format!("two files are called '{name}': send them one by one")));
        }
    }
    files.iter().map(|file| Source::open(file).map_err(|e| Failure::new(e.to_string()))).collect()
}

/// What a sending session came to.
pub(crate) struct Sent {
    pub(crate) report: Report,
    pub(crate) error: Option<String>,
    pub(crate) started_at: Option<Instant>,
    pub(crate) confirmed_at: Instant,
}

impl Sent {
    fn result(&self, writer: &OwnedWriteHalf) -> TransferResult {
        let stats = writer.stats();
        let result = TransferResult::new(&self.report, Some(&stats));
        let Some(started_at) = self.started_at else { return result };
        let confirmed_s = self.confirmed_at.since(started_at) as f64 / 1e9;
        TransferResult { confirmed_s: Some(confirmed_s), ..result.with_goodput(confirmed_s) }
    }
}

/// Sends the sources over an open stream.
pub(crate) async fn session(
    endpoint: &Endpoint,
    reader: &mut OwnedReadHalf,
    writer: &mut OwnedWriteHalf,
    sources: Vec<Source>,
    mut observer: impl FnMut(&Event<'_>),
) -> Sent {
    let clock = endpoint.clock();
    let mut started_at = None;
    let mut confirmed_at = None;
    let stamping = |event: &Event<'_>| {
        match event {
            Event::Started { .. } => started_at = Some(clock.now()),
            Event::Settled { .. } => confirmed_at = Some(clock.now()),
            _ => {}
        }
        observer(event);
    };
    let outcome = skyhaul_files::send(reader, writer, sources, stamping).await;
    let (report, error) = match outcome {
        Ok(report) => (report, None),
        Err(error) => {
            let text = error.to_string();
            (error.report, Some(text))
        }
    };
    Sent { report, error, started_at, confirmed_at: confirmed_at.unwrap_or_else(|| clock.now()) }
}
