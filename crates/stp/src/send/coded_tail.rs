//! The end of a transfer, coded: when nothing new is left, repair symbols over the packets without
//! confirmation go out. Whichever packets are missing, as many symbols as are missing bring all of them back,
//! so nobody need know which they are (`docs/spec/stp.md`, section 6.4).

#[cfg(test)]
mod coded_tail_tests;

use alloc::boxed::Box;
use alloc::vec::Vec;

use skyhaul_core::Instant;

use super::cache::SendCache;
use super::loss::Loss;
use crate::coding::Encoder;
use crate::segment::{Block, MAX_BLOCK_BYTES, MAX_BLOCK_PACKETS, block_len};

/// Fewer packets than this are repeated as they are: the BLOCK alone would cost as much.
const MIN_PACKETS: u64 = 4;
/// A peer may want so many symbols more than packets are missing: after an attempt to decode that failed.
const FAILURES: u64 = 2;
/// Symbols for losses that no report tells of yet are at most this share of the packets sent for the first
/// time: the cap on short exchanges, where one loss among a few packets looks like a bad link.
const BLIND_PERCENT: u64 = 50;
/// A block has at most twice as many symbols as packets, and these. Then plain repeats take over.
const LAST_SYMBOLS: u64 = 16;
/// BLOCKs sent; if then a STAT shows that the peer has none, that ends the block, too.
const MAX_BLOCKS: u32 = 16;

/// A block under way.
#[derive(Clone, Debug)]
struct Live {
    block: Block,
    first: u64,
    /// One past its last packet.
    end: u64,
    encoder: Encoder,
    /// Order of the transmission of each symbol.
    orders: Vec<u64>,
    announced_at: Option<Instant>,
    /// BLOCKs sent.
    announced: u32,
    /// The peer has the BLOCK.
    is_known: bool,
}

impl Live {
    /// When the next BLOCK is due, until the peer has one.
    fn block_due(&self, gap_ns: u64) -> Option<Instant> {
        (!self.is_known && self.announced < MAX_BLOCKS)
            .then(|| self.announced_at.map_or(Instant::ZERO, |at| at.after(gap_ns)))
    }

    /// Symbols that may still be sent.
    fn symbols_left(&self) -> u64 {
        (2 * u64::from(self.block.packets()) + LAST_SYMBOLS).saturating_sub(self.orders.len() as u64)
    }
}

/// How far apart things leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaps {
    /// BLOCKs.
    pub(super) block_ns: u64,
    /// The first BLOCKs of different blocks.
    pub(super) begin_ns: u64,
}

/// Next segment of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The block of which the first packet is that number.
    Block(u64, Block),
    /// A symbol: block, number, bytes.
    Symbol(u8, u16, Vec<u8>),
}

/// Sizes, makes and counts the symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct CodedTail {
    live: Option<Box<Live>>,
    next_id: u8,
    began_at: Option<Instant>,
    /// Packets below this may be larger than what the path takes.
    oversize_to: u64,
    /// When that was found out.
    oversized_at: Instant,
    /// Packets below this had their block.
    tried_to: u64,
    /// Symbols to send for losses that are known.
    known_symbols: u64,
    /// Symbols to send for losses that are likely.
    likely_symbols: u64,
    /// Credit for those, in percent of a packet.
    credit_percent: u64,
    /// Nothing is to be done before the next report or packet.
    is_exhausted: bool,
}

impl CodedTail {
    /// Coded tail whose first block is `first_id`.
    pub(super) fn new(first_id: u8) -> Self {
        Self { next_id: first_id, ..Self::default() }
    }

    /// A new packet left.
    pub(super) fn on_new(&mut self) {
        let most = BLIND_PERCENT * u64::from(MAX_BLOCK_PACKETS);
        self.credit_percent = (self.credit_percent + BLIND_PERCENT).min(most);
        self.is_exhausted = false;
    }

    /// Packets [first, end) that symbols stand for: no need to send them again.
    pub(super) fn covered(&self) -> (u64, u64) {
        self.live.as_ref().map_or((0, 0), |live| (live.first, live.end))
    }

