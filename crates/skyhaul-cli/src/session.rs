//! One session of `skyhaul receive`: what one sender sends, and its place among others.

use std::borrow::Cow;
use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_files::{Event, ReceiveError, SessionReport, Side};
use skyhaul_lab::transfer::Traffic;
use skyhaul_net::{Clock, Monitor, OwnedReadHalf, OwnedWriteHalf, Protocol, Stream};

use crate::advice;
use crate::errors::{ErrorCode, of_fault, of_files};
use crate::failure::Failure;
use crate::fast_open::FastOpenResult;
use crate::file_lines::{brief, brief_object};
use crate::known::KnownFiles;
use crate::losers::failed_files;
use crate::places::{Farewell, OPENING_LIMIT_NS, Party, Progress};
use crate::progress::TICK;
use crate::protection::Protection;
use crate::receive::Room;
use crate::refusals::HasRefused;
use crate::result::TransferResult;
use crate::told::Told;
use crate::transport::TransportEnd;
use crate::verbosity::Form;

/// Time for which the proof of an address is waited for after everything else is done.
const PROOF_PATIENCE: Duration = Duration::from_secs(10);
/// Time for which a session without a place, of which nothing is to come, waits for its sender's farewell,
/// unless others wait for theirs ([`Places::farewell`]).
const FAREWELL_PATIENCE: Duration = Duration::from_secs(15);

/// Time in which a sender takes the word that there is no room, where that is a record of the file protocol.
const BUSY_PATIENCE: Duration = Duration::from_secs(2);

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It never was a transfer, or whoever sent it did not show that it receives at its address.
    Stranger,
    /// A transfer that ended before every file of it had its result. Its sender must send again.
    BrokenOff {
        /// True if it was told of.
        is_told: bool,
    },
    /// A transfer of at least one file, from a peer that is at its address: each file is there, or refused.
    Transfer {
        /// True if every file is there.
        is_complete: bool,
    },
}

/// Reason for which a session was ended here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The command ends.
    Stop,
    /// Its place went to another, or there was none.
    NoPlace,
    /// It brought nothing for too long.
    Idle,
    /// Its sender is no peer with leave any more.
    Dismissed,
    /// It listed more files than there is memory for beside others, and brought less for them.
    NoMemory,
}

/// Receives what one sender sends. A stranger's connection ends with it: nobody waits for its last words.
pub(crate) async fn session<E: TransportEnd>(room: Rc<Room<E>>, stream: Stream<E::Protocol>) -> Ending {
    let monitor = stream.monitor();
    let peer = stream.peer_addr();
    let (mut reader, mut writer) = stream.into_split();
    let ending = converse(&room, peer, (&mut reader, &mut writer)).await;
    if ending == Ending::Stranger {
        monitor.refuse();
    }
    ending
}

