//! `skyhaul send FILE... NAME`.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use skyhaul_capture::Inlet;
use skyhaul_core::{CloseReason, Stats};
use skyhaul_files::{Event, Side, Version};
use skyhaul_net::{EndpointOptions, Stream};
use skyhaul_stp::Config;

use crate::address::{resolve, unknown};
use crate::advice::{self, OpeningPatience};
use crate::args::SendArgs;
use crate::beside::first_to_answer;
use crate::confirmed::ConfirmedLine;
use crate::cycles::{CycleLog, CycleRecord};
use crate::dial::{Dial, Plain, Sealed};
use crate::errors::{ErrorCode, of_fault, of_files};
use crate::failure::Failure;
use crate::fast_open::{Cookies, FastOpenResult};
use crate::known::KnownFiles;
use crate::limited::{Held, LimitLog};
use crate::losers::failed_files;
use crate::output::note;
use crate::over_tun::TcpChoice;
use crate::parting::parted;
use crate::progress::TransferBar;
use crate::protection::Protection;
use crate::remembered::Recalled;
use crate::result::TransferResult;
use crate::scps::ScpsResult;
use crate::sealed::{Recipient, recipient};
use crate::sent::{Cut, SendOutcome, session};
use crate::shown::Shown;
use crate::signals::stop_requested;
use crate::sources::{self, Sources};
use crate::stalled::StallWatch;
use crate::transport::TransportEnd;
use crate::waiting::Waiting;
use crate::ways::{Nobody, Way, Ways};

/// Time for which late repeats of the peer are answered after the result is known.
pub(crate) const LINGER: Duration = Duration::from_secs(15);

/// One address of the receiver, tried.
struct Attempt<E> {
    peer: SocketAddr,
    endpoint: E,
    sent: SendOutcome,
    protection: Protection,
    known: KnownFiles,
    stats: Stats,
    cycles: Vec<CycleRecord>,
    held: Held,
    /// Time before it in which the receiver had no room.
    waited_ns: u64,
    /// Memory of the path to it.
    recalled: Option<Recalled>,
    /// Part that a Fast Open had.
    fast_open: Option<FastOpenResult>,
    /// Agreement on SCPS-TP.
    scps_tp: Option<ScpsResult>,
    /// Address that was silent so long that this one was preferred: files may have arrived there all the
    /// same.
    abandoned: Option<SocketAddr>,
}

pub(crate) async fn run(args: SendArgs) -> Result<ExitCode, Failure> {
    args.verbosity.begin();
    let unprotected = args.transport.unprotected(args.plain);
    let recipient = recipient(&args, unprotected)?;
    let sources = sources::open(&args.files, args.name.as_deref())?;
    if !args.transport.is_stp() {
        args.sender.tcp_controller()?; // before a device is asked for
    }
    let choice = args.transport.tcp(&args.common)?;
    if let Some(option) = unprotected {
        let to = recipient.address.escape_debug();
        note(&format!(
            "WARNING: {option}: NOT protected: anyone on the way to {to} can read and change this"
        ));
    }
    let capture = args.capture.start("skyhaul send", &["sender".to_string()])?;
    let done = over(&args, choice, recipient, capture.inlet(), sources).await;
    capture.finish();
    done
}

/// Sends over the transport of choice.
async fn over(
    args: &SendArgs,
    choice: Option<TcpChoice>,
    recipient: Recipient,
    capture: Option<Inlet>,
    sources: Sources,
) -> Result<ExitCode, Failure> {
    match choice {
        None if args.address.is_some() => {
            Err(Failure::usage("--address is for --transport tcp and scps-tp: add one of them"))
        }
        None => over_stp(args, recipient, capture, sources).await,
        Some(choice) => over_tcp(args, choice.sending(&args.sender)?, capture, sources).await,
    }
}

async fn over_stp(
    args: &SendArgs,
    recipient: Recipient,
    capture: Option<Inlet>,
    sources: Sources,
) -> Result<ExitCode, Failure> {
    args.sender.check_stp()?;
    let Recipient { address, peer } = recipient;
    match peer {
        None => over_udp(args, &Plain, &address, capture, sources).await,
        Some((keys, peer)) => over_udp(args, &Sealed { keys, peer }, &address, capture, sources).await,
    }
}

