//! Sender of a connection: what the application wrote, what was sent of it, what must go again, and when a
//! POLL asks.

mod arrivals;
mod asking;
mod cache;
#[cfg(test)]
mod cache_tests;
mod choice;
mod coded;
mod coded_tail;
mod count;
mod declared;
mod following;
mod limiting;
mod loss;
mod missing;
mod mtu_probe;
mod pieces;
mod plan;
mod poll_history;
mod polling;
mod regulator;
mod reordering;
mod reported_gaps;
mod reports;
mod tail_repeat;
mod traffic;
mod withheld;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ops::RangeInclusive;

use skyhaul_core::{
    Instant, NUMBER_MODULUS, Path, RttEstimator, SECOND, Stats, StreamError, truncate_number,
};

use crate::config::Config;
use crate::probing::QueueEvidence;
use crate::segment::{HEADER_BYTES, OPENING_BYTES, Opening, Options};
use asking::Asking;
use cache::SendCache;
use coded_tail::CodedTail;
use following::Following;
use limiting::LostOfLate;
use pieces::Pieces;
use poll_history::PollHistory;
use polling::PollPolicy;
use regulator::Regulator;
use reordering::Reordering;
use reported_gaps::ReportedGaps;
use tail_repeat::TailRepeat;
use traffic::Traffic;
use withheld::Withholding;

pub(crate) use missing::Missing;
pub(crate) use plan::{Plan, SenderAction, Situation};
pub(crate) use poll_history::{PollRecord, SentUntil};
pub(crate) use reports::Answer;

/// Least bound of what waits to be sent for the first time: a driver's turn or two at rates that are not
/// known.
const MIN_UNSENT_LIMIT_BYTES: u64 = 128 << 10;

/// Greatest bound of what waits to be sent for the first time: what was written is in the processor's caches
/// still when it leaves.
const MAX_UNSENT_LIMIT_BYTES: u64 = 2 << 20;

/// Least largest payload of a peer that is heeded, in bytes: no packet is cut smaller, or a peer could have
/// as many of them as it likes. Every endpoint takes it: the smallest IP packet that one may be set to has
/// 296 octets.
const MIN_PEER_PAYLOAD_BYTES: usize = 128;

/// Random values that a new connection needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entropy {
    pub(crate) initial: u32,
    pub(crate) timestamp_offset: u32,
    /// What the timestamps of POLLs are drawn from.
    pub(crate) secret: u64,
    /// Timestamp of a POLL before the first, if the peer has one.
    pub(crate) last_timestamp: Option<u32>,
}

impl Entropy {
    /// Values of a connection whose peer has our initial number and a POLL already.
    pub(crate) fn after(self, now: Instant, initial: u32, timestamp: u32) -> Self {
        let timestamp_offset = PollHistory::offset_at(now, timestamp);
        Self { initial, timestamp_offset, last_timestamp: Some(timestamp), ..self }
    }
}

/// Terms of the peer's opening, and its window as last told.
#[derive(Clone, Copy, Debug)]
struct PeerTerms {
    window_bytes: u64,
    /// Largest window that it has told.
    widest_window_bytes: u64,
    max_payload_bytes: usize,
    /// True if both ends send and take repair symbols.
    both_code: bool,
    /// True if the peer knows POLLs that spare STATs what they have told before.
    takes_increments: bool,
    /// True if the peer takes packets in pieces.
    takes_pieces: bool,
    /// True if the peer wants to be told of the feedback that arrives with its data.
    wants_feedback: bool,
}

/// Numbers and moments of data transmissions.
#[derive(Clone, Copy, Debug)]
struct Activity {
    /// Data transmissions so far.
    order: u64,
    /// The last one was a packet that had been judged lost.
    was_repair: bool,
    lost: LostOfLate,
    first_data_at: Option<Instant>,
    last_data_at: Instant,
    /// When the last new data left.
    last_new_at: Instant,
    /// When the last outstanding packet was acknowledged.
    emptied_at: Instant,
    /// Oldest packet without an acknowledgement, and since when it is that.
    oldest: (u64, Instant),
}

