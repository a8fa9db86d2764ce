//! An application that opens, accepts, writes and reads as its shape says, and trusts events alone:
//! it writes on only after `Writable` and reads on only after `Readable`, so that a lost event shows.
//!
//! Every stream begins with a key and a length, both 8 octets; the key's pattern follows.

use std::any::Any;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::common::family::Parameters;
use skyhaul_core::{CloseReason, ConnectError, Instant, StreamEvent};
use skyhaul_sim::{App, ConnectionKey, Engines, StpEngine, TcpEngine, pattern};
use skyhaul_tcp::segment::Way;

use super::shape::{End, Opening};
use crate::common::dice::Dice;

/// Where talkers listen.
pub(crate) const PORT: u16 = 4;
const HEAD_BYTES: u64 = 16;

/// One direction of a connection: what names it, and how many bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    key: u64,
    bytes: u64,
}

impl Name {
    fn byte(self, position: u64) -> u8 {
        match position {
            0..8 => self.key.to_be_bytes()[position as usize],
            8..16 => self.bytes.to_be_bytes()[position as usize - 8],
            _ => pattern(self.key, position),
        }
    }

    fn total(self) -> u64 {
        HEAD_BYTES + self.bytes
    }
}

/// A connection as its application sees it.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    /// Stream that it sends.
    pub(crate) sends: Name,
    /// Bytes taken by the engine.
    pub(crate) written: u64,
    /// Bytes read.
    pub(crate) read: u64,
    /// The end was read.
    pub(crate) ended: bool,
    /// How it closed.
    #[expect(clippy::option_option, reason = "whether it closed, and the reason of a bad end")]
    pub(crate) closed: Option<Option<CloseReason>>,
    head: Vec<u8>,
    wrong_at: Option<u64>,
    may_write: bool,
    write_at: Instant,
    may_read: bool,
    read_at: Instant,
    finished: bool,
    /// It was aborted here.
    pub(crate) aborted: bool,
}

impl Conversation {
    fn new(sends: Name, now: Instant) -> Self {
        Self {
            sends,
            written: 0,
            read: 0,
            ended: false,
            closed: None,
            head: Vec::new(),
            wrong_at: None,
            may_write: true,
            write_at: now,
            may_read: false,
            read_at: now,
            finished: false,
            aborted: false,
        }
    }

    /// Stream that the other side says it sends, once that is known.
    pub(crate) fn receives(&self) -> Option<Name> {
        let (key, bytes) = self.head.split_at_checked(8)?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_be_bytes);
        Some(Name { key: number(key)?, bytes: number(bytes)? })
    }

    fn take(&mut self, bytes: &[u8]) {
        let more = (HEAD_BYTES as usize).saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..more]);
        for &byte in bytes {
            let fits = self.receives().is_none_or(|name| {
                self.read < name.total() && (self.read < HEAD_BYTES || name.byte(self.read) == byte)
            });
            if !fits {
                self.wrong_at.get_or_insert(self.read);
            }
            self.read += 1;
        }
    }

    /// Fault of what was received, if any.
    pub(crate) fn fault(&self) -> Option<String> {
        if let Some(at) = self.wrong_at {
            return Some(format!("a wrong byte at {at}"));
        }
        let complete = self.receives().is_some_and(|name| self.read == name.total());
        (self.ended && !complete).then(|| format!("an end after {} of {:?}", self.read, self.receives()))
    }

    fn is_over(&self) -> bool {
        match self.closed {
            None => false,
            Some(None) => self.ended,
            Some(Some(_)) => !self.may_read,
        }
    }
}

/// The application.
#[derive(Debug)]
pub(crate) struct Talker {
    plan: End,
    way: Way,
    remote: SocketAddr,
    dice: Dice,
    listening: bool,
    finish_from: Instant,
    /// Connections not yet over.
    pub(crate) open: BTreeMap<ConnectionKey, Conversation>,
    /// Connections that are over.
    pub(crate) over: Vec<Conversation>,
    /// Connections that somebody else opened, and whether they are still held: for a while.
    strangers: BTreeMap<ConnectionKey, bool>,
    strangers_until: Instant,
    opened: usize,
    failure: Option<String>,
}

