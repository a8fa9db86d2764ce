//! `skyhaul receive --dir DIR`.

use std::future::{Future as _, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::process::ExitCode;
use std::rc::Rc;
use std::task::Poll;

use skyhaul_files::{Destination, Event, ReceiveOptions, SessionReport, Side};
use skyhaul_lab::transfer::Traffic;
use skyhaul_net::{Endpoint, EndpointOptions, Listener, Protocol, Stream, is_reachable_from_outside};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};

use crate::args::ReceiveArgs;
use crate::failure::Failure;
use crate::known::KnownFiles;
use crate::output::note;
use crate::progress::TransferBar;
use crate::result::TransferResult;
use crate::send::{FILES_PORT, LINGER, WIDE_FILES_PORT, show};
use crate::signals::stop_requested;
use crate::transport::{TransportEnd, host_address};

/// Transfers at the same time; further ones wait.
const MAX_SESSIONS: usize = 16;

/// Needs of every session.
struct Room<E> {
    destination: Destination,
    options: ReceiveOptions,
    endpoint: E,
    /// Becomes true when every session shall end.
    stop: watch::Sender<bool>,
    json: bool,
}

pub(crate) async fn run(args: ReceiveArgs) -> Result<ExitCode, Failure> {
    let destination = Destination::open(&args.dir).map_err(|e| Failure::new(e.to_string()))?;
    destination.check_writable().map_err(|e| Failure::new(e.to_string()))?;
    match destination.remove_abandoned() {
        0 => {}
        removed => note(&format!("unfinished files of a receiver that was killed, removed: {removed}")),
    }
    let options = ReceiveOptions { overwrite: args.overwrite, max_bytes: args.max_size };
    let json = args.common.json;
    match args.transport.tcp(&args.common)? {
        None => {
            let endpoint = stp_endpoint(&args)?;
            let address = endpoint.local_addr();
            let listeners = [WIDE_FILES_PORT, FILES_PORT].map(|port| endpoint.listen(port));
            let listeners: Result<_, _> = listeners.into_iter().collect();
            let listeners = listeners.map_err(|error| cannot_accept(&error))?;
            let stop = watch::Sender::new(false);
            let room = Room { destination, options, endpoint, stop, json };
            wait(room, listeners, address, args.once).await
        }
        Some(choice) => {
            let endpoint = choice.host(host_address(args.listen)?)?;
            let listener =
                endpoint.listen(args.listen.port(), MAX_SESSIONS).map_err(|error| cannot_accept(&error))?;
            let stop = watch::Sender::new(false);
            let room = Room { destination, options, endpoint, stop, json };
            wait(room, vec![listener], args.listen, args.once).await
        }
    }
}

fn stp_endpoint(args: &ReceiveArgs) -> Result<Endpoint, Failure> {
    let options = EndpointOptions {
        mtu_bytes: args.common.mtu,
        accept: args.common.config(),
        ..EndpointOptions::default()
    };
    Endpoint::bind(args.listen, options)
        .map_err(|e| Failure::new(format!("cannot wait at {}: {e}", args.listen)))
}

fn cannot_accept(error: &io::Error) -> Failure {
    Failure::new(format!("cannot accept connections: {error}"))
}

async fn wait<E: TransportEnd + 'static>(
    room: Room<E>,
    listeners: Vec<Listener<E::Protocol>>,
    address: SocketAddr,
    once: bool,
) -> Result<ExitCode, Failure> {
    announce(address);
    LocalSet::new().run_until(serve(Rc::new(room), listeners, once)).await
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
                None => return Err(Failure::new(E::LOST)),
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
    let cut = sessions.len();
    room.stop.send_replace(true);
    while sessions.join_next().await.is_some() {}
    room.endpoint.close().await;
    if cut > 0 {
        return Err(Failure::new(format!("interrupted; unfinished transfers given up: {cut}")));
    }
    if once && room.json {
        show(
            &TransferResult {
                transport: E::TRANSPORT,
                ..TransferResult::new(&SessionReport::default(), None)
            },
            true,
        )?;
    }
    if once { Err(Failure::new("interrupted before a transfer came")) } else { Ok(ExitCode::SUCCESS) }
}

/// Receives what one sender sends; true if every file is there.
async fn session<E: TransportEnd>(room: Rc<Room<E>>, stream: Stream<E::Protocol>) -> bool {
    let peer = stream.peer_addr();
    let progress = TransferBar::new(room.json);
    let clock = room.endpoint.clock();
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
    progress.clear();
    let (report, error) = match received {
        None => (known.report(), Some("interrupted".into())),
        Some(Ok(report)) => (report, None),
        Some(Err(error)) => {
            let text = error.to_string();
            (error.report, Some(text))
        }
    };
    let stats = writer.stats();
    let mut result = TransferResult { transport: E::TRANSPORT, ..TransferResult::new(&report, None) };
    result.forward = Traffic::received(&stats);
    result.reverse = Traffic::sent(&stats);
    if let (Some(start), Some(end)) = (started_at, arrived_at) {
        let seconds = f64::max(0.0, end.since(start) as f64 / 1e9);
        result = TransferResult { elapsed_s: Some(seconds), ..result.with_goodput(seconds) };
    }
    if !room.json {
        note(&format!("from {peer}:"));
    }
    let shown = show(&result, room.json);
    if let Err(failure) = &shown {
        note(&format!("skyhaul: {failure}"));
    }
    match &error {
        Some(error) => note(&format!("skyhaul: receiving from {peer} failed: {error}")),
        None if report.all_delivered() => {}
        None => note(&format!("skyhaul: not every file from {peer} was taken; the reasons are above")),
    }
    error.is_none() && report.all_delivered() && shown.is_ok()
}