/// Sending half of a connection. Its memory is bounded by the send limit.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    /// Initial number of our direction.
    initial: u64,
    cache: SendCache,
    tail: TailRepeat,
    coded: CodedTail,
    pieces: Pieces,
    peer: PeerTerms,
    told: ReportedGaps,
    polls: PollPolicy,
    regulator: Regulator,
    /// State of the measuring; `None` if the path's rate is not measured.
    following: Option<Following>,
    /// State of asking routers; `None`: nobody is asked.
    asking: Option<Box<Asking>>,
    rtt: RttEstimator,
    queue: QueueEvidence,
    reordering: Reordering,
    activity: Activity,
    traffic: Traffic,
    withholding: Withholding,
    /// True if the application writes nothing more.
    is_finished: bool,
    /// True if the application waits for room.
    writer_waits: bool,
    /// The last write was not taken whole: its writer has more.
    writer_has_more: bool,
}

impl Sender {
    /// Sender of a new connection, before anything is known of the peer.
    pub(crate) fn new(config: &Arc<Config>, entropy: Entropy, now: Instant, path: &Path) -> Self {
        let mss_bytes = largest_payload(config, path, usize::MAX);
        // One wrap above zero, so that no number before the first is negative.
        let initial = NUMBER_MODULUS + u64::from(entropy.initial) % NUMBER_MODULUS;
        let peer = PeerTerms {
            window_bytes: config.early_window_bytes,
            widest_window_bytes: 0,
            max_payload_bytes: usize::MAX,
            both_code: false,
            takes_increments: false,
            takes_pieces: false,
            wants_feedback: false,
        };
        Self {
            initial,
            cache: SendCache::new(initial),
            tail: TailRepeat::default(),
            coded: CodedTail::new(initial as u8), // random, or a stranger would know it
            pieces: Pieces::default(),
            peer,
            told: ReportedGaps::new(initial),
            polls: PollPolicy::new(entropy, config.max_timer_ns),
            regulator: Regulator::new(config, mss_bytes, entropy, now, path),
            following: Following::wanted(config),
            asking: Asking::wanted(config),
            rtt: RttEstimator::new(config.initial_rtt_ns),
            queue: QueueEvidence::default(),
            reordering: Reordering::default(),
            activity: Activity {
                order: 0,
                was_repair: false,
                lost: LostOfLate::default(),
                first_data_at: None,
                last_data_at: now,
                last_new_at: now,
                emptied_at: now,
                oldest: (initial, now),
            },
            traffic: Traffic::default(),
            withholding: Withholding::new(entropy.secret),
            is_finished: false,
            writer_waits: false,
            writer_has_more: false,
            config: Arc::clone(config),
        }
    }

    /// Takes the terms of the peer's opening. Result: true if both ends send and take repair symbols.
    pub(crate) fn learn_peer(&mut self, opening: &Opening, path: &mut Path) -> bool {
        self.peer = PeerTerms {
            window_bytes: u64::from(opening.window_bytes),
            widest_window_bytes: u64::from(opening.window_bytes),
            max_payload_bytes: usize::from(opening.max_payload_bytes).max(MIN_PEER_PAYLOAD_BYTES),
            both_code: opening.options.repairs && self.config.coded_tail,
            takes_increments: opening.options.increments,
            takes_pieces: opening.options.pieces,
            wants_feedback: opening.options.feedback,
        };
        self.learn_taking(opening.options.feedback, path);
        self.limit_mtu(path);
        self.peer.both_code
    }

    /// Opening of our side, which accepts `window_bytes`.
    pub(crate) fn opening(&self, nonce: u64, window_bytes: u64, path: &Path) -> Opening {
        let opening = opening(&self.config, self.initial24(), nonce, window_bytes, path);
        Opening { options: self.options(), ..opening }
    }

    /// First number of our direction, as in the opening.
    pub(crate) fn initial24(&self) -> u32 {
        truncate_number(self.initial)
    }

    /// Numbers that segments without an answer carry: of all packets, and of the next new one.
    pub(crate) fn sent_numbers(&self) -> RangeInclusive<u64> {
        self.initial..=self.cache.next()
    }