impl Talker {
    /// Talks from the first address to the second; finishes no stream before `finish_from`, and keeps what
    /// others open until `strangers_until`.
    pub(crate) fn new(
        plan: End,
        [local, remote]: [SocketAddr; 2],
        dice: Dice,
        finish_from: Instant,
        strangers_until: Instant,
    ) -> Self {
        Self {
            plan,
            way: Way { local: local.ip(), remote: remote.ip() },
            remote,
            dice,
            listening: false,
            finish_from,
            open: BTreeMap::new(),
            over: Vec::new(),
            strangers: BTreeMap::new(),
            strangers_until,
            opened: 0,
            failure: None,
        }
    }

    fn name(&mut self) -> Name {
        Name { key: self.dice.below(u64::MAX), bytes: self.dice.below(self.plan.most_bytes + 1) }
    }

    fn begin(&mut self, now: Instant, engines: &mut Engines) {
        if !self.listening {
            engines.listen(PORT);
            self.listening = true;
        }
        while let Some(&opening) = self.plan.opens.get(self.opened)
            && opening.at <= now
        {
            self.opened += 1;
            match self.open(now, engines, opening) {
                Ok(id) => self.enter(now, id),
                // The other end was quicker: its opening has these ports.
                Err(ConnectError::NoFreePort) if opening.meets => {}
                Err(error) => self.fail(error.to_string()),
            }
        }
        while let Some(id) = engines.accept() {
            if self.is_of_peer(engines, id) {
                self.enter(now, id);
            } else {
                // As much as makes its window matter.
                let _ = engines.write(id, &[0xC0; 3000]);
                self.strangers.insert(id, true);
            }
        }
    }

    /// Connections that others than the peer opened.
    pub(crate) fn stranger_count(&self) -> usize {
        self.strangers.len()
    }

    fn is_of_peer(&self, engines: &mut Engines, id: ConnectionKey) -> bool {
        let stp = engines.find_mut::<StpEngine>();
        stp.and_then(|(_, engine)| engine.endpoint.remote(id.connection))
            .is_none_or(|peer| peer == self.remote)
    }

    /// Takes what strangers bring, and lets them go when their time is over.
    fn attend_strangers(&mut self, now: Instant, engines: &mut Engines) {
        let is_over = now >= self.strangers_until;
        for (&id, is_held) in self.strangers.iter_mut().filter(|(_, is_held)| **is_held) {
            let mut buffer = [0; 4096];
            while engines.read(id, &mut buffer).is_ok_and(|read| read.is_some_and(|bytes| bytes > 0)) {}
            if is_over {
                *is_held = false;
                engines.abort(id);
                engines.release(now, id);
            }
        }
    }

    fn open(
        &self,
        now: Instant,
        engines: &mut Engines,
        opening: Opening,
    ) -> Result<ConnectionKey, ConnectError> {
        let (engine, opened) = match &self.plan.config {
            Parameters::Stp(config) => {
                let (id, engine) = engines.find_mut::<StpEngine>().expect("the host speaks STP");
                (id, engine.endpoint.connect(now, self.remote, PORT, (**config).clone(), opening.held))
            }
            Parameters::Tcp(config) => {
                let (id, engine) = engines.find_mut::<TcpEngine>().expect("the host speaks TCP");
                let port = opening.meets.then_some(PORT);
                (id, engine.endpoint.connect(now, self.way, PORT, port, (**config).clone()))
            }
        };
        opened.map(|connection| ConnectionKey { engine, connection })
    }

    fn enter(&mut self, now: Instant, id: ConnectionKey) {
        let name = self.name();
        if self.open.insert(id, Conversation::new(name, now)).is_some() {
            self.fail(format!("connection {id} came twice"));
        }
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }

