//! Two ends that open connections with data, one after the other, over a path that loses, repeats, reorders
//! and brings openings back that are long over.

use std::collections::{BTreeMap, VecDeque};

use skyhaul_core::endpoint::Stage;
use skyhaul_core::{ConnectionId, Connections, Engine, Instant, NetworkFields, NullSink};
use skyhaul_tcp::segment::{Way, decode, flags};
use skyhaul_tcp::{AcceleratedOpen, Config, Endpoint};

use crate::input::Input;
use crate::tcp_openings::{PORT, any_facts, later, listening};
use crate::tcp_pair::{come_twice, overtake};
use crate::tcp_segment::way;

const MAX_OPERATIONS: usize = 400;
/// Connections of one run, and openings that may come back.
const MAX_OPENED: usize = 64;
/// Steps after which the last connection must have delivered everything over the healed path.
const LAST_STEPS: usize = 20_000;
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// A connection as the server has it.
#[derive(Debug)]
struct Accepted {
    id: ConnectionId,
    client_port: u16,
    read: usize,
}

struct Pair {
    ends: [Endpoint; 2],
    under_way: [VecDeque<(NetworkFields, Vec<u8>)>; 2],
    now: Instant,
    config: Config,
    /// Octets that the client wrote, by its port; each of its connections begins with another octet.
    written: BTreeMap<u16, Vec<Vec<u8>>>,
    client: Option<(ConnectionId, u16)>,
    opened: usize,
    accepted: Vec<Accepted>,
    /// Openings that left, to come back at any time.
    openings: Vec<Vec<u8>>,
    /// Connections that delivered data, by the client's port.
    delivered: BTreeMap<u16, usize>,
}

pub(super) fn run(kind: AcceleratedOpen, config: &Config, input: &mut Input<'_>) {
    let ends = [listening(config, 1), listening(config, u64::from(input.byte()) + 2)];
    let mut pair = Pair {
        ends,
        under_way: Default::default(),
        now: Instant::from_ns(1),
        config: config.clone(),
        written: BTreeMap::new(),
        client: None,
        opened: 0,
        accepted: Vec::new(),
        openings: Vec::new(),
        delivered: BTreeMap::new(),
    };
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        pair.operate(input);
        pair.settle();
    }
    pair.heal();
    if kind == AcceleratedOpen::Ttcp {
        for (port, count) in &pair.delivered {
            let opened = pair.written[port].len();
            assert!(*count <= opened, "{count} connections delivered data of {opened} from port {port}");
        }
    }
}

