//! Two endpoints over a link, in virtual time.

use bytes::Bytes;
use skyhaul_core::{
    ConnectionId, Connections, Engine, Event, EventSink, Instant, NullSink, Packet, PacketMeta, SECOND,
    Stats, Stream,
};
use skyhaul_link::{Link, LinkConfig};
use skyhaul_tcp::{Config, Endpoint, EndpointConfig, IcmpMessage};

use super::{PORT, way};

/// Outcome of a transfer.
#[derive(Debug)]
pub struct Outcome {
    pub received: Vec<u8>,
    pub elapsed_ns: u64,
    pub sender: Stats,
    pub ended: bool,
}

/// Endpoints 0 and 1 at the ports of the same number.
pub struct Pair {
    pub ends: [Endpoint; 2],
    pub link: Link,
    pub now: Instant,
    /// Events of end 0 while it sends, where they are wanted.
    pub events: Option<Vec<(Instant, u64, Event)>>,
    /// Segments that reached end 1, where they are wanted.
    pub arrived: Option<Vec<Bytes>>,
    /// A router's word that end 0 hears then, about what it sent last: events are wanted for that.
    pub told: Option<(Instant, IcmpMessage)>,
    /// Steps since time moved.
    standing: u32,
}

impl Pair {
    pub fn new(config: &Config, link: LinkConfig, seed: u64) -> Self {
        let end = |name| {
            let config = EndpointConfig { accept: config.clone(), ..EndpointConfig::default() };
            Endpoint::new(config, Stream::new(seed, name))
        };
        let mut ends = [end("a"), end("b")];
        ends[1].listen(PORT);
        Self {
            ends,
            link: Link::new(link, seed, 1).unwrap(),
            now: Instant::from_ns(1),
            events: None,
            arrived: None,
            told: None,
            standing: 0,
        }
    }

    fn transmit(&mut self) {
        for side in 0..2 {
            let (mut buffer, mut batches) = (Vec::new(), 0);
            let sink: &mut dyn EventSink = match self.events.as_mut().filter(|_| side == 0) {
                Some(events) => events,
                None => &mut NullSink,
            };
            while let Some(transmit) = self.ends[side].poll_transmit(self.now, &mut buffer, 8, sink) {
                batches += 1;
                assert!(batches < 100_000, "it sends without end");
                for bytes in buffer.chunks(transmit.segment_bytes) {
                    let (wire_bytes, fields) = (bytes.len() as u32 + 20, transmit.fields);
                    let meta = PacketMeta { wire_bytes, fields, ..PacketMeta::default() };
                    let packet = Packet { bytes: Bytes::copy_from_slice(bytes), meta };
                    self.link.handle(self.now, side as u32, packet, &mut NullSink);
                }
            }
        }
    }

    /// Goes to whatever comes next; false if nothing does before `end`.
    pub fn step(&mut self, end: Instant) -> bool {
        self.transmit();
        let deadlines = [self.link.deadline(), self.ends[0].deadline(), self.ends[1].deadline()];
        let Some(next) = deadlines.into_iter().flatten().min().filter(|&next| next <= end) else {
            return false;
        };
        self.standing = if next > self.now { 0 } else { self.standing + 1 };
        assert!(self.standing < 100_000, "time stands still at {:?}", self.now);
        self.now = self.now.max(next);
        while let Some((port, packet)) = self.link.poll_transmit(self.now) {
            let way = if port == 0 { way() } else { way().reversed() };
            if let Some(arrived) = self.arrived.as_mut().filter(|_| port == 1) {
                arrived.push(packet.bytes.clone());
            }
            self.ends[port as usize].handle(self.now, way, packet.meta.fields, &packet.bytes, &mut NullSink);
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now, &mut NullSink));
        true
    }

    /// End 0 hears what it is to be told, when it is time.
    fn tell(&mut self, id: ConnectionId) {
        let Some((_, message)) = self.told.take_if(|(at, _)| *at <= self.now) else { return };
        let number = |(_, _, event): &(Instant, u64, Event)| match event {
            Event::Sent { number, .. } => Some(*number as u32),
            _ => None,
        };
        let last = self.events.iter().flatten().rev().find_map(number).unwrap();
        let ports = [self.ends[0].local_port(id).unwrap(), PORT].map(u16::to_be_bytes).concat();
        let quoted = [&ports[..], &last.to_be_bytes()].concat();
        self.ends[0].handle_icmp(self.now, way(), message, (6, &quoted), &mut NullSink);
    }

    pub fn connect(&mut self, config: &Config) -> ConnectionId {
        self.ends[0].connect(self.now, way(), PORT, None, config.clone()).unwrap()
    }
}

pub fn content(bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    Stream::new(1, "content").fill(&mut out);
    out
}

/// Sends `data` from end 0 to end 1 and closes both ways, within `limit_s`.
pub fn transfer(config: &Config, link: LinkConfig, seed: u64, data: &[u8], limit_s: u64) -> Outcome {
    transfer_over(&mut Pair::new(config, link, seed), config, data, limit_s)
}

/// As [`transfer`], between the ends of a pair.
pub fn transfer_over(pair: &mut Pair, config: &Config, data: &[u8], limit_s: u64) -> Outcome {
    let end = Instant::from_ns(limit_s * SECOND);
    let id = pair.connect(config);
    let (mut written, mut received, mut other, mut done_at) = (0, Vec::new(), None, None);
    let mut scratch = vec![0; 1 << 16];
    loop {
        written += pair.ends[0].write(id, &data[written..]).unwrap_or(0);
        if written == data.len() {
            pair.ends[0].finish(id);
        }
        other = other.or_else(|| pair.ends[1].accept());
        while let Some(Ok(Some(count))) = other.map(|other| pair.ends[1].read(other, &mut scratch)) {
            received.extend_from_slice(&scratch[..count]);
            if count == 0 {
                done_at.get_or_insert(pair.now);
                pair.ends[1].finish(other.unwrap_or_default());
                break;
            }
        }
        if !pair.step(end) {
            break;
        }
        pair.tell(id);
    }
    let sender = pair.ends[0].stats(id).unwrap_or_default();
    let elapsed_ns = done_at.unwrap_or(pair.now).as_ns();
    Outcome { received, elapsed_ns, sender, ended: done_at.is_some() }
}
