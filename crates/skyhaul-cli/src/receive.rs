//! `skyhaul receive --dir DIR`.

use std::future::{Future as _, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::Poll;

use skyhaul_capture::Inlet;
use skyhaul_files::{Destination, Event, ReceiveError, ReceiveOptions, SessionReport, Side};
use skyhaul_lab::transfer::Traffic;
use skyhaul_net::{Endpoint, EndpointOptions, Listener, Protocol, Stream, is_reachable_from_outside};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};

use crate::advice;
use crate::args::ReceiveArgs;
use crate::descriptors;
use crate::errors::{ErrorCode, of_fault, of_files};
use crate::failure::Failure;
use crate::known::KnownFiles;
use crate::losers::failed_files;
use crate::output::{self, note};
use crate::progress::ProgressLine;
use crate::result::TransferResult;
use crate::send::{LINGER, show};
use crate::signals::stop_requested;
use crate::strangers::Strangers;
use crate::transport::{TcpChoice, TransportEnd, host_address};
use crate::verbosity::Form;
use crate::ways::{FILES_PORT, WIDE_FILES_PORT};

/// Transfers at the same time; further ones wait.
const MAX_SESSIONS: usize = 16;

/// Needs of every session.
struct Room<E> {
    destination: Destination,
    options: ReceiveOptions,
    endpoint: E,
    /// Becomes true when every session shall end.
    stop: watch::Sender<bool>,
    form: Form,
    progress: ProgressLine,
    strangers: Strangers,
}

impl<E> Room<E> {
    fn new(args: &ReceiveArgs, destination: Destination, endpoint: E) -> Self {
        let options = ReceiveOptions {
            overwrite: args.overwrite,
            max_bytes: args.max_size,
            any_name: args.any_name,
            max_open_files: Some(descriptors::for_each_session(MAX_SESSIONS)),
        };
        let (stop, form) = (watch::Sender::new(false), args.form());
        let progress = ProgressLine::new(form.hides_progress());
        Self { destination, options, endpoint, stop, form, progress, strangers: Strangers::default() }
    }

