//! Segments that leave: a reset, a piece of our direction, a question, an acknowledgement. One place makes
//! them.

use alloc::vec::Vec;

use skyhaul_core::event::Repeat;
use skyhaul_core::{Class, Ecn, Event, NetworkFields, PathHeader, Sizing, Verdict};

use super::life::Reset;
use super::{Connection, Context, State};
use crate::call::Call;
use crate::scps::{Damage, RECORD, compress};
use crate::segment::{HEADER_BYTES, MAX_OPTIONS_BYTES, Options, Segment, encode, flags};
use crate::send::Chunk;
use crate::sequence::truncate;

/// Octets of the mark behind a record, in a header whose options end at a multiple of 4.
const RECORD_BYTES: usize = 4;

/// Segment to send: data [first, end) with these control bits. ECN's are added.
#[derive(Clone, Copy, Debug)]
struct Piece {
    first: u64,
    data_end: u64,
    bits: u8,
    repeat: Option<Repeat>,
    is_probe: bool,
    class: Class,
}

impl Piece {
    /// Segment without data.
    fn bare(number: u64, bits: u8) -> Self {
        let (first, data_end) = (number, number);
        Self { first, data_end, bits, repeat: None, is_probe: false, class: Class::Normal }
    }
}

impl Connection {
    pub(super) fn send_reset(
        &mut self,
        reset: Reset,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> NetworkFields {
        self.life.reset_left();
        let ack = if reset.acknowledges { flags::ACK } else { 0 };
        self.send_bare(reset.sequence, flags::RST | ack, context, out)
    }

    /// Sends an acknowledgement with a number that was acknowledged, which every peer answers.
    pub(super) fn send_question(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> NetworkFields {
        self.silence.asked();
        self.sender.on_link_asked(&mut Call::new(self.id, &mut self.stats, context));
        self.send_bare(self.sender.una() - 1, flags::ACK, context, out)
    }

    /// Sends a segment without data.
    pub(super) fn send_bare(
        &mut self,
        number: u64,
        bits: u8,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> NetworkFields {
        let options = self.options(bits, 0, context);
        self.push(Piece::bare(number, bits), options, context, out)
    }

    /// Answers data of low class in that class.
    pub(super) fn send_low_answer(&mut self, context: &mut Context<'_>, out: &mut Vec<u8>) -> NetworkFields {
        self.receiver.nil_answered();
        let piece = Piece { class: Class::Low, ..Piece::bare(self.sender.max(), flags::ACK) };
        let options = self.options(piece.bits, 0, context);
        self.push(piece, options, context, out)
    }

    pub(super) fn send_chunk(
        &mut self,
        chunk: Chunk,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> NetworkFields {
        let is_syn = chunk.first == self.sender.initial();
        let mut bits = if is_syn { flags::SYN | self.ecn_setup() } else { 0 };
        let is_first = self.life.state() == State::SynSent;
        let has_ack = if is_syn { !is_first } else { !self.goes_without_ack(&chunk) };
        if has_ack {
            bits |= flags::ACK;
        }
        let (chunk, ends_record) =
            if self.sender.tells_records() { self.sender.cut_to_record(chunk) } else { (chunk, false) };
        let mut options = self.options(bits, if ends_record { RECORD_BYTES } else { 0 }, context);
        let chunk = if ends_record {
            self.fit_marked(chunk, bits, &mut options)
        } else {
            self.fit(chunk, bits, &options)
        };
        let data_end = self.sender.data_end();
        if chunk.end > data_end {
            bits |= flags::FIN;
        }
        if chunk.end >= data_end && chunk.first + u64::from(is_syn) < data_end {
            bits |= flags::PSH;
        }
        let Chunk { first, end, repeat, is_probe, is_nil, .. } = chunk;
        let class = if is_nil { Class::Low } else { Class::Normal };
        let piece = Piece { first, data_end: end.min(data_end), bits, repeat, is_probe, class };
        if is_syn && !has_ack {
            self.stats.opening_sent_bytes += piece.data_end.saturating_sub(first + 1);
        }
        let fields = self.push(piece, options, context, out);
        self.sender.on_sent(chunk, &mut Call::new(self.id, &mut self.stats, context));
        if bits & flags::FIN != 0 {
            self.life.on_fin_sent();
        }
        if is_syn && has_ack && self.sender.agreed().tells_window_late(&self.config) {
            self.receiver.acknowledge_now(); // right behind: its window is told as it is
        }
        fields
    }

    /// Makes room as [`Self::fit`] does where a record ends: the mark of that goes along, or the last octets
    /// go with the next segment.
    #[cold]
    fn fit_marked(&self, chunk: Chunk, bits: u8, options: &mut Options) -> Chunk {
        let mut marked = *options;
        let is_marked = marked.extra.push(RECORD, &[]);
        debug_assert!(is_marked, "no room for a mark that was left room for");
        let fitted = self.fit(chunk, bits, &marked);
        if fitted.end == chunk.end {
            *options = marked;
        }
        fitted
    }

    /// Makes room for what a header has beside what all data has: SACK blocks, an acknowledgement in a
    /// compressed one, one that goes uncompressed; and for a header that tells of grants, where one that asks
    /// has its room already.
    fn fit(&self, chunk: Chunk, bits: u8, options: &Options) -> Chunk {
        let agreed = self.sender.agreed();
        let header_bytes = match agreed.peer_number() {
            None => HEADER_BYTES + options.encoded_len(),
            Some(_) => self.header_bytes(&chunk, bits, options),
        };
        let others = header_bytes.saturating_sub(agreed.data_header_bytes()) as u64;
        let tells_alone = self.grants.are_expected() && !self.sender.asks();
        let told_bytes = if tells_alone { self.config.explicit.header_bytes.into() } else { 0 };
        let full_bytes = chunk.tried_bytes.map_or(self.sender.mss_bytes(), |_| chunk.end - chunk.first);
        // A SYN takes a number, and no room.
        let syn = u64::from(chunk.first == self.sender.initial());
        let max_bytes = full_bytes.saturating_sub(others + told_bytes).max(1) + syn;
        chunk.cut(max_bytes, self.sender.data_end())
    }

    /// Options of the next segment, which leaves, so that `left_bytes` more have room.
    fn options(&mut self, bits: u8, left_bytes: usize, context: &Context<'_>) -> Options {
        if bits & flags::SYN != 0 {
            return self.opening_options(context.path, context.now);
        }
        let timestamps = self.sender.agreed().timestamps.then(|| self.timestamps(context.now));
        if bits & flags::ACK == 0 {
            return Options { timestamps, ..Options::default() }; // the others belong to an acknowledgement
        }
        let others = self.sender.agreed().option_bytes() + left_bytes;
        let max_blocks = (MAX_OPTIONS_BYTES - others).saturating_sub(4) / 8;
        let rtt_ns = self.sender.agreed().scps.and_then(|_| self.round_trip_ns());
        let mut extra = self.receiver.scps_options(MAX_OPTIONS_BYTES - others, rtt_ns, context.now);
        self.push_count(&mut extra);
        Options { timestamps, sack: self.receiver.sack(max_blocks), extra, ..Options::default() }
    }

    /// Appends the segment with its data and everything that each one carries.
    fn push(
        &mut self,
        piece: Piece,
        options: Options,
        context: &mut Context<'_>,
        out: &mut Vec<u8>,
    ) -> NetworkFields {
        let Piece { first, data_end, bits, repeat, is_probe, class } = piece;
        let is_syn = bits & flags::SYN != 0;
        let (acknowledgement, window) = self.acknowledge(bits, is_syn, class);
        let data_first = first + u64::from(is_syn);
        let has_data = data_first < data_end;
        let (bits, ecn) = self.ecn_bits(bits, has_data && repeat.is_none() && !is_probe);
        let nothing = ((&[][..], &[][..]), None);
        let (payload, described) = if has_data { self.sender.payload(data_first, data_end) } else { nothing };
        let segment = Segment {
            source_port: self.names.local_port,
            destination_port: self.names.remote_port,
            sequence: truncate(first),
            acknowledgement,
            flags: bits,
            window,
            urgent: 0,
            options,
            payload,
            described,
            compression: None,
        };
        let payload_bytes = segment.payload_bytes() as u32;
        let is_question = !has_data && first != self.sender.max();
        let tells_corruption = self.sender.agreed().scps.is_some() && Damage::is_told(&segment.options.extra);
        let compressing = self.compressing(bits, &segment.options, is_probe || is_question);
        let (header_bytes, protocol) = match compressing {
            None => (encode(self.names.peer, &segment, out), 0),
            Some(number) => {
                let bytes = compress::compress(self.names.peer, number.get(), &segment, false, out);
                (bytes, compress::PROTOCOL)
            }
        };
        let number = u64::from(segment.sequence);
        let (mut bytes, mut uncounted_bytes) = (header_bytes + payload_bytes as usize, 0);
        let mut fields = NetworkFields::from(ecn);
        if self.sender.asks() || self.grants.are_expected() || self.config.explicit.tells_sizes() {
            self.put_path_header(has_data && !is_probe, bits, &mut fields.path_header);
            let counts_whole = || has_data || bits & (flags::SYN | flags::RST) != 0;
            uncounted_bytes = self.config.explicit.uncounted_bytes(header_bytes, counts_whole);
            bytes += fields.path_header.map_or(0, |header| usize::from(header.wire_bytes));
            bytes -= usize::from(uncounted_bytes);
        }
        let wire_bytes = context.path.wire_bytes(bytes);
        self.count_sent(wire_bytes, payload_bytes, repeat);
        if !has_data {
            let marks = flags::ECE | flags::CWR;
            if bits & !marks == flags::ACK && !is_question && self.receiver.has_acknowledged() {
                self.stats.data_ack_bytes += u64::from(wire_bytes);
            }
            let policy = self.config.ack_policy(self.sender.agreed().scps.is_some());
            self.receiver.space(policy, wire_bytes, context.now);
        }
        let mut call = Call::new(self.id, &mut self.stats, context);
        self.sender.charge(wire_bytes, has_data && !is_probe, &mut call);
        if tells_corruption {
            call.emit(Event::CorruptionTold);
        }
        call.emit(Event::Sent { types: bits, number, payload_bytes, wire_bytes, repeat });
        // A described payload is no longer than a segment may be.
        let described = described.map(|all| Sizing::described(all.length as u16));
        let sizing = described.unwrap_or(Sizing::without(uncounted_bytes));
        (fields.protocol, fields.class, fields.sizing) = (protocol, class, sizing);
        fields
    }

    /// Puts the header of a segment, where this end asks routers for a rate, or tells the peer of its own,
    /// into its place. Apart: a segment that has none is not to pay for it.
    #[cold]
    #[inline(never)]
    fn put_path_header(&mut self, has_data: bool, bits: u8, place: &mut Option<PathHeader>) {
        if bits & (flags::SYN | flags::RST) != 0 {
            return;
        }
        let asked = if has_data { self.sender.ask() } else { None };
        *place = self.grants.tell(asked, self.config.explicit);
    }

    /// Acknowledgement and window fields; what was owed is paid.
    fn acknowledge(&mut self, bits: u8, is_syn: bool, class: Class) -> (u32, u16) {
        if bits & flags::ACK != 0 {
            return self.receiver.acknowledge(is_syn, class, self.sender.mss_bytes());
        }
        (0, self.config.receive_limit_bytes.min(0xFFFF) as u16)
    }

    /// Bits of a segment, and its field of the IP header. New data alone is marked as capable: repeats,
    /// probes and bare acknowledgements are not [RFC 3168 6.1.4 to 6.1.6].
    fn ecn_bits(&mut self, bits: u8, is_new_data: bool) -> (u8, Ecn) {
        if !self.sender.agreed().ecn || bits & (flags::SYN | flags::RST) != 0 {
            return (bits, Ecn::NotEct);
        }
        let bits = bits | self.mark_bits(is_new_data);
        if !is_new_data {
            return (bits, Ecn::NotEct);
        }
        self.sender.tell_reduced();
        (bits, Ecn::Ect0)
    }

    /// Bits that tell the peer of marks, and with new data that a window was reduced.
    pub(super) fn mark_bits(&self, is_new_data: bool) -> u8 {
        let reduced = if is_new_data && self.sender.is_reduced() { flags::CWR } else { 0 };
        self.receiver.mark_bits() | reduced
    }

    fn count_sent(&mut self, wire_bytes: u32, payload_bytes: u32, repeat: Option<Repeat>) {
        self.stats.sent_packets += 1;
        self.stats.sent_bytes += u64::from(wire_bytes);
        if payload_bytes > 0 && repeat.is_some() {
            self.stats.retransmitted_packets += 1;
            match repeat {
                // A NIL goes whether anything was lost or not.
                Some(Repeat::LowPriority) => {}
                // No queue and no damage took it: its size alone.
                Some(Repeat::TooBig) => self.stats.count_lost(Verdict::Unknown, 1),
                _ => self.stats.count_lost(self.sender.verdict(), 1),
            }
            self.stats.retransmitted_bytes += u64::from(wire_bytes);
        } else if payload_bytes > 0 {
            self.stats.data_packets += 1;
        } else {
            self.stats.control_bytes += u64::from(wire_bytes);
        }
    }
}