async fn over_udp<D: Dial>(
    args: &SendArgs,
    dial: &D,
    address: &str,
    capture: Option<Inlet>,
    sources: Sources,
) -> Result<ExitCode, Failure> {
    let config = args.sender.config(&args.common);
    let peers = resolve(address).await?;
    let mut ways = Ways::new(&peers);
    let mut waiting = Waiting::new(config.give_up_ns, Some("--give-up"));
    let mut abandoned = None;
    while let Some(way @ Way { peer, port, version, .. }) = ways.next() {
        let (watch, cycles) = CycleLog::new();
        let options = EndpointOptions {
            mtu_bytes: args.common.mtu,
            accept: config.clone(),
            watch: Some(watch),
            capture: capture.clone(),
            ..EndpointOptions::default()
        };
        let endpoint = dial.end(peer, options)?;
        let recalled = args.memory.recall(D::local_addr(&endpoint), peer, &config);
        let is_last = ways.is_last(way);
        let patience_ns =
            if is_last { config.connect_give_up_ns } else { args.common.opening_before_others_ns() };
        let config = Config {
            connect_give_up_ns: patience_ns,
            remembered: recalled.as_ref().and_then(Recalled::saved),
            remembered_mtu_bytes: recalled.as_ref().and_then(Recalled::mtu_bytes),
            ..config.clone()
        };
        let patience = OpeningPatience { ns: patience_ns, option: is_last.then_some("--give-up") };
        let rival = Config { remembered: None, remembered_mtu_bytes: None, ..config.clone() };
        let stream = dial.open(&endpoint, peer, port, config)?;
        let sources = (version, sources.clone(), waiting.begin());
        let monitor = stream.monitor();
        let is_silent = || monitor.stats().is_some_and(|stats| stats.received_packets == 0);
        let rival = first_to_answer(dial, is_silent, ways.rivals(way), rival);
        let attempt = tokio::select! {
            attempt = attempt(args, endpoint.clone(), stream, cycles, sources, patience) => attempt?,
            rival = rival => {
                endpoint.close().await;
                abandoned = Some(peer);
                if let Some(next) = ways.prefer(rival, way) {
                    tell_next(address, way, Nobody::Silent, next);
                }
                continue;
            }
        };
        let attempt = Attempt { recalled, abandoned, ..attempt };
        if is_time_to_ask_again(args, &attempt, &mut waiting).await? {
            ways.again(way);
            continue;
        }
        match attempt.nobody().and_then(|nobody| Some((nobody, ways.after(way, nobody)?))) {
            Some((nobody, next)) => tell_next(address, way, nobody, next),
            None => return conclude(args, attempt).await,
        }
    }
    Err(unknown(format!("'{address}' has no address")))
}

/// Waits until it is time to ask a receiver again that had no room. False if it had, or patience is over.
async fn is_time_to_ask_again<E: TransportEnd>(
    args: &SendArgs,
    attempt: &Attempt<E>,
    waiting: &mut Waiting,
) -> Result<bool, Failure> {
    if !attempt.is_refused_for_room() || !waiting.may_ask_again(attempt.peer) {
        return Ok(false);
    }
    if waiting.is_over().await {
        return Ok(true);
    }
    let failure = interrupted();
    Shown::new(attempt.result(args, Some(&failure)), args.form()).print()?;
    Err(failure.in_result())
}

/// Says which address has its turn, unless the one before took no time and this one is new.
fn tell_next(name: &str, tried: Way, nobody: Nobody, next: Way) {
    let why = match nobody {
        Nobody::Silent => "did not answer",
        _ if next.peer == tried.peer || next.is_raced => return,
        _ => "has no receiver",
    };
    note(&format!("{} {why}; trying {}, which '{}' means, too", tried.peer, next.peer, name.escape_debug()));
}