/// Receives files over the halves of a connection.
async fn converse<E: TransportEnd>(
    room: &Room<E>,
    peer: SocketAddr,
    (reader, writer): (&mut OwnedReadHalf<E::Protocol>, &mut OwnedWriteHalf<E::Protocol>),
) -> Ending {
    let bar = room.progress.transfer(format!("from {peer}"));
    let clock = room.endpoint.clock();
    let drops_before = room.endpoint.socket_drops();
    let monitor = writer.monitor();
    let mut started_at = None;
    let mut arrived_at = None;
    let known = KnownFiles::default();
    let party = room.endpoint.party(&monitor, peer);
    let (progress, listing) = (Progress::new(clock.now()), room.listings.begin(party));
    let _begun = room.places.begin(&progress, clock.now());
    let has_refused = HasRefused::default();
    let observer = |event: &Event<'_>| {
        known.observe(event, Side::Receiver, clock.now());
        progress.observe(event, clock.now());
        listing.observe(event);
        room.refusals.observe(event, &has_refused, clock.now());
        match event {
            Event::Started { .. } => started_at = Some(clock.now()),
            Event::Arrived { .. } => arrived_at = Some(clock.now()),
            _ => {}
        }
        bar.observe(event);
    };
    let (Protection { peer: called, .. }, name) = room.endpoint.protection(&monitor);
    let mut stop = room.stop.subscribe();
    let is_waiting = Cell::new(false);
    let received = {
        let receiving = pin!(async {
            // What takes the place of a file must be the sender's own, and no copy of what it sent once.
            let _ = !room.options.overwrite || monitor.confirmed().await;
            let (options, destination) = (&room.options, &room.destination);
            skyhaul_files::receive(&mut *reader, &mut *writer, destination, options, observer).await
        });
        let receiving = room.refusals.paced(&has_refused, clock, unless(&is_waiting, receiving));
        tokio::select! {
            biased; // what is here already counts before a place is asked for
            received = receiving => Ok(received),
            cut = keep_place(room, (&monitor, clock), &progress, (&known, party), &is_waiting) => Err(cut),
            () = listing.has_to_go() => Err(Cut::NoMemory),
            () = room.endpoint.dismissed(name) => Err(Cut::Dismissed),
            _ = stop.wait_for(|&stop| stop) => Err(Cut::Stop),
        }
    };
    drop(bar);
    // Another one is told that there is no room, and asks again: so nothing of it may be kept.
    let is_for_room = |&cut: &Cut| !matches!(cut, Cut::Stop | Cut::Dismissed) && !known.is_any_kept();
    if received.as_ref().is_err_and(is_for_room) {
        turn_away(room, party, &mut *reader, &mut *writer).await;
    }
    if known.started_at().is_none() {
        room.strangers.no_transfer();
        room.count_strangers();
        return Ending::Stranger;
    }
    let is_settled = matches!(received, Ok(Ok(_))) || known.are_settled();
    let is_interrupted = matches!(received, Err(Cut::Stop)) && !is_settled;
    let proof_patience = if received.is_ok() { PROOF_PATIENCE } else { Duration::ZERO };
    let (report, failure) = outcome(peer, received, &known);
    let (stats, drops) = (writer.stats(), room.endpoint.socket_drops());
    // Under the name that it had: it may have none any more.
    let protection = Protection { peer: called, ..room.endpoint.protection(&monitor).0 };
    let scps_tp = room.endpoint.scps_tp(&monitor);
    // Files are there as soon as they can be; whether they count is known a round trip later.
    let mut counts =
        pin!(async { !report.files.is_empty() && is_at_its_address(&monitor, proof_patience).await });
    let is_held = room.held.holds() && is_settled && counts.as_mut().await;
    let result = |form| {
        let report = in_form(&report, form);
        let (transport, protection) = (room.endpoint.transport(), Some(protection.clone()));
        let mut result =
            TransferResult { transport, protection, scps_tp, ..TransferResult::new(&report, None) };
        result = result.of_session(peer, &known, Some(&room.folder()));
        result.forward = Traffic::received(&stats);
        result.reverse = Traffic::sent(&stats);
        result.fast_open = room.opens_fast.then(|| FastOpenResult::received(&stats));
        result.socket_drops = drops.zip(drops_before).map(|(all, before)| all - before);
        if let (Some(start), Some(end)) = (started_at, arrived_at) {
            let seconds = f64::max(0.0, end.since(start) as f64 / 1e9);
            result = TransferResult { elapsed_s: Some(seconds), ..result.with_goodput(seconds) };
        }
        TransferResult { error: failure.as_ref().map(Failure::result), ..result }
    };
    if is_held {
        room.held.hold(peer, result(room.form));
        return Ending::Transfer { is_complete: failure.is_none() };
    }
    let (is_told, is_shown) = tell(room, (peer, &report), is_interrupted, result);
    // Held results have been asked: this one does not count.
    if room.held.holds() && is_settled || !counts.await {
        Ending::Stranger
    } else if is_settled {
        Ending::Transfer { is_complete: is_shown && failure.is_none() }
    } else {
        Ending::BrokenOff { is_told }
    }
}