    /// True if symbols go before idle repeats, now or soon.
    pub(super) fn goes_first(&self, cache: &SendCache) -> bool {
        self.has_symbols() || self.may_begin(cache)
    }

    /// True if symbols of the block under way are to be sent.
    pub(super) fn has_symbols(&self) -> bool {
        self.known_symbols + self.likely_symbols > 0
    }

    /// Gives up the block under way, and makes none of the packets that were sent so far: symbols would be as
    /// large as these are, and the path takes less by now.
    pub(super) fn abandon(&mut self, cache: &SendCache, now: Instant) {
        self.end();
        (self.oversize_to, self.oversized_at) = (cache.next(), now);
    }

    /// When it was found out that the path takes less than this packet may be; `None`: it takes it.
    pub(super) fn oversized_since(&self, number: u64) -> Option<Instant> {
        self.is_oversized(number).then_some(self.oversized_at)
    }

    /// True if this packet was made when the path took larger ones than now.
    fn is_oversized(&self, number: u64) -> bool {
        number < self.oversize_to
    }

    fn may_begin(&self, cache: &SendCache) -> bool {
        self.live.is_none()
            && !self.is_oversized(cache.first())
            && cache.next() > self.tried_to
            && cache.unacknowledged() >= MIN_PACKETS
    }

    /// When something leaves or a block begins, if pacing agrees.
    pub(super) fn due(&self, cache: &SendCache, loss: Loss, gaps: Gaps) -> Option<Instant> {
        if let Some(live) = &self.live {
            let symbol = self.has_symbols().then_some(Instant::ZERO);
            return live.block_due(gaps.block_ns).into_iter().chain(symbol).min();
        }
        let may_begin = !self.is_exhausted && loss.is_seen() && self.may_begin(cache);
        may_begin.then(|| self.began_at.map_or(Instant::ZERO, |at| at.after(gaps.begin_ns)))
    }

    /// True if something leaves now, for a block under way or one that begins.
    pub(super) fn has_next(&self, cache: &SendCache, loss: Loss, room_bytes: usize) -> bool {
        if self.live.is_some() {
            return true;
        }
        let block = choose(cache, self.next_id, room_bytes);
        block.is_some_and(|(first, _)| self.first_symbols(cache, loss, first) != (0, 0))
    }

    /// Remembers that there is no reason to begin a block.
    pub(super) fn exhaust(&mut self) {
        self.is_exhausted = true;
    }

    /// Symbols, for known and for likely losses, of a block that begins with packet `first`.
    fn first_symbols(&self, cache: &SendCache, loss: Loss, first: u64) -> (u64, u64) {
        let (open, lost) = cache.open_and_queued((first, cache.next()));
        self.symbols(lost, open, 0, loss)
    }

    /// Begins a block if none is under way and there is reason to. `room_bytes`: most bytes of a BLOCK's
    /// body.
    pub(super) fn begin(&mut self, cache: &SendCache, loss: Loss, now: Instant, room_bytes: usize) {
        if self.live.is_some() {
            return;
        }
        let Some((first, block)) = choose(cache, self.next_id, room_bytes) else {
            return self.exhaust();
        };
        let end = cache.next();
        (self.known_symbols, self.likely_symbols) = self.first_symbols(cache, loss, first);
        if !self.has_symbols() {
            return self.exhaust();
        }
        let packets = block.members().filter_map(|distance| cache.entry(first + distance));
        let encoder = Encoder::new(packets.map(|entry| cache.payload(entry)), block.symbol_bytes());
        self.next_id = self.next_id.wrapping_add(1);
        self.began_at = Some(now);
        self.tried_to = end;
        self.live = Some(Box::new(Live {
            block,
            first,
            end,
            encoder,
            orders: Vec::new(),
            announced_at: None,
            announced: 0,
            is_known: false,
        }));
    }

