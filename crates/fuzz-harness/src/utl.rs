//! UTL above one hop of STPP: at one end the layer, at the other any octets.

use std::net::SocketAddr;

use skyhaul_core::endpoint::Bounds;
use skyhaul_core::{
    ConnectionId, Connections, Engine, Instant, MS, NetworkFields, NullSink, SECOND, Stream, StreamEvent,
};
use skyhaul_petra::stpp::{self, Endpoint, EndpointConfig};
use skyhaul_petra::utl::{Config, FRAME_BYTES, Frame, UtlEvent, UtlLayer};

use crate::input::Input;

const PORT: u16 = 4;
/// Ends: that with the layer, and the peer.
const OURS: usize = 0;
const PEER: usize = 1;
const MAX_OPERATIONS: usize = 200;
/// Exchanges until nothing is under way, at most.
const MAX_EXCHANGES: usize = 10_000;
const UTL: Config =
    Config { batch_bytes: 500, window_batches: 4, timeout_ns: 20 * SECOND, send_limit_bytes: 4096 };

/// Whatever a peer says, the layer has its bounds, reads what was sent, and tells of success only where the
/// peer has confirmed everything.
///
/// # Panics
///
/// If that does not hold.
pub fn utl(bytes: &[u8]) {
    let mut input = Input(bytes);
    let mut pair = Pair::new();
    for _ in 0..MAX_OPERATIONS {
        if input.is_empty() {
            break;
        }
        pair.operate(&mut input);
        pair.settle();
        pair.check();
    }
    pair.now = pair.now.after(2 * UTL.timeout_ns);
    let is_late = pair.layer.handle_timeout(pair.now);
    pair.check();
    let is_open = pair.written > pair.confirmed_bytes() && pair.layer.failure().is_none();
    assert!(!is_open || pair.layer.deadline().is_none(), "late, {is_late}, and nobody was told");
}

struct Pair {
    ends: [Endpoint; 2],
    ids: [Option<ConnectionId>; 2],
    now: Instant,
    layer: UtlLayer,
    /// Octets that the layer took of its application, and that its application read.
    written: u64,
    read: u64,
    has_finished: bool,
    is_told_finished: bool,
    /// What the peer got, and how much of payload it sent at most.
    got: Vec<u8>,
    sent: u64,
}

fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, end as u8 + 1], 0).into()
}

impl Pair {
    fn new() -> Self {
        let hop = stpp::Config { rtt_ns: MS, window_pdus: 64, ..stpp::Config::standard() };
        let endpoint = |seed| {
            let config = EndpointConfig {
                accept: hop.clone(),
                mtu_bytes: 1500,
                carrier_bytes: |_| 0,
                head_bytes: 0,
                bounds: Bounds::NONE,
                receive_budget_bytes: u64::MAX,
            };
            Endpoint::new(config, Stream::new(seed, "fuzz"))
        };
        let mut ends = [endpoint(1), endpoint(2)];
        ends[PEER].listen(PORT);
        let now = Instant::from_ns(1);
        let opened = ends[OURS].connect(now, address(PEER), PORT, hop.clone()).ok();
        let mut pair = Self {
            ends,
            ids: [opened, None],
            now,
            layer: UtlLayer::new(UTL),
            written: 0,
            read: 0,
            has_finished: false,
            is_told_finished: false,
            got: Vec::new(),
            sent: 0,
        };
        pair.settle();
        pair
    }

    fn operate(&mut self, input: &mut Input<'_>) {
        match input.byte() {
            0..60 => self.say(&Frame::Confirm { number: input.near(8).wrapping_sub(8) }.encode()),
            60..110 => {
                let (number, length) = (input.near(8).wrapping_sub(7), input.near(8).wrapping_sub(8));
                self.say(&Frame::Batch { number, length, ends: input.byte() == 7 }.encode());
            }
            110..140 => {
                let count = usize::from(input.byte());
                self.say(input.take(count));
            }
            140..180 => {
                let data = vec![7; usize::from(input.byte()) * 8];
                let taken = self.layer.write(&data) as u64;
                assert!(!self.has_finished || taken == 0, "written after the end");
                self.written += taken;
            }
            180..220 => {
                let mut out = vec![0; usize::from(input.byte()) + 1];
                self.read += self.layer.read(&mut out).unwrap_or(0) as u64;
            }
            220..240 => self.now = self.now.after(u64::from(input.byte()) * 100 * MS),
            240..250 => {
                self.layer.finish();
                self.has_finished = true;
            }
            _ => self.ids[PEER].into_iter().for_each(|id| self.ends[PEER].abort(id)),
        }
    }