/// Tells of a session if there is room; else joins it with others, or counts it. Result: whether it was told,
/// and false if that cannot be written.
fn tell<E: TransportEnd>(
    room: &Room<E>,
    (peer, report): (SocketAddr, &SessionReport),
    is_interrupted: bool,
    result: impl Fn(Form) -> TransferResult,
) -> (bool, bool) {
    let told = told(room, (peer, report), is_interrupted, result);
    if told.is_none() {
        if brings_files(report) {
            room.joined.join(peer.ip(), report, room.endpoint.clock().now());
        } else {
            room.strangers.untold();
        }
    }
    room.count_strangers();
    (told.is_some(), told.is_none_or(Told::write))
}

/// What a file takes on a disk at least: a block.
const BLOCK_BYTES: u64 = 4096;

/// Words about a session that there is room for, which they take: with every file, where that was asked for,
/// if others are left room by that. Lists of files that are there have their own, and take of it what they
/// are longer than those files: whoever brings something is told of however much strangers have written.
/// A sealed peer has leave to bring files: what tells of them is no longer than what they take on the disk,
/// and programs have a line for each, however small they are.
fn told<E: TransportEnd>(
    room: &Room<E>,
    (peer, report): (SocketAddr, &SessionReport),
    is_interrupted: bool,
    result: impl Fn(Form) -> TransferResult,
) -> Option<Told> {
    let (peer_ip, now) = (peer.ip(), room.endpoint.clock().now());
    let is_listed = room.form.lists_files() && brings_files(report);
    let least_bytes = if E::IS_SEALED { BLOCK_BYTES } else { 0 };
    let (outlet, free_bytes) =
        if is_listed { (&room.results, free_bytes(report, least_bytes)) } else { (&room.outlet, 0) };
    // Made only if somebody sees it: whoever likes can have tens of thousands of files refused.
    if !is_listed && !is_interrupted && !outlet.is_open(peer_ip, now) {
        return None;
    }
    let (full, brief) = (room.form, room.form.brief());
    [full, brief][usize::from(full == brief)..].iter().find_map(|&form| {
        let told = Told::new(peer, result(form), form);
        let bytes = told.bytes().saturating_sub(free_bytes);
        let has_room = || {
            let is_last = form == brief;
            is_last && (is_interrupted || outlet.has_room(peer_ip, bytes, now))
                || outlet.has_share(peer_ip, bytes, now)
        };
        (bytes == 0 || has_room()).then(|| {
            outlet.spend_on(peer_ip, bytes, now);
            told
        })
    })
}

/// Bytes of the files that are there, each of which counts for so many at least.
fn free_bytes(report: &SessionReport, least_bytes: u64) -> u64 {
    let stored = report.files.iter().filter(|file| file.digest().is_some());
    stored.map(|file| file.bytes.max(least_bytes)).fold(0, u64::saturating_add)
}

fn brings_files(report: &SessionReport) -> bool {
    report.files.iter().any(|file| file.digest().is_some())
}

/// Breaks a session off of which nothing is kept, and tells its sender that there is no room.
async fn turn_away<E: TransportEnd>(
    room: &Room<E>,
    party: Party,
    reader: &mut OwnedReadHalf<E::Protocol>,
    writer: &mut OwnedWriteHalf<E::Protocol>,
) {
    let monitor = writer.monitor();
    if !E::TELLS_BUSY {
        let leaving = room.places.turned_away(party);
        let told = tokio::time::timeout(BUSY_PATIENCE, skyhaul_files::turn_away(reader, writer));
        tokio::select! {
            _ = told => {}
            () = leaving.taken_away() => {}
        }
    }
    monitor.refuse();
}

/// True if the peer shows that it receives at its address.
async fn is_at_its_address<P: Protocol>(monitor: &Monitor<P>, patience: Duration) -> bool {
    tokio::time::timeout(patience, monitor.proven()).await.unwrap_or(false)
}

/// Does `work`, and nothing while `is_held`: what is not read keeps the sender's window closed. Whoever lets
/// it go on wakes the task.
fn unless<T>(is_held: &Cell<bool>, mut work: Pin<&mut impl Future<Output = T>>) -> impl Future<Output = T> {
    poll_fn(move |cx| if is_held.get() { Poll::Pending } else { work.as_mut().poll(cx) })
}