impl Pair {
    fn way(end: usize) -> Way {
        if end == CLIENT { way() } else { way().reversed() }
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        let choice = input.byte();
        let end = usize::from(choice >> 7);
        match choice & 15 {
            0 => drop(self.under_way[end].pop_front()),
            1 => come_twice(&mut self.under_way[end]),
            2 => overtake(&mut self.under_way[end]),
            3 => self.now = later(self.now, input),
            4 => self.pass_deadline(),
            5 | 6 => self.open(usize::from(input.byte()) * 16),
            7 => self.write(usize::from(input.byte()) * 64),
            8 => self.finish(),
            9 => self.bring_back(usize::from(input.byte())),
            10 => {
                let facts = any_facts(input);
                self.ends[CLIENT].assume_fast_open(self.now, Self::way(CLIENT), facts);
            }
            11 if end == SERVER => self.answer(),
            _ => self.deliver(end),
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
    }

    /// The client lets go of what it has, and opens another connection with these first words.
    fn open(&mut self, bytes: usize) {
        if self.opened == MAX_OPENED {
            return;
        }
        self.finish();
        if let Some((id, _)) = self.client.take() {
            // Of several first openings of T/TCP at once a late one lowers the count that a later one told:
            // docs/spec/tcp-conformance.md.
            if self.ends[CLIENT].stage(id) == Some(Stage::Opening) {
                self.ends[CLIENT].abort(id);
            }
            self.ends[CLIENT].release(self.now, id);
        }
        let opened = self.ends[CLIENT].connect(self.now, Self::way(CLIENT), PORT, None, self.config.clone());
        let Ok(id) = opened else { return };
        let port = self.ends[CLIENT].local_port(id).expect("it was opened now");
        self.opened += 1;
        self.written.entry(port).or_default().push(Vec::new());
        self.client = Some((id, port));
        self.write(bytes);
    }

    fn write(&mut self, bytes: usize) {
        let Some((id, port)) = self.client else { return };
        let Some(written) = self.written.get_mut(&port).and_then(|all| all.last_mut()) else { return };
        let from = written.len();
        let data: Vec<u8> =
            (from..from + bytes).map(|at| ((at * 31) >> 3) as u8 ^ self.opened as u8).collect();
        let count = self.ends[CLIENT].write(id, &data).unwrap_or(0);
        written.extend_from_slice(&data[..count]);
    }

    fn finish(&mut self) {
        self.client.iter().for_each(|&(id, _)| self.ends[CLIENT].finish(id));
    }

    /// The server answers each connection, and ends its direction.
    fn answer(&mut self) {
        for accepted in &self.accepted {
            let _ = self.ends[SERVER].write(accepted.id, &[1; 300]); // one that is over takes none
            self.ends[SERVER].finish(accepted.id);
        }
    }

    fn bring_back(&mut self, which: usize) {
        let opening = self.openings.get(which % self.openings.len().max(1));
        self.under_way[SERVER].extend(opening.map(|bytes| (NetworkFields::default(), bytes.clone())));
    }

    fn deliver(&mut self, end: usize) {
        let Some((fields, bytes)) = self.under_way[end].pop_front() else { return };
        self.ends[end].handle(self.now, Self::way(end), fields, &bytes, &mut NullSink);
    }

    fn pass_deadline(&mut self) {
        let due = self.ends.iter().filter_map(Engine::deadline).min();
        self.now = due.map_or(self.now, |at| at.max(self.now));
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
    }

    /// Applications have their turn, and what is due leaves.
    fn settle(&mut self) {
        while let Some(id) = self.ends[SERVER].accept() {
            let client_port = self.ends[SERVER].remote(id).map_or(0, |remote| remote.port());
            self.accepted.push(Accepted { id, client_port, read: 0 });
        }
        self.read();
        for end in [CLIENT, SERVER] {
            let mut buffer = Vec::new();
            while let Some(sent) = self.ends[end].poll_transmit(self.now, &mut buffer, 8, &mut NullSink) {
                for bytes in buffer.chunks(sent.segment_bytes) {
                    self.under_way[1 - end].push_back((sent.fields, bytes.to_vec()));
                    let is_opening = decode(Self::way(1 - end), bytes)
                        .is_ok_and(|segment| segment.has(flags::SYN) && !segment.has(flags::ACK));
                    if end == CLIENT && is_opening && self.openings.len() < MAX_OPENED {
                        self.openings.push(bytes.to_vec());
                    }
                }
                assert!(self.under_way[1 - end].len() < 50_000, "an endless loop");
            }
            while self.ends[end].poll_event().is_some() {}
        }
        self.client
            .iter()
            .for_each(|&(id, _)| while let Ok(Some(1..)) = self.ends[CLIENT].read(id, &mut [0; 2048]) {});
    }

    /// What a connection delivers is the beginning of what the client wrote over one from that port.
    fn read(&mut self) {
        for Accepted { id, client_port, read } in &mut self.accepted {
            let mut room = [0; 4096];
            while let Ok(Some(count @ 1..)) = self.ends[SERVER].read(*id, &mut room) {
                if *read == 0 {
                    *self.delivered.entry(*client_port).or_default() += 1;
                }
                let got = &room[..count];
                let sent = self.written.get(client_port).map_or(&[][..], Vec::as_slice);
                let is_sent = sent.iter().any(|all| all.get(*read..*read + count) == Some(got));
                assert!(is_sent, "{count} octets at {read} that nobody wrote at port {client_port}");
                *read += count;
            }
        }
    }

    /// The path is whole: what was written over the last connection arrives, unless an end has given up.
    fn heal(&mut self) {
        let Some((id, port)) = self.client else { return };
        for _ in 0..LAST_STEPS {
            self.settle();
            let written = self.written[&port].last().map_or(0, Vec::len);
            let is_complete = self.accepted.iter().any(|one| one.client_port == port && one.read >= written);
            let has_ended = self.ends[CLIENT].state_name(id).is_none_or(|state| state == "CLOSED");
            if written == 0 || is_complete || has_ended {
                return;
            }
            if self.under_way.iter().all(VecDeque::is_empty) {
                self.pass_deadline();
            }
            self.deliver(CLIENT);
            self.deliver(SERVER);
            let now = self.now;
            self.accepted.retain(|one| {
                let is_over = self.ends[SERVER].state_name(one.id).is_none_or(|state| state == "CLOSED");
                if is_over {
                    self.ends[SERVER].release(now, one.id);
                }
                !is_over
            });
        }
        panic!(
            "not everything arrived: {:?} of {:?}",
            self.accepted,
            self.written[&port].last().map(Vec::len)
        );
    }
}
