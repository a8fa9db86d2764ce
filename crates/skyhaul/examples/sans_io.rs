//! The engine without runtime, socket or clock: two engines with a queue of datagrams between them, in
//! virtual time. Every seventh datagram is lost.
//!
//! `cargo run -p skyhaul --example sans_io`

use std::collections::VecDeque;

use skyhaul::Config;
use skyhaul::sans_io::{
    ConnectionId, Engine, EngineOptions, Instant, MS, NetworkFields, NullSink, StreamEvent,
};

/// Port of the service, within the engine.
const PORT: u16 = 7;
/// Delay of a datagram: a geostationary satellite's.
const DELAY_NS: u64 = 250 * MS;
/// One datagram in so many is lost.
const LOST: u64 = 7;
/// Headers that the carrier would put around a datagram.
const HEADER_BYTES: u32 = 28;
/// Datagrams of one batch.
const BATCH: usize = 10;

/// A datagram on its way.
struct Datagram {
    due: Instant,
    to: usize,
    bytes: Vec<u8>,
}

/// Two engines, and what is between them.
struct World {
    now: Instant,
    /// Each calls the other by its place here: any names would do.
    engines: [Engine<usize>; 2],
    under_way: VecDeque<Datagram>,
    sent: u64,
}

impl World {
    fn new() -> Self {
        let engine = |seed| Engine::new(EngineOptions::new(|_| HEADER_BYTES), seed);
        Self { now: Instant::ZERO, engines: [engine(1), engine(2)], under_way: VecDeque::new(), sent: 0 }
    }

    /// Lets both engines send what they have.
    fn transmit(&mut self) {
        let mut buffer = Vec::new();
        for from in 0..2 {
            while let Some(transmit) =
                self.engines[from].poll_transmit(self.now, &mut buffer, BATCH, &mut NullSink)
            {
                for bytes in buffer.chunks(transmit.segment_bytes) {
                    self.sent += 1;
                    if !self.sent.is_multiple_of(LOST) {
                        let due = self.now.after(DELAY_NS);
                        self.under_way.push_back(Datagram { due, to: 1 - from, bytes: bytes.to_vec() });
                    }
                }
            }
        }
    }

    /// Goes to the next moment at which something happens, and lets it happen. False if there is none.
    fn step(&mut self) -> bool {
        self.transmit();
        let deadlines = self.engines.iter().filter_map(Engine::deadline);
        let arrival = self.under_way.front().map(|datagram| datagram.due);
        let Some(next) = deadlines.chain(arrival).min() else { return false };
        self.now = self.now.max(next);
        while self.under_way.front().is_some_and(|first| first.due <= self.now)
            && let Some(datagram) = self.under_way.pop_front()
        {
            let (peer, fields) = (1 - datagram.to, NetworkFields::default());
            self.engines[datagram.to].handle(self.now, peer, fields, &datagram.bytes, &mut NullSink);
        }
        for engine in &mut self.engines {
            engine.handle_timeout(self.now, &mut NullSink);
        }
        true
    }
}

/// Writes as much as there is room for, and the end behind it.
fn write(engine: &mut Engine<usize>, id: ConnectionId, rest: &mut &[u8]) -> Result<(), String> {
    while !rest.is_empty() {
        match engine.write(id, rest).map_err(|error| error.to_string())? {
            0 => return Ok(()), // until it is writable again
            taken => *rest = &rest[taken..],
        }
    }
    engine.finish(id);
    Ok(())
}

/// Reads what is there; true at the end of the stream.
fn read(engine: &mut Engine<usize>, id: ConnectionId, into: &mut Vec<u8>) -> Result<bool, String> {
    let mut chunk = [0; 4096];
    loop {
        match engine.read(id, &mut chunk).map_err(|error| error.to_string())? {
            Some(0) => return Ok(true),
            Some(bytes) => into.extend_from_slice(&chunk[..bytes]),
            None => return Ok(false),
        }
    }
}

fn main() -> Result<(), String> {
    let data: Vec<u8> = (0..200_000_u32).map(|number| (number % 253) as u8).collect();
    let (mut rest, mut received, mut is_confirmed) = (&data[..], Vec::new(), false);
    let mut world = World::new();
    world.engines[1].listen(PORT);
    let id =
        world.engines[0].open(world.now, 1, PORT, Config::standard()).map_err(|error| error.to_string())?;
    write(&mut world.engines[0], id, &mut rest)?;

    while !is_confirmed {
        if !world.step() {
            return Err("nothing happens any more".into());
        }
        while let Some((_, event)) = world.engines[0].poll_event() {
            match event {
                StreamEvent::Writable => write(&mut world.engines[0], id, &mut rest)?,
                StreamEvent::Finished => is_confirmed = true,
                StreamEvent::Closed(Some(reason)) => return Err(reason.to_string()),
                _ => {}
            }
        }
        while let Some((id, event)) = world.engines[1].poll_event() {
            let engine = &mut world.engines[1];
            if event == StreamEvent::Readable && read(engine, id, &mut received)? {
                engine.finish(id); // nothing is said back
            }
        }
    }
    if received != data {
        return Err("what arrived is not what was sent".into());
    }
    let stats = world.engines[0].stats(id).unwrap_or_default();
    println!(
        "{} bytes arrived in {:.2} virtual seconds; {} datagrams, {} packets sent again",
        received.len(),
        world.now.as_ns() as f64 / 1e9,
        world.sent,
        stats.retransmitted_packets
    );
    Ok(())
}

#[test]
fn everything_arrives() {
    main().unwrap();
}
