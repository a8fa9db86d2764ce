//! `skyhaul receive --dir DIR`.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::ExitCode;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use skyhaul_capture::Inlet;
use skyhaul_files::{Destination, ReceiveOptions, SessionReport};
use skyhaul_net::{
    Endpoint, EndpointOptions, Limits, Listener, OverUdp, Protocol, Stream, is_reachable_from_outside,
};
use skyhaul_stp::Config;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet, LocalSet};

use crate::advice;
use crate::args::ReceiveArgs;
use crate::counted::counted;
use crate::descriptors;
use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::held::Held;
use crate::joined::Joined;
use crate::listing::Listings;
use crate::outlet::Outlet;
use crate::output::{self, note};
use crate::over_tun::TcpChoice;
use crate::places::{ASK_INTERVAL_NS, MAX_EARLY, MAX_PLACES, MAX_SESSIONS, Places};
use crate::progress::{ProgressLine, TICK};
use crate::refusals::Refusals;
use crate::result::TransferResult;
use crate::sealed::{Keys, SealedEnd};
use crate::send::LINGER;
use crate::session::{Ending, session};
use crate::shown::Shown;
use crate::signals::stop_requested;
use crate::strangers::Strangers;
use crate::told::Told;
use crate::transport::TransportEnd;
use crate::verbosity::Form;
use crate::ways::PORTS;

/// Time between two looks whether there is something joined to tell.
const SUM_INTERVAL: Duration = Duration::from_secs(1);
/// Text for whoever waits for one transfer, and got a part of one.
const WAITS_ON: &str = "waiting on: a transfer that is broken off does not count for --once";

/// Needs of every session.
pub(crate) struct Room<E> {
    pub(crate) destination: Destination,
    pub(crate) options: ReceiveOptions,
    pub(crate) endpoint: E,
    /// Becomes true when every session shall end.
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) form: Form,
    pub(crate) progress: ProgressLine,
    /// What is written about transfers, ...
    pub(crate) outlet: Outlet,
    /// ... and for programs, and in lists of every file, about those that brought something.
    pub(crate) results: Outlet,
    pub(crate) strangers: Strangers,
    pub(crate) places: Places,
    pub(crate) listings: Listings,
    pub(crate) refusals: Refusals,
    pub(crate) joined: Joined,
    /// Results for which `--once` waits.
    pub(crate) held: Held,
    /// Time after which a session without progress is given up; `None`: never.
    pub(crate) give_up_ns: Option<u64>,
    /// Data may come with an opening of TCP.
    pub(crate) opens_fast: bool,
}

impl<E> Room<E> {
    fn new(args: &ReceiveArgs, destination: Destination, endpoint: E) -> Self {
        let options = ReceiveOptions {
            overwrite: args.overwrite,
            max_bytes: args.max_size,
            any_name: args.any_name,
            max_open_files: Some(descriptors::for_each_session()),
        };
        let (stop, form) = (watch::Sender::new(false), args.form());
        let progress = ProgressLine::new(form.hides_progress());
        let (outlet, strangers, places, listings, refusals, joined) = Default::default();
        let results = Outlet::of_results();
        let held = Held::new(args.once);
        let give_up_ns = args.common.config().give_up_ns;
        let opens_fast = args.transport.opens_fast();
        Self {
            destination,
            options,
            endpoint,
            stop,
            form,
            progress,
            outlet,
            results,
            strangers,
            places,
            listings,
            refusals,
            joined,
            held,
            give_up_ns,
            opens_fast,
        }
    }