    /// The peer writes this into its stream.
    fn say(&mut self, octets: &[u8]) {
        let Some(id) = self.ids[PEER] else { return };
        self.sent += self.ends[PEER].write(id, octets).unwrap_or(0) as u64;
    }

    /// Everything that is under way arrives.
    fn settle(&mut self) {
        for _ in 0..MAX_EXCHANGES {
            let worked = self.work();
            let sent = (0..2).filter(|&end| self.transmit(end)).count();
            if sent == 0 && !worked {
                return;
            }
        }
        panic!("it never rests");
    }

    fn work(&mut self) -> bool {
        let Some(id) = self.ids[OURS] else { return false };
        let is_late = self.layer.handle_timeout(self.now);
        let moved = self.layer.work(self.now, &mut self.ends[OURS], id);
        if is_late || self.layer.failure().is_some() {
            self.ends[OURS].abort(id);
        }
        while let Some((_, event)) = self.ends[OURS].poll_event() {
            if matches!(event, StreamEvent::Closed(_)) {
                self.layer.on_closed();
            }
        }
        while let Some(event) = self.layer.poll_event() {
            self.on_told(event);
        }
        moved
    }

    fn on_told(&mut self, event: UtlEvent) {
        match event {
            UtlEvent::Finished => {
                assert!(self.has_finished && !self.is_told_finished, "told without an end, or twice");
                self.is_told_finished = true;
            }
            UtlEvent::Failed(error) => assert_eq!(self.layer.failure(), Some(error)),
            UtlEvent::Readable | UtlEvent::Writable => {}
        }
    }

    fn transmit(&mut self, from: usize) -> bool {
        let (mut buffer, mut any) = (Vec::new(), false);
        self.ends[from].handle_timeout(self.now, &mut NullSink);
        while let Some(sent) = self.ends[from].poll_transmit(self.now, &mut buffer, 16, &mut NullSink) {
            any = true;
            for bytes in buffer.chunks(sent.segment_bytes) {
                let (to, fields) = (1 - from, NetworkFields::default());
                self.ends[to].handle(self.now, address(from), fields, bytes, &mut NullSink);
            }
        }
        self.peer_reads();
        any
    }

    fn peer_reads(&mut self) {
        let accepted = self.ends[PEER].accept();
        self.ids[PEER] = self.ids[PEER].or(accepted);
        let Some(id) = self.ids[PEER] else { return };
        let mut out = [0; 4096];
        while let Ok(Some(count @ 1..)) = self.ends[PEER].read(id, &mut out) {
            self.got.extend(&out[..count]);
        }
    }

    /// Octets that the application has written and does not wait for any more.
    fn confirmed_bytes(&self) -> u64 {
        self.written - self.layer.unconfirmed_bytes()
    }

    fn check(&self) {
        assert!(self.layer.unconfirmed_bytes() <= self.written, "more is unconfirmed than was written");
        assert!(self.read <= self.sent, "more was read than was sent");
        assert!(!self.is_told_finished || self.confirmed_bytes() == self.written, "told too early");
        self.check_batches();
    }

    /// What the layer said is batches in turn and confirmations, with no more under way than a window.
    fn check_batches(&self) {
        let (mut rest, mut last, mut payload) = (&self.got[..], 0, 0u64);
        while let Some((head, after)) = rest.split_first_chunk::<FRAME_BYTES>() {
            rest = after;
            match Frame::decode(*head).expect("the layer says frames") {
                Frame::Confirm { .. } => {}
                Frame::Batch { number, length, .. } => {
                    assert!(number == last + 1 && length <= UTL.batch_bytes, "batch {number} of {length}");
                    let length = rest.len().min(length as usize);
                    (rest, last, payload) = (&rest[length..], number, payload + length as u64);
                }
            }
        }
        assert!(payload <= self.written, "more was sent than was written");
    }
}