    /// Folder of the files, from the root where that is known.
    fn folder(&self) -> PathBuf {
        let path = self.destination.path();
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

pub(crate) async fn run(args: ReceiveArgs) -> Result<ExitCode, Failure> {
    args.verbosity.begin();
    let destination = Destination::open(&args.dir)?;
    destination.check_writable()?;
    match destination.remove_abandoned() {
        0 => {}
        removed => note(&format!("unfinished files of a receiver that was killed, removed: {removed}")),
    }
    let choice = args.transport.tcp(&args.common)?;
    let capture = args.capture.start("skyhaul receive", &["receiver".to_string()])?;
    let done = at_transport(&args, choice, capture.inlet(), destination).await;
    capture.finish();
    done
}

/// Waits for files at the transport of choice.
async fn at_transport(
    args: &ReceiveArgs,
    choice: Option<TcpChoice>,
    capture: Option<Inlet>,
    destination: Destination,
) -> Result<ExitCode, Failure> {
    match choice {
        None => {
            let endpoint = stp_endpoint(args, capture)?;
            let address = endpoint.local_addr();
            let listeners = [WIDE_FILES_PORT, FILES_PORT].map(|port| endpoint.listen(port));
            let listeners: Result<_, _> = listeners.into_iter().collect();
            let listeners = listeners.map_err(|error| cannot_accept(&error))?;
            let room = Room::new(args, destination, endpoint);
            wait(room, listeners, address, args.once).await
        }
        Some(choice) => {
            let endpoint = choice.host(host_address(args.listen)?, capture)?;
            let listener =
                endpoint.listen(args.listen.port(), MAX_SESSIONS).map_err(|error| cannot_accept(&error))?;
            let room = Room::new(args, destination, endpoint);
            wait(room, vec![listener], args.listen, args.once).await
        }
    }
}

fn stp_endpoint(args: &ReceiveArgs, capture: Option<Inlet>) -> Result<Endpoint, Failure> {
    let options = EndpointOptions {
        mtu_bytes: args.common.mtu,
        accept: args.common.config(),
        capture,
        ..EndpointOptions::default()
    };
    Endpoint::bind(args.listen, options).map_err(|error| {
        let advice = advice::of_listening(args.listen, &error);
        Failure::of(ErrorCode::CannotListen, format!("cannot wait at {}: {error}{advice}", args.listen))
    })
}

fn cannot_accept(error: &io::Error) -> Failure {
    Failure::of(ErrorCode::CannotListen, format!("cannot accept connections: {error}"))
}

async fn wait<E: TransportEnd + 'static>(
    room: Room<E>,
    listeners: Vec<Listener<E::Protocol>>,
    address: SocketAddr,
    once: bool,
) -> Result<ExitCode, Failure> {
    announce(address);
    let room = Rc::new(room);
    let done = LocalSet::new().run_until(serve(Rc::clone(&room), listeners, once)).await;
    room.strangers.finish();
    done
}

fn announce(address: SocketAddr) {
    note(&format!("waiting for files at {address}"));
    if is_reachable_from_outside(address) {
        note(&format!(
            "WARNING: {address} can be reached from outside and the transfer is NOT protected: \
             anyone can send files here, and anyone on the path can read and change them"
        ));
    }
}

async fn serve<E: TransportEnd + 'static>(
    room: Rc<Room<E>>,
    mut listeners: Vec<Listener<E::Protocol>>,
    once: bool,
) -> Result<ExitCode, Failure> {
    let mut sessions = JoinSet::new();
    let mut stop = pin!(stop_requested());
    loop {
        tokio::select! {
            stream = accept(&mut listeners), if sessions.len() < MAX_SESSIONS => match stream {
                Some(stream) => drop(sessions.spawn_local(session(Rc::clone(&room), stream))),
                None => return Err(Failure::of(E::LOST_CODE, E::LOST)),
            },
            Some(done) = sessions.join_next() => {
                let complete = done.unwrap_or(false);
                if once {
                    drop(listeners);
                    // The sender knows every result: it does not depend on our last words.
                    room.endpoint.wait_ended(LINGER).await;
                    return Ok(ExitCode::from(u8::from(!complete)));
                }
            }
            () = &mut stop => return stopped(&room, once, sessions).await,
        }
    }
}