/// Takes a place once the peer has proven its address, and ends when the session has to go. Before, it has
/// one of the few that the endpoint hands out, which give way by themselves. Of whom something is kept, who
/// cannot be told to send all again, waits for a place if it has none.
async fn keep_place<E: TransportEnd>(
    room: &Room<E>,
    (monitor, clock): (&Monitor<E::Protocol>, Clock),
    progress: &Rc<Progress>,
    (known, party): (&KnownFiles, Party),
    is_waiting: &Cell<bool>,
) -> Cut {
    if !monitor.proven().await {
        return std::future::pending().await; // the stream has ended: the session finds out
    }
    let idle = || idle::<E>(progress, (monitor, clock), room.give_up_ns);
    let mut place = room.places.take(party, progress, clock.now());
    loop {
        if let Some(place) = place {
            tokio::select! {
                () = place.taken_away() => {}
                () = idle() => return Cut::Idle,
            }
        }
        // Small files are here before the proof: told "no room", the sender would send them again.
        if known.is_all_here() {
            let farewell = room.places.farewell(party);
            until_others_wait(&farewell, known, FAREWELL_PATIENCE).await;
            return Cut::NoPlace;
        }
        let Some(turn) = known.is_any_kept().then(|| room.places.wait(party)).flatten() else {
            return Cut::NoPlace;
        };
        is_waiting.set(true);
        place = tokio::select! {
            free = turn.place(progress) => Some(free),
            () = idle() => return Cut::Idle,
        };
        is_waiting.set(false);
        tokio::task::yield_now().await; // and what had come meanwhile is read
    }
}

/// Ends when others wait for their senders' farewells, too, or patience is over, and no file is being
/// finished: a slow disk loses none for that, and a sender that says no end keeps nobody out.
async fn until_others_wait(farewell: &Farewell<'_>, known: &KnownFiles, patience: Duration) {
    let _ = tokio::time::timeout(patience, farewell.taken_away()).await;
    while known.is_any_finishing() {
        tokio::time::sleep(TICK).await;
    }
}

/// Ends when nothing has come for too long from a sender that is there. One that is not is the connection's
/// matter. Meanwhile the progress knows when it was heard of.
async fn idle<E: TransportEnd>(
    progress: &Progress,
    (monitor, clock): (&Monitor<E::Protocol>, Clock),
    give_up_ns: Option<u64>,
) {
    let is_there =
        |now: Instant, ns: u64| monitor.stats().is_some_and(|stats| now.since(stats.last_heard) < ns);
    let is_over = |now: Instant| {
        let limit_ns = if progress.is_opened() { give_up_ns } else { Some(OPENING_LIMIT_NS) };
        let limit_ns = limit_ns.filter(|&limit_ns| progress.idle_ns(now) >= limit_ns);
        limit_ns.is_some_and(|limit_ns| !progress.is_opened() || is_there(now, limit_ns / 2))
    };
    let mut tick = tokio::time::interval(TICK);
    while !is_over(clock.now()) {
        if let Some(stats) = monitor.stats().filter(|_| E::ASKS_SENDERS) {
            progress.hear(stats.last_heard);
        }
        tick.tick().await;
    }
}

/// Files of a session, and why it failed, if it did. That it was ended here does no harm once every file has
/// its result.
fn outcome(
    peer: SocketAddr,
    received: Result<Result<SessionReport, ReceiveError>, Cut>,
    known: &KnownFiles,
) -> (SessionReport, Option<Failure>) {
    let is_settled = received.is_err() && known.are_settled();
    let received = if is_settled { Ok(Ok(known.report())) } else { received };
    let failed = |code, why: &str| Some(Failure::of(code, format!("receiving from {peer} failed: {why}")));
    match received {
        Err(Cut::Stop) => (known.report(), failed(ErrorCode::Interrupted, "interrupted")),
        Err(Cut::NoPlace) => {
            let why = "others wanted its place, and it brought nothing for some seconds; the sender must send again";
            (known.report(), failed(ErrorCode::GaveWay, why))
        }
        Err(Cut::Dismissed) => {
            let why = "it has no leave any more: it was removed from the peers, or paired again, meanwhile";
            (known.report(), failed(ErrorCode::PeerUnknown, why))
        }
        Err(Cut::NoMemory) => {
            let why =
                "it has too many files beside those of other transfers; the sender must send them in parts";
            (known.report(), failed(ErrorCode::TooManyFiles, why))
        }
        Err(Cut::Idle) => {
            let why = "the sender was there and brought nothing for as long as --give-up says";
            (known.report(), failed(ErrorCode::Stalled, why))
        }
        Ok(Err(ReceiveError { cause, report })) => {
            (report, failed(of_fault(&cause, true), &advice::of_receiving(&cause)))
        }
        Ok(Ok(report)) => {
            let failure = of_files(&report).map(|code| {
                let files = failed_files(&report);
                Failure::of(code, format!("not every file from {peer} was taken: {files}"))
            });
            (report, failure)
        }
    }
}

