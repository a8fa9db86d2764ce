//! Repair symbols at the receiver: one block at a time. When packets and symbols suffice, the packets that
//! are missing come out as if they had arrived (`docs/spec/stp.md`, section 6.4).

#[cfg(test)]
mod repairs_tests;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Assembly;
use crate::coding;
use crate::segment::{Block, MAX_BLOCK_PACKETS};

/// Symbols kept of a block that nothing is known of yet: its BLOCK may be late or lost.
const MAX_EARLY_SYMBOLS: usize = 128;
/// Symbols kept beyond those that are missing.
const SPARE_SYMBOLS: usize = 16;
/// To take up a block costs one credit for each of its packets, and so does each attempt to decode it; each
/// packet that arrives gives so many. So nobody can have us copy and compute for ever with blocks of the same
/// packets.
const CREDITS_PER_PACKET: u32 = 4;
/// Credits at first: for small blocks of a connection that has just begun.
const FIRST_CREDITS: u32 = 64;
/// Credits at most: an attempt at the largest block, four times.
const MAX_CREDITS: u32 = 4 * MAX_BLOCK_PACKETS;
/// Wish for so many symbols: the block will never be decoded here.
const HOPELESS: u32 = u16::MAX as u32;

/// A block whose packets are known.
#[derive(Clone, Debug)]
struct KnownBlock {
    numbers: Vec<u64>,
    sizes: Vec<u16>,
    symbol_bytes: u16,
    packets: Vec<Option<Box<[u8]>>>,
    missing: usize,
    /// Symbols wanted beyond those, after attempts that failed.
    extra: usize,
}

/// The symbols of the newest block. Holds at most the block twice: packets that are there, symbols for
/// others.
#[derive(Clone, Debug)]
pub(crate) struct Repairs {
    id: Option<u8>,
    known: Option<KnownBlock>,
    /// The block is complete, or refused: what comes for it is of no use.
    is_done: bool,
    /// Block that is never decoded here.
    refused: Option<u8>,
    symbols: BTreeMap<u16, Box<[u8]>>,
    /// Size of the largest symbol of the block.
    largest_symbol_bytes: usize,
    credits: u32,
}

impl Default for Repairs {
    fn default() -> Self {
        Self {
            id: None,
            known: None,
            is_done: false,
            refused: None,
            symbols: BTreeMap::new(),
            largest_symbol_bytes: 0,
            credits: FIRST_CREDITS,
        }
    }
}