/// Every address of the receiver that is of the family of ours is tried.
async fn over_tcp(
    args: &SendArgs,
    choice: TcpChoice,
    capture: Option<Inlet>,
    sources: Sources,
) -> Result<ExitCode, Failure> {
    let Some(address) = args.address else {
        return Err(Failure::usage(format!(
            "--transport {} needs --address ADDRESS: one of the TUN device's network that nobody has",
            choice.name()
        )));
    };
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    let found = resolve(&args.to).await?.into_iter();
    let mut peers: VecDeque<_> = found.filter(|peer| peer.is_ipv4() == address.is_ipv4()).collect();
    if peers.front().is_some_and(|peer| peer.ip() == address) {
        return Err(Failure::usage(format!(
            "the receiver's address is that of --address, which is this end's own: {address}; give this end another \
             one of its TUN device's network"
        )));
    }
    let end = choice.host(address, capture)?;
    let host = &end.host;
    let option = end.patience_option();
    let mut waiting = Waiting::new(args.common.config().give_up_ns, option);
    while let Some(peer) = peers.pop_front() {
        let cannot_send = |error| cannot_send(peer, error);
        let cookies = args.transport.opens_fast().then(|| Cookies::recall(&args.memory, address, peer.ip()));
        if let Some(cookies) = &cookies {
            host.assume_fast_open(peer.ip(), cookies.known()).map_err(cannot_send)?;
        }
        let config = choice.config_to(peer.ip());
        let stream = host.open(peer, config.clone()).map_err(cannot_send)?;
        let cycles = CycleLog::new().1;
        let patience = OpeningPatience { ns: Some(config.opening_ns()), option };
        let sources = (Version::One, sources.clone(), waiting.begin());
        let mut attempt = attempt(args, end.clone(), stream, cycles, sources, patience).await?;
        if let Some(cookies) = cookies {
            let found = host.fast_open(peer.ip()).map_err(cannot_send)?;
            attempt.fast_open = Some(cookies.finish(found, &attempt.stats));
        }
        if is_time_to_ask_again(args, &attempt, &mut waiting).await? {
            peers.push_front(peer);
            continue;
        }
        if !matches!(attempt.nobody(), Some(Nobody::Unreachable | Nobody::Refused)) || peers.is_empty() {
            return conclude(args, attempt).await;
        }
    }
    Err(unknown(format!("'{}' has no {family} address, of which family --address {address} is", args.to)))
}

pub(crate) fn cannot_send(peer: SocketAddr, error: impl std::fmt::Display) -> Failure {
    Failure::of(ErrorCode::SocketFailed, format!("cannot send to {peer}: {error}"))
}

async fn attempt<E: TransportEnd>(
    args: &SendArgs,
    endpoint: E,
    stream: Stream<E::Protocol>,
    cycles: CycleLog,
    (version, sources, waited_ns): (Version, Sources, u64),
    patience: OpeningPatience,
) -> Result<Attempt<E>, Failure> {
    let peer = stream.peer_addr();
    let progress = TransferBar::alone(args.form().hides_progress(), format!("to {peer}"));
    let (mut reader, mut writer) = stream.into_split();
    let no_answer = advice::of_no_answer(peer, patience);
    let (known, clock) = (KnownFiles::default(), endpoint.clock());
    let limits = LimitLog::new(writer.monitor(), clock);
    let last_words = writer.monitor();
    let confirmed = ConfirmedLine::new(&progress, (&cycles, &limits), writer.monitor(), clock, no_answer);
    let stall = StallWatch::new(writer.monitor(), clock, args.common.config().give_up_ns);
    let (Protection { peer: called, .. }, name) = endpoint.protection(&writer.monitor());
    let observer = |event: &Event<'_>| {
        known.observe(event, Side::Sender, clock.now());
        stall.observe(event);
        limits.observe(event);
        confirmed.observe(event);
    };
    let sent = tokio::select! {
        sent = session(clock, &mut reader, &mut writer, (version, sources.list), observer) => sent,
        stalled = stall.stalled() => SendOutcome::cut(&known, Cut::Stalled(stalled)),
        never = confirmed.show() => match never {},
        () = endpoint.dismissed(name) => SendOutcome::cut(&known, Cut::Dismissed),
        () = parted(&known, last_words, clock) => SendOutcome::parted(&known),
        () = stop_requested() => SendOutcome::cut(&known, Cut::Stop),
    };
    drop(progress);
    let protection = Protection { peer: called, ..endpoint.protection(&writer.monitor()).0 };
    let scps_tp = endpoint.scps_tp(&writer.monitor());
    let stats = writer.stats();
    let held = Held { by: limits.finish(sent.started_at, sent.confirmed_at), read_ns: sources.read_ns };
    drop((reader, writer));
    if sent.is_cut {
        endpoint.close().await; // the receiver may be there: it is told
    }
    let cycles = cycles.finish(stats.probes);
    let (recalled, fast_open, abandoned) = (None, None, None);
    let attempt = Attempt {
        peer,
        endpoint,
        sent,
        protection,
        known,
        stats,
        cycles,
        held,
        waited_ns,
        recalled,
        fast_open,
        scps_tp,
        abandoned,
    };
    if let Some(Cut::Stop) = attempt.sent.cut {
        let failure = interrupted();
        Shown::new(attempt.result(args, Some(&failure)), args.form()).print()?;
        return Err(failure.in_result());
    }
    Ok(attempt)
}