    fn hear(&mut self, engines: &mut Engines) {
        while let Some((id, event)) = engines.poll_event() {
            if self.strangers.contains_key(&id) {
                continue;
            }
            let Some(talk) = self.open.get_mut(&id) else {
                self.fail(format!("{event:?} of connection {id}, which is not open"));
                continue;
            };
            match event {
                StreamEvent::Readable => talk.may_read = true,
                StreamEvent::Writable => talk.may_write = true,
                StreamEvent::Closed(reason) => {
                    talk.closed = Some(reason);
                    talk.may_read = true;
                }
                StreamEvent::Connected | StreamEvent::Finished => {}
            }
        }
    }

    fn pump(&mut self, now: Instant, engines: &mut Engines) {
        for (&id, talk) in &mut self.open {
            write(now, engines, id, talk, &self.plan);
            read(now, engines, id, talk, &self.plan);
            let is_enough = self.plan.aborts_at.is_some_and(|bytes| talk.written >= bytes.max(1));
            if is_enough && !talk.aborted && talk.closed.is_none() {
                talk.aborted = true;
                engines.abort(id);
            }
            if talk.written == talk.sends.total() && !talk.finished && now >= self.finish_from {
                talk.finished = true;
                engines.finish(id);
            }
        }
    }

    fn sweep(&mut self, now: Instant, engines: &mut Engines) {
        let ids: Vec<ConnectionKey> =
            self.open.iter().filter(|(_, t)| t.is_over()).map(|(&i, _)| i).collect();
        for id in ids {
            engines.release(now, id);
            self.over.extend(self.open.remove(&id));
        }
    }
}

fn write(now: Instant, engines: &mut Engines, id: ConnectionKey, talk: &mut Conversation, plan: &End) {
    let total = talk.sends.total();
    while talk.may_write && talk.written < total && talk.write_at <= now && talk.closed.is_none() {
        let wanted = (total - talk.written).min(plan.writes.bytes as u64);
        let chunk: Vec<u8> = (talk.written..talk.written + wanted).map(|at| talk.sends.byte(at)).collect();
        let taken = engines.write(id, &chunk).unwrap_or(0);
        talk.written += taken as u64;
        talk.may_write = taken == chunk.len();
        talk.write_at = now.after(plan.writes.every_ns * taken as u64 / plan.writes.bytes as u64);
    }
}

fn read(now: Instant, engines: &mut Engines, id: ConnectionKey, talk: &mut Conversation, plan: &End) {
    let mut buffer = vec![0; plan.reads.bytes];
    while talk.may_read && talk.read_at <= now {
        match engines.read(id, &mut buffer) {
            Ok(Some(0)) => (talk.ended, talk.may_read) = (true, false),
            Ok(Some(read)) => {
                talk.take(&buffer[..read]);
                talk.read_at = now.after(plan.reads.every_ns * read as u64 / plan.reads.bytes as u64);
            }
            Ok(None) | Err(_) => talk.may_read = false,
        }
    }
}

impl App for Talker {
    fn work(&mut self, now: Instant, engines: &mut Engines) -> bool {
        self.begin(now, engines);
        self.attend_strangers(now, engines);
        self.hear(engines);
        self.pump(now, engines);
        if self.plan.aborts_at.is_some() {
            self.hear(engines);
        }
        self.sweep(now, engines);
        true
    }

    fn deadline(&self) -> Option<Instant> {
        let opening = self.plan.opens.get(self.opened).map(|opening| opening.at);
        let steps = self.open.values().flat_map(|talk| {
            let written = talk.written == talk.sends.total();
            let write = (talk.may_write && !written && talk.closed.is_none()).then_some(talk.write_at);
            let finish = (written && !talk.finished).then_some(self.finish_from);
            [write, finish, talk.may_read.then_some(talk.read_at)]
        });
        let strangers = self.strangers.values().any(|&is_held| is_held).then_some(self.strangers_until);
        steps.flatten().chain(opening).chain(strangers).min()
    }

    fn is_done(&self) -> bool {
        let is_alone = self.strangers.values().all(|&is_held| !is_held);
        self.opened == self.plan.opens.len() && self.open.is_empty() && is_alone
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
