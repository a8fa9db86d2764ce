//! Receiver of a connection: the packets that arrive become a stream for the application and reports for the
//! peer [XSTP 3]. It exists from the moment when the peer's opening is known.

use alloc::vec::Vec;

use skyhaul_core::endpoint::Room;
use skyhaul_core::event::Refusal;
use skyhaul_core::{Instant, NUMBER_MODULUS, PathHeader, Stats, expand, truncate_number};

use super::replies::Asked;
use super::reporter::{Reporter, report};
use super::{Assembly, Frontier, GapDetector, Pieces, Repairs, Reply, ReplySize};
use crate::config::Config;
use crate::segment::{Block, GapList, Opening, Piece, Poll, Report, Segment, repair_of};

/// Outcome of a packet that arrived, or was decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketArrival {
    /// Reason for which the packet was not taken.
    pub(crate) refusal: Option<Refusal>,
    /// True if the application can read more than before.
    pub(crate) is_readable: bool,
    /// Gaps [first, end) that are told of now.
    pub(crate) gaps: [Option<(u64, u64)>; 2],
}

/// Moment and place at which a POLL arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PollArrival {
    pub(crate) now: Instant,
    /// Octets of segments received until then, its own included.
    pub(crate) octets: u64,
    /// Largest segment that the answer may be.
    pub(crate) max_segment_bytes: usize,
}

/// Receiving half of a connection. Its memory is bounded by the assembly's limit, a block and its symbols,
/// and what packets in pieces may take.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// Initial number of the peer.
    initial: u64,
    assembly: Assembly,
    gaps: GapDetector,
    /// Packets in pieces; `None` if our opening does not say that we take any.
    pieces: Option<Pieces>,
    /// Repair symbols; `None` if one of the two ends has no use for them.
    repairs: Option<Repairs>,
    reporter: Reporter,
    frontier: Frontier,
    /// True while nothing is delivered: the peer's address is not proven, and old openings were forgotten.
    withholds: bool,
}

impl Receiver {
    /// Receiver of what the sender of `opening` sends. `codes`: both ends send and take repair symbols.
    pub(crate) fn new(opening: &Opening, config: &Config, codes: bool) -> Self {
        let initial = NUMBER_MODULUS + u64::from(opening.initial);
        Self {
            initial,
            assembly: Assembly::new(initial, config.receive_limit_bytes),
            gaps: GapDetector::new(initial, config.ustat_threshold),
            pieces: config.discover_mtu.then(Pieces::default),
            repairs: codes.then(Repairs::default),
            reporter: Reporter::new(initial, opening, config),
            frontier: Frontier::new(initial),
            withholds: false,
        }
    }

    /// Initial number of the peer (24 bits).
    pub(crate) fn initial24(&self) -> u32 {
        truncate_number(self.initial)
    }

    /// Holds back what arrives until [`Self::deliver`].
    pub(crate) fn withhold(&mut self) {
        self.withholds = true;
    }

    /// Delivers from now on. Result: true if something was withheld before.
    pub(crate) fn deliver(&mut self) -> bool {
        core::mem::take(&mut self.withholds)
    }

    /// Answers the peer's opening, once more perhaps.
    pub(crate) fn accept(&mut self) {
        self.reporter.accept();
    }

    /// A path header arrived with data.
    pub(crate) fn take_header(&mut self, header: &PathHeader) {
        self.reporter.take_header(header);
    }

    /// Bytes accepted from the next expected packet on.
    pub(crate) fn window_bytes(&self) -> u64 {
        self.assembly.window_bytes()
    }

    /// Number of the next expected packet (24 bits).
    pub(crate) fn next(&self) -> u32 {
        truncate_number(self.assembly.next())
    }

    /// True if this is the number of the peer's next new packet (24 bits), as far as that can be known: a
    /// few of those before it may have been lost.
    pub(crate) fn is_next_new(&self, number24: u32) -> bool {
        let known = self.frontier.known(&self.assembly);
        let number = expand(number24, known);
        number >= known && self.frontier.reaches(number, &self.assembly)
    }

    /// True if the segment tells of no number that is far beyond the known ones: after long losses the peer's
    /// are, and those of whoever guesses.
    pub(crate) fn reaches(&self, segment: &Segment<'_>) -> bool {
        let next = self.assembly.next();
        let mut numbers = segment.told_numbers().map(|number24| expand(number24, next));
        numbers.all(|number| self.frontier.reaches(number, &self.assembly))
    }

    /// True if the peer has said where its stream ends.
    pub(crate) fn has_end(&self) -> bool {
        self.assembly.has_end()
    }