impl Repairs {
    /// Bytes kept at most: the packets of the block, those that are missing too, and symbols.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let packets =
            self.known.as_ref().map_or(0, |known| known.packets.len() * usize::from(known.symbol_bytes));
        (packets + self.symbols.len() * self.largest_symbol_bytes) as u64
    }

    /// Makes `id` the newest block; false if it is an older one.
    fn turn_to(&mut self, id: u8) -> bool {
        match self.id {
            Some(known) if known == id => true,
            Some(known) if id.wrapping_sub(known) >= 1 << 7 => false,
            _ => {
                *self = Self { id: Some(id), credits: self.credits, ..Self::default() };
                true
            }
        }
    }

    /// A BLOCK whose first packet is number `first`.
    pub(crate) fn on_block(&mut self, first: u64, block: &Block, assembly: &Assembly) {
        if !self.turn_to(block.id) || self.known.is_some() || self.is_done {
            return;
        }
        if !self.pay(block.packets()) {
            self.give_up();
            return;
        }
        let known = KnownBlock::new(first, block, assembly);
        self.symbols.retain(|_, symbol| symbol.len() == usize::from(known.symbol_bytes));
        while self.symbols.len() > known.missing + SPARE_SYMBOLS {
            self.symbols.pop_last();
        }
        self.known = Some(known);
        self.check_done();
    }

    /// A block that is too large for this end: its peer is told not to bother.
    pub(crate) fn refuse(&mut self, id: u8) {
        if self.turn_to(id) && self.known.is_none() && !self.is_done {
            self.give_up();
        }
    }

    /// Something of block `id` that somebody who guesses may have made up: with it the symbols of all blocks
    /// are forgotten, and the peer is told not to bother.
    pub(crate) fn doubt(&mut self, id: u8) {
        *self = Self { refused: Some(id), credits: self.credits, ..Self::default() };
    }

    fn pay(&mut self, packets: u32) -> bool {
        let left = self.credits.checked_sub(packets);
        self.credits = left.unwrap_or(self.credits);
        left.is_some()
    }

    /// A REPAIR.
    pub(crate) fn on_symbol(&mut self, id: u8, index: u16, symbol: &[u8]) {
        if !self.turn_to(id) || self.is_done {
            return;
        }
        let (fits, most) = match &self.known {
            Some(known) => (symbol.len() == usize::from(known.symbol_bytes), known.missing + SPARE_SYMBOLS),
            None => (true, MAX_EARLY_SYMBOLS),
        };
        if fits && self.symbols.len() < most {
            self.largest_symbol_bytes = self.largest_symbol_bytes.max(symbol.len());
            self.symbols.entry(index).or_insert_with(|| symbol.into());
        }
    }

    /// A packet arrived that was not there.
    pub(crate) fn on_packet(&mut self, number: u64, data: &[u8]) {
        self.credits = (self.credits + CREDITS_PER_PACKET).min(MAX_CREDITS);
        if let Some(known) = &mut self.known {
            known.take(number, data);
            self.check_done();
        }
    }

    /// Wish that a STAT tells: the block, and how many symbols are wanted to decode it. Nothing once it is
    /// complete.
    pub(crate) fn wanting(&self) -> Option<(u8, u32)> {
        if let Some(id) = self.refused {
            return Some((id, HOPELESS));
        }
        let known = self.known.as_ref()?;
        Some((self.id?, (known.missing + known.extra).saturating_sub(self.symbols.len()) as u32))
    }

    /// The packets that were missing, if they can be decoded now.
    pub(crate) fn decode(&mut self) -> Vec<(u64, Vec<u8>)> {
        let Some(mut known) = self.known.take_if(|known| self.symbols.len() >= known.missing + known.extra)
        else {
            return Vec::new();
        };
        if !self.pay(known.numbers.len() as u32) {
            self.give_up();
            return Vec::new();
        }
        let symbols = self.symbols.iter().map(|(&index, symbol)| (index, &symbol[..]));
        if let Some(block) = coding::decode(&known.packets, symbols, known.symbol_bytes) {
            self.finish();
            return known.recovered(&block);
        }
        known.extra = self.symbols.len() - known.missing + 1;
        self.known = Some(known);
        Vec::new()
    }

    fn give_up(&mut self) {
        self.finish();
        self.refused = self.id;
    }

    fn check_done(&mut self) {
        if self.known.as_ref().is_some_and(|known| known.missing == 0) {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.known = None;
        self.symbols = BTreeMap::new();
        self.is_done = true;
    }
}

impl KnownBlock {
    fn new(first: u64, block: &Block, assembly: &Assembly) -> Self {
        let numbers: Vec<u64> = block.members().map(|distance| first + distance).collect();
        let sizes: Vec<u16> = block.member_bytes().collect();
        let mut packets = assembly.copies(&numbers);
        for (packet, &size) in packets.iter_mut().zip(&sizes) {
            packet.take_if(|packet| packet.len() != usize::from(size)); // a lie: not of this block
        }
        let missing = packets.iter().filter(|packet| packet.is_none()).count();
        Self { numbers, sizes, symbol_bytes: block.symbol_bytes(), packets, missing, extra: 0 }
    }

    fn take(&mut self, number: u64, data: &[u8]) {
        let Ok(at) = self.numbers.binary_search(&number) else { return };
        if self.packets[at].is_none() && data.len() == usize::from(self.sizes[at]) {
            self.packets[at] = Some(data.into());
            self.missing -= 1;
        }
    }

    fn recovered(&self, block: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let symbols = block.chunks(usize::from(self.symbol_bytes));
        let all = self.numbers.iter().zip(&self.sizes).zip(symbols).zip(&self.packets);
        let missing = all.filter(|(_, packet)| packet.is_none());
        missing
            .map(|(((&number, &size), symbol), _)| (number, symbol[..usize::from(size)].to_vec()))
            .collect()
    }
}