    /// Next segment, which leaves now; `order` is the position among all transmissions.
    pub(super) fn next(&mut self, now: Instant, order: u64, gaps: Gaps) -> Option<Next> {
        let live = self.live.as_mut()?;
        if live.block_due(gaps.block_ns).is_some_and(|due| due <= now) {
            live.announced += 1;
            live.announced_at = Some(now);
            return Some(Next::Block(live.first, live.block.clone()));
        }
        if self.known_symbols > 0 {
            self.known_symbols -= 1;
        } else if self.likely_symbols > 0 {
            self.likely_symbols -= 1;
            self.credit_percent = self.credit_percent.saturating_sub(100);
        } else {
            return None;
        }
        let index = live.orders.len() as u16;
        live.orders.push(order);
        Some(Next::Symbol(live.block.id, index, live.encoder.symbol(index)))
    }

    /// A STAT came; it answers a POLL before which `order` transmissions were made. `wanting`: a block, and
    /// how many symbols the peer wants to decode it.
    pub(super) fn on_stat(&mut self, cache: &SendCache, loss: Loss, order: u64, wanting: Option<(u8, u32)>) {
        self.is_exhausted = false;
        self.settle(cache);
        let Some(live) = &mut self.live else { return };
        let wanting = wanting.filter(|&(id, _)| id == live.block.id).map(|(_, symbols)| u64::from(symbols));
        live.is_known |= wanting.is_some();
        let (open, lost) = cache.open_and_queued((live.first, live.end));
        // A peer that wants more symbols than packets are missing has forgotten some, or cannot decode.
        let is_useless = wanting.is_some_and(|wanting| wanting > open + lost + FAILURES);
        let is_unknown = !live.is_known && live.announced == MAX_BLOCKS;
        if is_useless || is_unknown || live.symbols_left() == 0 {
            return self.end();
        }
        let under_way = (live.orders.len() - live.orders.partition_point(|&sent| sent < order)) as u64;
        let (missing, open) = wanting.map_or((lost, open), |wanting| (wanting, 0));
        (self.known_symbols, self.likely_symbols) = self.symbols(missing, open, under_way, loss);
    }

    /// Ends a block whose packets are all acknowledged.
    pub(super) fn settle(&mut self, cache: &SendCache) {
        if self.live.as_ref().is_some_and(|live| cache.open_and_queued((live.first, live.end)) == (0, 0)) {
            self.end();
        }
    }

    fn end(&mut self) {
        self.live = None;
        (self.known_symbols, self.likely_symbols) = (0, 0);
    }

    /// Symbols for `missing` packets that are lost and for `open` ones that may be, less those under way:
    /// both counts.
    fn symbols(&self, missing: u64, open: u64, under_way: u64, loss: Loss) -> (u64, u64) {
        let left = self.live.as_ref().map_or(u64::MAX, |live| live.symbols_left());
        let known = loss.symbols(missing, 0, under_way);
        let all = loss.symbols(missing, open, under_way);
        let known_symbols = known.min(left);
        let likely = all.saturating_sub(known).min(self.credit_percent / 100).min(left - known_symbols);
        (known_symbols, likely)
    }
}

/// The newest unacknowledged packets, as many as a block may have and its BLOCK has room for.
fn choose(cache: &SendCache, id: u8, room_bytes: usize) -> Option<(u64, Block)> {
    let mut most = u64::from(MAX_BLOCK_PACKETS);
    loop {
        let members = cache.newest_unacknowledged(most, MAX_BLOCK_BYTES);
        if (members.len() as u64) < MIN_PACKETS {
            return None;
        }
        let block = describe(id, &members);
        if block_len(&block) <= room_bytes {
            return Some((members[0].0, block));
        }
        most = members.len() as u64 * 3 / 4;
    }
}

/// BLOCK of (number, bytes), rising and not empty.
fn describe(id: u8, members: &[(u64, u16)]) -> Block {
    let mut block = Block { id, ..Block::default() };
    for run in members.chunk_by(|a, b| b.0 == a.0 + 1) {
        if let Some(last) = block.runs.last().map(|_| run[0].0) {
            let at: u64 = members[0].0 + block.runs.iter().map(|&run| u64::from(run)).sum::<u64>();
            block.runs.push((last - at) as u32);
        }
        block.runs.push(run.len() as u32);
    }
    let sizes = members.chunk_by(|a, b| a.1 == b.1);
    block.sizes = sizes.map(|run| (run.len() as u32, run[0].1)).collect();
    block
}