    /// Folder of the files, from the root where that is known.
    pub(crate) fn folder(&self) -> PathBuf {
        let path = self.destination.path();
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

impl<E: TransportEnd> Room<E> {
    /// Tells how many transfers brought nothing, if it is time for that.
    pub(crate) fn count_strangers(&self) {
        let now = self.endpoint.clock().now();
        if let Some(line) = self.strangers.due(now) {
            self.note(&line);
        }
    }

    /// Tells people something that others caused.
    fn note(&self, line: &str) {
        note(line);
        self.outlet.spend(line.len() as u64 + 1, self.endpoint.clock().now());
    }

    fn tell_sums(&self, text: Option<String>) {
        let Some(text) = text else { return };
        self.outlet.spend(text.len() as u64, self.endpoint.clock().now());
        // Objects alone stand on the standard output that a program reads.
        if self.form == Form::Nothing || self.form.is_json() {
            output::error(text.trim_end());
        } else if let Err(failure) = output::print(&text) {
            output::error(&format!("skyhaul: {failure}"));
        }
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
    let choice = args.transport.tcp_with(&args.common, args.rate)?;
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
    let stop = stop_requested();
    match choice {
        None if !args.plain => {
            let keys = Keys::of_user()?;
            let explain = |error: &io::Error| cannot_listen(args, error);
            let (end, peers) = SealedEnd::waiting(&keys, args.listen, options(args, capture), explain)?;
            let (address, listeners) = (end.endpoint.local_addr(), listeners(&end.endpoint)?);
            announce_sealed(address, peers);
            wait(Room::new(args, destination, end), listeners, args.once, stop).await
        }
        None => {
            let endpoint = Endpoint::bind(args.listen, options(args, capture));
            let endpoint = endpoint.map_err(|error| cannot_listen(args, &error))?;
            let (address, listeners) = (endpoint.local_addr(), listeners(&endpoint)?);
            announce(address, "--plain");
            wait(Room::new(args, destination, endpoint), listeners, args.once, stop).await
        }
        Some(choice) => {
            let endpoint = choice.host(choice.host_address(args.listen)?, capture)?;
            let listener = endpoint
                .host
                .listen(args.listen.port(), MAX_PLACES)
                .map_err(|error| cannot_accept(&error))?;
            announce(args.listen, &format!("--transport {}", choice.name()));
            wait(Room::new(args, destination, endpoint), vec![listener], args.once, stop).await
        }
    }
}

/// Options of an endpoint. With `--once` a sender that says nothing is asked soon: whoever waits for others
/// must know whether they are there.
fn options(args: &ReceiveArgs, capture: Option<Inlet>) -> EndpointOptions {
    let accept = args.common.config();
    EndpointOptions {
        mtu_bytes: args.common.mtu,
        accept: Config {
            keepalive_ns: if args.once { Some(ASK_INTERVAL_NS) } else { accept.keepalive_ns },
            ..accept
        },
        limits: Limits { max_early: MAX_EARLY, ..Limits::default() },
        capture,
        ..EndpointOptions::default()
    }
}

/// Listeners for every version of the file protocol.
fn listeners<P: OverUdp>(endpoint: &Endpoint<P>) -> Result<Vec<Listener<P>>, Failure> {
    let listeners = PORTS.map(|(port, _)| endpoint.listen(port));
    listeners.into_iter().collect::<Result<_, _>>().map_err(|error| cannot_accept(&error))
}

fn cannot_listen(args: &ReceiveArgs, error: &io::Error) -> Failure {
    let advice = advice::of_listening(args.listen, error);
    Failure::of(ErrorCode::CannotListen, format!("cannot wait at {}: {error}{advice}", args.listen))
}

fn cannot_accept(error: &io::Error) -> Failure {
    Failure::of(ErrorCode::CannotListen, format!("cannot accept connections: {error}"))
}

async fn wait<E: TransportEnd + 'static>(
    room: Room<E>,
    listeners: Vec<Listener<E::Protocol>>,
    once: bool,
    stop: impl Future<Output = ()>,
) -> Result<ExitCode, Failure> {
    let (room, stop) = (Rc::new(room), pin!(stop));
    let work = async {
        tokio::select! {
            done = serve(Rc::clone(&room), listeners, once, stop) => done,
            never = tell_joined(&room) => match never {},
        }
    };
    let done = LocalSet::new().run_until(work).await;
    let of_failures = room.form == Form::Nothing;
    room.tell_sums(room.joined.rest(of_failures, room.endpoint.clock().now()));
    room.strangers.rest().iter().for_each(|line| note(line));
    done
}

/// Tells what was joined of results, now and then.
async fn tell_joined<E: TransportEnd>(room: &Room<E>) -> Infallible {
    let (mut tick, of_failures) = (tokio::time::interval(SUM_INTERVAL), room.form == Form::Nothing);
    loop {
        tick.tick().await;
        room.tell_sums(room.joined.due(of_failures, room.endpoint.clock().now()));
    }
}

/// Announces an end without protection, which was done without by this option.
fn announce(address: SocketAddr, option: &str) {
    note(&format!("waiting for files at {address}"));
    let who = if is_reachable_from_outside(address) { "anyone" } else { "any program of this machine" };
    note(&format!(
        "WARNING: {option}: NOT protected: {who} can send files here, and anyone on the way can read and change them"
    ));
}

fn announce_sealed(address: SocketAddr, peers: usize) {
    let peers = counted(peers as u64, "peer");
    note(&format!("waiting for files at {address}, sealed, from {peers} with leave to send them"));
}

async fn serve<E: TransportEnd + 'static>(
    room: Rc<Room<E>>,
    mut listeners: Vec<Listener<E::Protocol>>,
    once: bool,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<ExitCode, Failure> {
    let mut sessions = JoinSet::new();
    loop {
        tokio::select! {
            stream = accept(&mut listeners), if sessions.len() < MAX_SESSIONS => match stream {
                Some(stream) => drop(sessions.spawn_local(session(Rc::clone(&room), stream))),
                None => return Err(Failure::of(E::LOST_CODE, E::LOST)),
            },
            Some(done) = sessions.join_next() => {
                match done {
                    Ok(Ending::Transfer { is_complete }) if once => {
                        drop(listeners);
                        return Ok(wind_up(&room, sessions, is_complete, stop).await);
                    }
                    Ok(Ending::BrokenOff { is_told: true }) if once => room.note(WAITS_ON),
                    _ => {}
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

/// Ends after the first transfer that came to its end; `is_complete`: every file of it is there. Others that
/// are under way are waited for, while they make progress. The command succeeds if all files of one of them
/// are there.
async fn wind_up<E: TransportEnd>(
    room: &Room<E>,
    mut sessions: JoinSet<Ending>,
    mut is_complete: bool,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> ExitCode {
    let clock = room.endpoint.clock();
    let mut tick = tokio::time::interval(TICK);
    let mut is_stopped = false;
    while room.places.is_any_busy(clock.now()) {
        tokio::select! {
            Some(done) = sessions.join_next() => {
                is_complete |= is_whole(&done);
            }
            _ = tick.tick() => {}
            () = &mut stop => {
                is_stopped = true;
                break;
            }
        }
    }
    room.stop.send_replace(true);
    while let Some(done) = sessions.join_next().await {
        is_complete |= is_whole(&done);
    }
    is_complete &= room.held.tell(|peer, result| Told::new(peer, result, room.form).write());
    // The sender knows every result: it does not depend on our last words.
    let stopped = async {
        if !is_stopped {
            stop.await;
        }
    };
    tokio::select! {
        biased;
        () = stopped => room.endpoint.close().await,
        _ = room.endpoint.wait_ended(LINGER) => {}
    }
    ExitCode::from(u8::from(!is_complete))
}

/// True if a session ended that brought a transfer of which every file is there.
fn is_whole(done: &Result<Ending, JoinError>) -> bool {
    matches!(done, Ok(Ending::Transfer { is_complete: true }))
}

async fn stopped<E: TransportEnd>(
    room: &Room<E>,
    once: bool,
    mut sessions: JoinSet<Ending>,
) -> Result<ExitCode, Failure> {
    room.stop.send_replace(true);
    let mut cut = 0;
    while let Some(done) = sessions.join_next().await {
        cut +=
            u32::from(matches!(done, Ok(Ending::BrokenOff { .. } | Ending::Transfer { is_complete: false })));
    }
    room.held.tell(|peer, result| Told::new(peer, result, room.form).write());
    room.endpoint.close().await;
    if cut > 0 {
        let message = format!("interrupted; unfinished transfers given up: {cut}");
        return Err(Failure::of(ErrorCode::Interrupted, message).in_result());
    }
    if !once {
        return Ok(ExitCode::SUCCESS);
    }
    let failure = Failure::of(ErrorCode::Interrupted, "interrupted before a transfer came to its end");
    if room.form.is_json() {
        let nothing = TransferResult::new(&SessionReport::default(), None);
        let (transport, error) = (room.endpoint.transport(), Some(failure.result()));
        Shown::new(TransferResult { transport, error, ..nothing }, room.form).print()?;
    }
    Err(failure.in_result())
}