fn interrupted() -> Failure {
    Failure::of(ErrorCode::Interrupted, "interrupted; the receiver keeps nothing of unfinished files")
}

impl<E: TransportEnd> Attempt<E> {
    /// True if the receiver had no room for the transfer, and keeps nothing of it: all of it may go again.
    fn is_refused_for_room(&self) -> bool {
        self.sent.fault.as_ref().is_some_and(advice::is_busy) && !self.known.is_any_settled()
    }

    /// Reason why nobody was met, if so: another address of the same name is worth trying.
    fn nobody(&self) -> Option<Nobody> {
        let reason = self.sent.fault.as_ref().and_then(advice::close_reason)?;
        match reason {
            reason if advice::is_refusal(reason) => Some(Nobody::Refused),
            _ if self.stats.received_packets > 0 => None,
            CloseReason::Unreachable => Some(Nobody::Unreachable),
            CloseReason::ConnectTimeout => Some(Nobody::Silent),
            _ => None,
        }
    }

    /// Reason why not everything arrived, if so.
    fn failure(&self) -> Option<Failure> {
        let (peer, was_heard) = (self.peer, self.stats.received_packets > 0);
        match self.sent.cut {
            Some(Cut::Stop) => return Some(interrupted()),
            Some(Cut::Stalled(stalled)) => {
                return Some(stalled.failure(peer, self.endpoint.patience_option()));
            }
            Some(Cut::Dismissed) => {
                let who = self.protection.peer.as_deref().unwrap_or("the receiver");
                let message = format!(
                    "sending to {peer} ended: {who} was removed from the peers, or paired again, meanwhile; see \
                     `skyhaul peers list`, then send again"
                );
                return Some(Failure::of(ErrorCode::PeerUnknown, message));
            }
            None => {}
        }
        if let Some(fault) = &self.sent.fault {
            let why = advice::of_sending(&self.endpoint, peer, fault, was_heard);
            let message = format!("sending to {peer} failed: {why}");
            return Some(Failure::of(of_fault(fault, was_heard), message));
        }
        let code = of_files(&self.sent.report)?;
        let mut told = format!("not every file arrived: {}", failed_files(&self.sent.report));
        if let Some(before) = self.abandoned.filter(|_| code == ErrorCode::Exists) {
            let _ = write!(told, "; {before}, which was tried first and did not answer, may have brought it");
        }
        Some(Failure::of(code, told))
    }

    fn result(&self, args: &SendArgs, failure: Option<&Failure>) -> TransferResult {
        let probing = args.sender.config(&args.common).probing;
        let result = self.sent.result(&self.stats);
        let result = result.with_cycles(&self.cycles, self.sent.started_at, probing.as_ref());
        let result = result.of_session(self.peer, &self.known, None);
        let result = result.with_limits(self.held).of_path_to(self.peer).after_waiting(self.waited_ns);
        let declared_rate_bps = args.transport.rate_to(self.peer.ip()).or(args.sender.rate);
        let error = failure.map(Failure::result);
        let (protection, fast_open) = (Some(self.protection.clone()), self.fast_open.clone());
        let (transport, scps_tp) = (self.endpoint.transport(), self.scps_tp);
        TransferResult { transport, protection, declared_rate_bps, fast_open, scps_tp, error, ..result }
    }
}

async fn conclude<E: TransportEnd>(args: &SendArgs, mut attempt: Attempt<E>) -> Result<ExitCode, Failure> {
    let path_memory = attempt.recalled.take().map(|recalled| recalled.finish(&attempt.stats));
    let failure = attempt.failure();
    let result = TransferResult { path_memory, ..attempt.result(args, failure.as_ref()) };
    let shown = Shown::new(result, args.form()).print();
    tokio::select! {
        _ = attempt.endpoint.wait_idle(LINGER) => {}
        () = stop_requested() => attempt.endpoint.close().await, // the result stays what it is
    }
    shown?;
    failure.map_or(Ok(ExitCode::SUCCESS), |failure| Err(failure.in_result()))
}