    /// Options of that opening.
    fn options(&self) -> Options {
        let own = options(&self.config);
        Options { feedback: own.feedback || self.peer.wants_feedback, ..own }
    }

    /// Length of that opening.
    fn opening_bytes(&self) -> usize {
        OPENING_BYTES + self.options().bytes()
    }

    /// Largest payload of an SD without other bodies.
    fn mss_bytes(&self, path: &Path) -> usize {
        largest_payload(&self.config, path, self.peer.max_payload_bytes)
    }

    /// Round trips as measured.
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// The shortest round trip of before an outage says nothing.
    pub(crate) fn forget_min_rtt(&mut self) {
        self.rtt.forget_min();
    }

    /// Number of the next new packet.
    pub(crate) fn next_number(&self) -> u64 {
        self.cache.next()
    }

    /// Gives memory back that grew with use and is not needed now.
    pub(crate) fn give_back(&mut self) {
        self.cache.give_back();
    }

    /// True if everything sent is acknowledged in sequence.
    pub(crate) fn is_settled(&self) -> bool {
        self.cache.is_empty()
    }

    /// True if data was sent, coded or not.
    pub(crate) fn has_sent_data(&self) -> bool {
        self.activity.order > 0
    }

    /// True if the path's rate paces what is sent, and not a pace of the connection's own.
    pub(crate) fn is_rate_paced(&self) -> bool {
        self.regulator.is_rate_paced()
    }