    /// True if the peer has ended, and everything before the end is in sequence.
    pub(crate) fn is_complete(&self) -> bool {
        self.assembly.is_complete()
    }

    /// True if the peer most likely has a STAT of ours.
    pub(crate) fn polled_again(&self) -> bool {
        self.reporter.polled_again()
    }

    /// Writes the counters.
    pub(crate) fn count(&self, stats: &mut Stats) {
        stats.delivered_bytes = self.assembly.delivered_bytes();
        self.reporter.count(stats);
    }

    /// Bytes kept: packets, pieces of some, and what repairs others.
    #[inline]
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.assembly.kept_bytes() + self.kept_aside_bytes()
    }

    fn kept_aside_bytes(&self) -> u64 {
        self.pieces.as_ref().map_or(0, Pieces::held_bytes)
            + self.repairs.as_ref().map_or(0, Repairs::kept_bytes)
    }

    /// Gives memory back that grew with use, if nothing waits to be read: what was read is kept no longer.
    pub(crate) fn give_back(&mut self) {
        self.assembly.give_back();
    }

    /// Drops what is not in sequence: nothing comes any more.
    pub(crate) fn forget_unreadable(&mut self) {
        self.assembly.forget_unreadable();
        self.pieces = None;
        self.repairs = None;
    }

    /// Sets what may be kept. What would be more is outside of the window.
    #[inline]
    pub(crate) fn set_room(&mut self, room: Room) {
        let bytes = room.bytes.saturating_sub(self.kept_aside_bytes());
        self.assembly.set_room(Room { bytes, ..room });
    }

    /// Invariants, checked in debug builds.
    pub(crate) fn check_invariants(&self) {
        self.assembly.check_invariants();
        self.pieces.iter().for_each(Pieces::check_invariants);
        self.reporter.check_invariants();
    }

    /// Reads into `out`: `Some(0)` at the end of the stream, `None` when nothing is there.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Option<usize> {
        if self.withholds {
            return None;
        }
        if self.assembly.readable_bytes() == 0 {
            return self.is_complete().then_some(0);
        }
        let read = self.assembly.read(out);
        self.reporter.offer_window(&self.assembly);
        Some(read)
    }

    /// SD with the number `number24` on the wire. Result: what became of it.
    pub(crate) fn on_data(&mut self, number24: u32, data: &[u8]) -> PacketArrival {
        self.on_packet(expand(number24, self.assembly.next()), data)
    }

    /// PIECE of the packet with the number `number24` on the wire. Result: what became of the packet; `None`:
    /// further pieces of it are missing.
    pub(crate) fn on_piece(&mut self, number24: u32, piece: &Piece<'_>) -> Option<PacketArrival> {
        let number = expand(number24, self.assembly.next());
        let refused = |why| Some(PacketArrival { refusal: Some(why), ..PacketArrival::default() });
        let Some(pieces) = &mut self.pieces else { return refused(Refusal::Unknown) };
        if let Some(why) = self.assembly.verdict(number, usize::from(piece.total)).refusal() {
            return refused(why);
        }
        let data = pieces.put(number, piece)?;
        Some(self.on_packet(number, &data))
    }

    fn on_packet(&mut self, number: u64, data: &[u8]) -> PacketArrival {
        let arrival = self.take(number, data);
        if let (None, Some(repairs)) = (arrival.refusal, &mut self.repairs) {
            repairs.on_packet(number, data);
        }
        arrival
    }

    fn take(&mut self, number: u64, data: &[u8]) -> PacketArrival {
        let before = self.assembly.delivered_bytes();
        let refusal = self.assembly.insert(number, data).refusal();
        if refusal.is_some() {
            return PacketArrival { refusal, ..PacketArrival::default() };
        }
        if let Some(pieces) = &mut self.pieces {
            pieces.forget(number);
        }
        let is_readable = self.assembly.delivered_bytes() > before && !self.withholds;
        let gaps = self.gaps.on_packet(number);
        let gaps = gaps.map(|gap| gap.filter(|&gap| self.reporter.tell_gap(&self.assembly, gap)));
        PacketArrival { refusal, is_readable, gaps }
    }

    /// Report that nothing is missing.
    pub(crate) fn last_report(&self) -> Report {
        report(&self.assembly, GapList::default())
    }

    /// BLOCK whose first packet has the number `number24` on the wire.
    pub(crate) fn on_block(&mut self, number24: u32, block: &Block) -> Result<(), Refusal> {
        let repairs = self.repairs.as_mut().ok_or(Refusal::Unknown)?;
        let first = expand(number24, self.assembly.next());
        if !self.assembly.is_plausible(first + block.members().last().unwrap_or(0)) {
            return Err(Refusal::Absurd);
        }
        // Copies of its packets, as many symbols, and while decoding once more.
        if block.bytes() > self.assembly.limit_bytes() || 3 * block.bytes() > self.assembly.free_bytes() {
            repairs.refuse(block.id);
            return Err(Refusal::OutsideWindow);
        }
        repairs.on_block(first, block, &self.assembly);
        Ok(())
    }

    /// REPAIR: a symbol, and the packet number field of its segment.
    pub(crate) fn on_repair(&mut self, number: u32, symbol: &[u8]) -> Result<(), Refusal> {
        let repairs = self.repairs.as_mut().ok_or(Refusal::Unknown)?;
        let (block, index) = repair_of(number);
        if symbol.len() as u64 > self.assembly.free_bytes() {
            return Err(Refusal::OutsideWindow);
        }
        repairs.on_symbol(block, index, symbol);
        Ok(())
    }

    /// BLOCK or REPAIR of a block, made up perhaps by somebody who guesses.
    pub(crate) fn doubt_block(&mut self, id: u8) -> Result<(), Refusal> {
        self.repairs.as_mut().ok_or(Refusal::Unknown)?.doubt(id);
        Err(Refusal::OutsideWindow)
    }

    /// Takes the packets that can be decoded now as if they had arrived. Result: what became of each.
    pub(crate) fn recover(&mut self) -> Vec<PacketArrival> {
        let decoded = self.repairs.as_mut().map(Repairs::decode).unwrap_or_default();
        decoded.into_iter().map(|(number, data)| self.take(number, &data)).collect()
    }

    /// POLL: queues a STAT. Only newer POLLs are answered [XSTP 3]. One in doubt changes nothing else: if it
    /// is forged, the true ones would pass for old, and packets would be taken that are not sent yet.
    pub(crate) fn on_poll(
        &mut self,
        poll: &Poll,
        is_in_doubt: bool,
        arrival: &PollArrival,
    ) -> Result<(), Refusal> {
        if !self.frontier.is_newer(poll) {
            return Ok(());
        }
        let next = expand(poll.next, self.assembly.next());
        if !self.assembly.is_plausible(next) || self.frontier.is_behind(next) {
            return Err(Refusal::Absurd);
        }
        if !is_in_doubt {
            self.note_poll(poll, next);
        }
        let settled = poll.settled.map(|settled| expand(settled, next));
        let (echo, is_probe) = (poll.timestamp, poll.pads);
        let window_bytes = self.assembly.window_bytes();
        let asked =
            Asked { echo, covers: next, settled, is_probe, is_in_doubt, arrival: *arrival, window_bytes };
        self.reporter.ask(asked);
        Ok(())
    }

    fn note_poll(&mut self, poll: &Poll, next: u64) {
        self.frontier.note_poll(poll, next);
        self.gaps.on_stat(next);
        self.reporter.note_poll(poll);
    }

    /// Makes the STAT that leaves next, or the next part of one, if its time has come.
    pub(crate) fn make_stat(&mut self, now: Instant) {
        let Some(pending) = self.reporter.to_make(now) else { return };
        let wanting = self.repairs.as_ref().and_then(Repairs::wanting);
        let is_missing = self.reporter.make(pending, &self.assembly, wanting, now);
        if self.repairs.is_some() && pending.from.is_none() {
            self.assembly.keep_after_stat(is_missing);
        }
    }

    /// END: one past the peer's last packet (24 bits). Result: true if the stream is complete.
    pub(crate) fn on_end(&mut self, end24: u32) -> Result<bool, Refusal> {
        let end = expand(end24, self.assembly.next());
        if self.frontier.is_behind(end) || !self.assembly.set_end(end) {
            return Err(Refusal::Absurd);
        }
        self.reporter.confirm_end();
        Ok(self.is_complete())
    }

    /// Size of the next reply that may leave; `None`: none. A STAT has its size once it is made.
    pub(crate) fn next_reply(&self, now: Instant) -> Option<ReplySize> {
        self.reporter.next_reply(now)
    }

    /// When a STAT leaves that waits because too many did.
    pub(crate) fn stat_at(&self, now: Instant) -> Option<Instant> {
        self.reporter.stat_at(now)
    }

    /// Reply for the segment that leaves now.
    pub(crate) fn take_reply(&mut self) -> Reply {
        self.reporter.take_reply()
    }
}
