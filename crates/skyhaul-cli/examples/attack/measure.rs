//! Two turns of an honest transfer: alone, and beside an attack.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::attack::Attack;
use crate::field::Field;
use crate::geo::Geo;
use crate::honest::{Entry, Transfer, Way, newcomer};
use crate::machines::Machines;
use crate::receiver::{Reading, Receiver};
use crate::relay::Relay;

/// An attack that comes first has begun by then; others begin so long after the honest transfer has brought
/// something.
const HEAD_START: Duration = Duration::from_secs(1);
/// Time within which the honest transfer has brought something: over geo the opening takes two round trips of
/// half a second where no token is held.
const UNDER_WAY_PATIENCE: Duration = Duration::from_secs(10);
/// Time that an attack has until the newcomer comes, whatever has become of it.
const STANDING_PATIENCE: Duration = Duration::from_secs(12);
/// Time that `receive --once` has to end after its transfer.
const ONCE_PATIENCE: Duration = Duration::from_secs(5);
/// Datagrams from which on the cost of one is told.
const MANY_DATAGRAMS: u64 = 10_000;

/// Plan of a measurement.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) attacks: Vec<Attack>,
    pub(crate) bytes: u64,
    pub(crate) rate_bps: u64,
    pub(crate) binary: Option<PathBuf>,
    pub(crate) is_json: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { attacks: Vec::new(), bytes: 20_000_000, rate_bps: 10_000_000, binary: None, is_json: false }
    }
}

impl Plan {
    /// Longest time that the honest transfer may take: twice its time, and some.
    fn patience(&self) -> Duration {
        Duration::from_secs_f64(5.0 + 2.0 * 8.0 * self.bytes as f64 / self.rate_bps as f64)
    }
}

/// Outcome of a turn.
#[derive(Clone, Debug, Default)]
struct Turn {
    goodput_bps: Option<f64>,
    newcomer: Option<Entry>,
    reading: Reading,
    /// From the begin of the attack, or of the newcomer, to the end.
    seconds: f64,
    datagrams: u64,
    octets: u64,
    achieved: Option<String>,
}

/// Outcome of an attack.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Goodput beside the attack over goodput alone; `None` if the transfer was broken off.
    pub(crate) honest: Option<f64>,
    /// `None`: there was none.
    pub(crate) newcomer: Option<Entry>,
    pub(crate) memory_bytes: u64,
    pub(crate) output_bytes_per_s: f64,
    /// `None`: too few datagrams to tell.
    pub(crate) cpu_us_per_datagram: Option<f64>,
    pub(crate) datagrams_per_s: f64,
    pub(crate) octets_per_s: f64,
    pub(crate) achieved: Option<String>,
}

pub(crate) fn measure(plan: &Plan, attack: &Attack, binary: &Path) -> io::Result<Row> {
    let quiet = Attack { run: stand_still, ..*attack };
    let alone = turn(plan, &quiet, binary)?;
    let Some(alone_bps) = alone.goodput_bps else {
        return Err(io::Error::other("the honest transfer failed although nobody attacked"));
    };
    let beside = turn(plan, attack, binary)?;
    let cpu_s = beside.reading.cpu_s - alone.reading.cpu_s;
    let more_output = beside.reading.output_bytes.saturating_sub(alone.reading.output_bytes);
    Ok(Row {
        honest: beside.goodput_bps.map(|bps| bps / alone_bps),
        newcomer: beside.newcomer,
        memory_bytes: beside.reading.memory_bytes.saturating_sub(alone.reading.memory_bytes),
        output_bytes_per_s: more_output as f64 / beside.seconds,
        cpu_us_per_datagram: (beside.datagrams >= MANY_DATAGRAMS)
            .then(|| 1e6 * cpu_s / beside.datagrams as f64),
        datagrams_per_s: beside.datagrams as f64 / beside.seconds,
        octets_per_s: beside.octets as f64 / beside.seconds,
        achieved: beside.achieved,
    })
}

/// No attack.
#[allow(clippy::unnecessary_wraps, reason = "it stands in for attacks")]
fn stand_still(field: &Field<'_>) -> io::Result<()> {
    field.stand();
    Ok(())
}

fn turn(plan: &Plan, attack: &Attack, binary: &Path) -> io::Result<Turn> {
    let scene = attack.scene;
    let machines = if scene.is_sealed { Some(Machines::new()?) } else { None };
    let mut receiver = Receiver::start(binary, scene, machines.as_ref())?;
    let geo = if scene.is_sealed { Some(Geo::start(binary, receiver.address)?) } else { None };
    let relay = if scene.is_relayed { Some(Relay::start(receiver.address)?) } else { None };
    let direct = geo.as_ref().map_or(receiver.address, |geo| geo.address);
    let to = relay.as_ref().map_or(Ok(direct), Relay::address)?;
    let field = Field::new(receiver.address, binary, relay.as_ref(), machines.as_ref());
    let way = |to| Way { to, machines: machines.as_ref() };
    std::thread::scope(|scope| {
        let sources = tempfile::tempdir()?;
        let begin = |comes_first: bool| {
            (comes_first == scene.comes_first).then(|| scope.spawn(|| (attack.run)(&field)))
        };
        let (first, mut begun) = (begin(true), Instant::now());
        if first.is_some() {
            std::thread::sleep(HEAD_START);
        }
        let transfer = Transfer::start(binary, sources.path(), way(to), plan.bytes, plan.rate_bps)?;
        let mut attacker = first;
        if attacker.is_none() {
            if !receiver.holds_a_part(UNDER_WAY_PATIENCE) {
                return Err(io::Error::other("the honest transfer does not come under way"));
            }
            std::thread::sleep(HEAD_START);
            begun = Instant::now();
            attacker = begin(false);
        }
        // The emulated link has one sender: a newcomer goes past it.
        let newcomer = (!scene.is_once).then(|| (sources.path(), way(receiver.address), scene.takes_a_while));
        let done = beside(plan, &field, &mut receiver, transfer, newcomer, begun);
        field.end();
        let attacked = attacker.map(std::thread::ScopedJoinHandle::join);
        attacked.transpose().map_err(|_| io::Error::other("the attack panicked"))?.transpose()?;
        Ok(Turn { achieved: field.achieved(), ..done? })
    })
}

/// What happens while the attack lasts.
fn beside(
    plan: &Plan,
    field: &Field<'_>,
    receiver: &mut Receiver,
    transfer: Transfer,
    comes: Option<(&Path, Way<'_>, bool)>,
    begun: Instant,
) -> io::Result<Turn> {
    let newcomer = if let Some((sources, way, takes_a_while)) = comes {
        while !field.stands() && begun.elapsed() < STANDING_PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(newcomer(field.binary, sources, way, takes_a_while)?)
    } else {
        None
    };
    let mut reading = receiver.read(Reading::default());
    let goodput_bps = transfer.finish(receiver.folder.path(), plan.patience())?;
    let ((datagrams, octets), seconds) = (field.count(), begun.elapsed().as_secs_f64());
    reading = receiver.read(reading);
    if comes.is_none() {
        let status = receiver.process.ended_within(ONCE_PATIENCE)?;
        let code = status.and_then(|status| status.code());
        field.achieve(
            code.map_or("the receiver does not end".into(), |code| format!("receiver's exit code {code}")),
        );
    }
    Ok(Turn { goodput_bps, newcomer, reading, seconds, datagrams, octets, achieved: None })
}