    /// IP bytes sent.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.traffic.sent_bytes()
    }

    /// Bytes that the send buffer takes at most: a few bandwidth-delay products of a declared rate.
    fn limit_bytes(&self) -> u64 {
        let cap = self.config.send_limit_bytes;
        let (Some(rate_bps), Some(bdps)) = (self.path_rate_bps(), self.config.send_limit_bdps) else {
            return cap;
        };
        let bits = u128::from(rate_bps) * u128::from(self.rtt.smoothed_ns()) / u128::from(SECOND);
        let bdp_bytes = (bits / 8) as u64;
        bdp_bytes.saturating_mul(bdps).max(1 << 20).min(cap)
    }

    /// Bytes that the send buffer holds.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.cache.held_bytes()
    }

    /// Bytes that wait to be sent for the first time, at most; `None`: nothing but the send limit bounds
    /// them.
    fn unsent_limit_bytes(&self) -> Option<u64> {
        let ns = self.config.unsent_limit_ns?;
        let bits = u128::from(self.path_rate_bps().unwrap_or(0)) * u128::from(ns) / u128::from(SECOND);
        Some(((bits / 8) as u64).clamp(MIN_UNSENT_LIMIT_BYTES, MAX_UNSENT_LIMIT_BYTES))
    }

    /// Room in the send buffer.
    pub(crate) fn writable_bytes(&self) -> u64 {
        let room_bytes = self.limit_bytes().saturating_sub(self.cache.held_bytes());
        match self.unsent_limit_bytes() {
            Some(limit_bytes) => room_bytes.min(limit_bytes.saturating_sub(self.cache.unsent_bytes() as u64)),
            None => room_bytes,
        }
    }

    /// Takes as much of `data` as there is room for. Result: so many bytes.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<usize, StreamError> {
        if self.is_finished {
            return Err(StreamError::Finished);
        }
        let taken = data.len().min(usize::try_from(self.writable_bytes()).unwrap_or(usize::MAX));
        self.cache.write(&data[..taken], self.config.send_limit_bytes);
        self.writer_has_more = taken < data.len();
        self.writer_waits = self.writer_has_more;
        Ok(taken)
    }

    /// Nothing more will be written.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
        self.writer_has_more = false;
    }

    /// Bytes that are there to be sent, or repeated if they are lost. What a writer holds back, as older data
    /// has to leave first, counts as far as the send limit would let it in.
    fn there_bytes(&self) -> u64 {
        let held_bytes = self.cache.in_flight_bytes() + self.cache.unsent_bytes() as u64;
        if self.writer_has_more { held_bytes.max(self.limit_bytes()) } else { held_bytes }
    }

    /// True once for a writer who waits, if there is room again.
    fn wakes_writer(&mut self) -> bool {
        let waits_to_leave = |limit_bytes: u64| self.cache.unsent_bytes() as u64 > limit_bytes / 2;
        let has_room = || self.cache.held_bytes() < self.limit_bytes();
        let wakes = self.writer_waits && has_room() && !self.unsent_limit_bytes().is_some_and(waits_to_leave);
        self.writer_waits &= !wakes;
        wakes
    }

    /// True once for a writer who waited for data to leave, if enough has.
    pub(crate) fn has_drained(&mut self) -> bool {
        self.config.unsent_limit_ns.is_some() && self.wakes_writer()
    }

    /// Asks the peer whether it still knows the connection.
    pub(crate) fn challenge(&mut self, is_opened: bool) {
        self.polls.owe(is_opened);
    }

    /// Nothing is to be sent now. True if a search was given up, so that what is next may be another thing.
    pub(crate) fn rest(&mut self, situation: &Situation, now: Instant, path: &Path) -> bool {
        self.note_limit(true);
        let search = self.give_up_search(situation, now, path);
        let block = self.give_up_block(situation, now, path);
        search || block
    }

    /// A packet or a repair symbol leaves.
    fn note_transmission(&mut self, now: Instant) {
        self.activity.order += 1;
        self.activity.last_data_at = now;
        self.activity.first_data_at.get_or_insert(now);
    }

    /// Time since when the oldest packet without an acknowledgement is one that is larger than the path takes
    /// by now: where fragments and pieces vanish, too, nothing ever brings it across.
    pub(crate) fn stuck_since(&self) -> Option<Instant> {
        let since = self.coded.oversized_since(self.cache.first()).filter(|_| !self.cache.is_empty())?;
        Some(since.max(self.activity.oldest.1))
    }

    /// Everything sent was acknowledged.
    fn note_emptied(&mut self, now: Instant) {
        self.activity.emptied_at = now;
    }

    fn set_peer_window(&mut self, window_bytes: u32) {
        self.peer.window_bytes = u64::from(window_bytes);
        self.peer.widest_window_bytes = self.peer.widest_window_bytes.max(self.peer.window_bytes);
    }

    /// Writes the counters of what was sent, and the state of it.
    pub(crate) fn count(&self, stats: &mut Stats) {
        self.traffic.count(stats);
        stats.rtt_min_ns = self.rtt.is_known().then(|| self.rtt.min_ns());
        stats.rtt_smoothed_ns = self.rtt.is_known().then(|| self.rtt.smoothed_ns());
        let snapshot = self.regulator.snapshot();
        stats.controller = snapshot.name;
        stats.cwnd_bytes = snapshot.cwnd_bytes;
        stats.in_flight_bytes = self.cache.in_flight_bytes();
    }

    /// Invariants, checked in debug builds.
    pub(crate) fn check_invariants(&self) {
        self.cache.check_invariants();
        self.polls.check_invariants(self.activity.order, self.cache.next());
        debug_assert!(self.activity.first_data_at.is_some() || self.cache.is_empty());
    }
}

/// Opening of an end with these parameters, whose first packet has the number `initial24` and which accepts
/// `window_bytes`.
pub(crate) fn opening(
    config: &Config,
    initial24: u32,
    nonce: u64,
    window_bytes: u64,
    path: &Path,
) -> Opening {
    let max = (path.max_taken_segment_bytes() - HEADER_BYTES).min(config.max_payload_bytes);
    Opening {
        max_payload_bytes: max.min(usize::from(u16::MAX)) as u16,
        initial: initial24,
        window_bytes: window_bytes.min(u64::from(u32::MAX)) as u32,
        nonce,
        options: options(config),
    }
}

fn options(config: &Config) -> Options {
    Options {
        timing: config.wants_timing(),
        repairs: config.coded_tail,
        increments: config.incremental_stats,
        pieces: config.discover_mtu,
        feedback: config.asks_routers(),
        padding: 0,
    }
}

/// Largest payload of a segment that has nothing else.
fn largest_payload(config: &Config, path: &Path, peer_max: usize) -> usize {
    (path.max_segment_bytes() - HEADER_BYTES).min(config.max_payload_bytes).min(peer_max)
}