/// The next connection at any of these; `None` when there will be none.
async fn accept<P: Protocol>(listeners: &mut [Listener<P>]) -> Option<Stream<P>> {
    let mut accepting: Vec<_> = listeners.iter_mut().map(|listener| Box::pin(listener.accept())).collect();
    poll_fn(|cx| {
        let ready = accepting.iter_mut().find_map(|accept| match accept.as_mut().poll(cx) {
            Poll::Ready(stream) => Some(stream),
            Poll::Pending => None,
        });
        ready.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

async fn stopped<E: TransportEnd>(
    room: &Room<E>,
    once: bool,
    mut sessions: JoinSet<bool>,
) -> Result<ExitCode, Failure> {
    room.stop.send_replace(true);
    let mut cut = 0;
    while let Some(done) = sessions.join_next().await {
        cut += u32::from(!done.unwrap_or(false));
    }
    room.endpoint.close().await;
    if cut > 0 {
        let message = format!("interrupted; unfinished transfers given up: {cut}");
        return Err(Failure::of(ErrorCode::Interrupted, message).in_result());
    }
    if !once {
        return Ok(ExitCode::SUCCESS);
    }
    let failure = Failure::of(ErrorCode::Interrupted, "interrupted before a transfer came");
    if room.form == Form::Json {
        let nothing = TransferResult::new(&SessionReport::default(), None);
        show(
            &TransferResult { transport: E::TRANSPORT, error: Some(failure.result()), ..nothing },
            room.form,
        )?;
    }
    Err(failure.in_result())
}

/// Receives what one sender sends; true if every file is there.
async fn session<E: TransportEnd>(room: Rc<Room<E>>, stream: Stream<E::Protocol>) -> bool {
    let peer = stream.peer_addr();
    let progress = room.progress.transfer(format!("from {peer}"));
    let clock = room.endpoint.clock();
    let drops_before = room.endpoint.socket_drops();
    let (mut reader, mut writer) = stream.into_split();
    let mut started_at = None;
    let mut arrived_at = None;
    let known = KnownFiles::default();
    let observer = |event: &Event<'_>| {
        known.observe(event, Side::Receiver, clock.now());
        match event {
            Event::Started { .. } => started_at = Some(clock.now()),
            Event::Arrived { .. } => arrived_at = Some(clock.now()),
            _ => {}
        }
        progress.observe(event);
    };
    let mut stop = room.stop.subscribe();
    let received = tokio::select! {
        received = skyhaul_files::receive(
            &mut reader, &mut writer, &room.destination, &room.options, observer,
        ) => Some(received),
        _ = stop.wait_for(|&stop| stop) => None,
    };
    drop(progress);
    if known.started_at().is_none() {
        room.strangers.no_transfer(clock.now());
        return false;
    }
    let is_interrupted = received.is_none();
    let (report, failure) = outcome(peer, received, &known);
    let stats = writer.stats();
    let mut result = TransferResult { transport: E::TRANSPORT, ..TransferResult::new(&report, None) };
    result = result.of_session(peer, &known, &report, Some(&room.folder()));
    result.forward = Traffic::received(&stats);
    result.reverse = Traffic::sent(&stats);
    result.socket_drops = room.endpoint.socket_drops().zip(drops_before).map(|(all, before)| all - before);
    if let (Some(start), Some(end)) = (started_at, arrived_at) {
        let seconds = f64::max(0.0, end.since(start) as f64 / 1e9);
        result = TransferResult { elapsed_s: Some(seconds), ..result.with_goodput(seconds) };
    }
    result.error = failure.as_ref().map(Failure::result);
    let brought_files = report.files.iter().any(|file| file.digest().is_some());
    if !brought_files && !is_interrupted && !room.strangers.admit(size_bytes(&result), clock.now()) {
        return false;
    }
    tell(peer, &result, room.form) && failure.is_none()
}

/// About as much as is told of a session, in whatever form.
fn size_bytes(result: &TransferResult) -> u64 {
    let message_bytes = result.error.as_ref().map_or(0, |error| error.message.len());
    (result.to_json().len() + message_bytes) as u64
}

/// Files of a session, and why it failed, if it did; `received` is `None` if it was interrupted, which does
/// no harm once every file has its result.
fn outcome(
    peer: SocketAddr,
    received: Option<Result<SessionReport, ReceiveError>>,
    known: &KnownFiles,
) -> (SessionReport, Option<Failure>) {
    let is_settled = received.is_none() && known.are_settled();
    let received = if is_settled { Some(Ok(known.report())) } else { received };
    let failed = |code, why: &str| Some(Failure::of(code, format!("receiving from {peer} failed: {why}")));
    match received {
        None => (known.report(), failed(ErrorCode::Interrupted, "interrupted")),
        Some(Err(ReceiveError { cause, report })) => {
            (report, failed(of_fault(&cause, true), &advice::of_receiving(&cause)))
        }
        Some(Ok(report)) => {
            let failure = of_files(&report).map(|code| {
                let files = failed_files(&report);
                Failure::of(code, format!("not every file from {peer} was taken: {files}"))
            });
            (report, failure)
        }
    }
}

/// Shows the result of a session, and its error; false if it cannot be shown.
fn tell(peer: SocketAddr, result: &TransferResult, form: Form) -> bool {
    if matches!(form, Form::Table | Form::FullTable) {
        note(&format!("from {peer}:"));
    }
    let shown = show(result, form);
    if let Err(failure) = &shown {
        output::error(&format!("skyhaul: {failure}"));
    }
    if let Some(drops @ 1..) = result.socket_drops {
        note(&format!(
            "this machine was too slow for {drops} packets, which were sent again: leave it more processor \
             time, raise net.core.rmem_max to 16777216, or give the sender a --rate"
        ));
    }
    if let Some(error) = &result.error {
        output::error(&format!("skyhaul: {}", error.message));
    }
    shown.is_ok()
}