/// Report of which a result in this form is made.
fn in_form(report: &SessionReport, form: Form) -> Cow<'_, SessionReport> {
    match form {
        Form::Table | Form::Nothing => Cow::Owned(brief(report)),
        Form::Json => Cow::Owned(brief_object(report)),
        Form::FullJson | Form::FullTable => Cow::Borrowed(report),
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{Digest, FileOutcome, FileReport, RawName};

    use super::*;
    use crate::places::{MAX_FAREWELLS, Places};

    fn address(last: u8) -> Party {
        Party::at([192, 0, 2, last].into())
    }

    /// A file whose result waits for the disk, and its report.
    fn finishing() -> (KnownFiles, FileReport) {
        let known = KnownFiles::default();
        let name = RawName::new(b"file".to_vec());
        let report = FileReport::unfinished(name.clone(), 5, Side::Receiver);
        for event in [
            Event::Started { files: 1, bytes: 5 },
            Event::File { file: 0, name: &name, bytes: 5 },
            Event::Arrived { file: 0 },
            Event::Whole { file: 0 },
        ] {
            known.observe(&event, Side::Receiver, Instant::ZERO);
        }
        (known, report)
    }

    /// Of a peer with leave that brings a small file a second one object in four would be written.
    #[test]
    fn a_small_file_of_a_sealed_peer_counts_for_a_block_and_a_stranger_s_for_its_bytes() {
        let file = |bytes, outcome| FileReport { bytes, outcome, ..finishing().1 };
        let stored = || FileOutcome::Delivered { digest: Digest([0; 32]) };
        let files = vec![file(5, stored()), file(9000, stored()), finishing().1];
        let report = SessionReport { files };
        assert_eq!((free_bytes(&report, 0), free_bytes(&report, BLOCK_BYTES)), (9005, 9000 + BLOCK_BYTES));
    }

    #[tokio::test]
    async fn a_slow_disk_outlasts_the_patience_with_farewells() {
        let (places, (known, report)) = (Places::default(), finishing());
        let farewell = places.farewell(address(0));
        let mut waits = pin!(until_others_wait(&farewell, &known, Duration::from_millis(10)));
        let second = Duration::from_secs(1);
        assert!(tokio::time::timeout(second, &mut waits).await.is_err(), "its file would be lost");
        known.observe(&Event::Settled { file: 0, report: &report }, Side::Receiver, Instant::ZERO);
        assert!(tokio::time::timeout(5 * second, waits).await.is_ok());
    }

    #[tokio::test]
    async fn who_waits_for_a_farewell_goes_for_others_once_its_file_has_its_result() {
        let (places, (known, report)) = (Places::default(), finishing());
        let oldest = places.farewell(address(0));
        let ends = async |ms| {
            let waits = until_others_wait(&oldest, &known, FAREWELL_PATIENCE);
            tokio::time::timeout(Duration::from_millis(ms), waits).await.is_ok()
        };
        assert!(!ends(20).await, "nobody else waits");
        let others: Vec<_> = (1..=MAX_FAREWELLS).map(|last| places.farewell(address(last as u8))).collect();
        let settled = Event::Settled { file: 0, report: &report };
        let (is_over, ()) = tokio::join!(ends(5000), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            known.observe(&settled, Side::Receiver, Instant::ZERO);
        });
        assert!(is_over && known.are_settled());
        drop(others);
    }
}
