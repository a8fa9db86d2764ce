//! Delivery rates [draft-cheng-iccrg-delivery-rate-estimation-02]: each packet remembers what had
//! been delivered when it left, and its acknowledgement makes a sample of it. Shared by all engines; only
//! connections whose controller asks for it keep such a log.

use alloc::collections::VecDeque;

use skyhaul_core::Instant;

/// Bound of packets remembered (3.5 MiB); beyond, the last one stands for those that follow it.
const MAX_PACKETS: usize = 1 << 16;
/// Packets for which room is kept while nothing is under way: less than a kilobyte.
const IDLE_PACKETS: usize = 16;

/// Delivery that an acknowledgement tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Payload that it tells of, acknowledged in sequence or selectively.
    pub newly_bytes: u64,
    /// Payload delivered so far.
    pub total_bytes: u64,
    /// Payload under way afterwards.
    pub in_flight_bytes: u64,
    /// Round trip of the newest packet that it tells of, if that was sent once.
    pub rtt_ns: Option<u64>,
    /// Sample of the rate, if it is a valid one.
    pub rate: Option<RateSample>,
}

/// Sample of the delivery rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Payload delivered in the interval.
    pub bytes: u64,
    /// Longer of the times in which it was sent and acknowledged; at least a nanosecond.
    pub interval_ns: u64,
    /// Payload that had been delivered when the newest of these packets left: where its round trip began.
    pub prior_total_bytes: u64,
    /// True if there was nothing to send then, so that the path may take more.
    pub app_limited: bool,
}

impl RateSample {
    /// Payload bytes per second.
    pub fn bytes_per_s(&self) -> u64 {
        let bytes = u128::from(self.bytes) * u128::from(skyhaul_core::SECOND);
        u64::try_from(bytes / u128::from(self.interval_ns.max(1))).unwrap_or(u64::MAX)
    }
}

/// Packet under way, and the state of the connection when it left.
#[derive(Clone, Copy, Debug)]
struct LoggedPacket {
    /// Numbers of the packet: [first, end).
    first: u64,
    end: u64,
    bytes: u32,
    is_repeat: bool,
    is_delivered: bool,
    app_limited: bool,
    sent_at: Instant,
    /// `P.delivered`, `P.delivered_time` and `P.first_sent_time` of the draft.
    total_bytes: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
}

/// Log of the packets under way and of what was delivered.
#[derive(Clone, Debug)]
pub struct DeliveryLog {
    packets: VecDeque<LoggedPacket>,
    total_bytes: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Total of deliveries up to which samples are limited by the application.
    limited_until: Option<u64>,
    min_rtt_ns: u64,
    /// Payload that the report tells of which is being read, and its newest packet.
    newly_bytes: u64,
    newest: Option<LoggedPacket>,
}

impl DeliveryLog {
    /// Empty log.
    pub fn new(now: Instant) -> Self {
        Self {
            packets: VecDeque::new(),
            total_bytes: 0,
            delivered_at: now,
            first_sent_at: now,
            limited_until: None,
            min_rtt_ns: u64::MAX,
            newly_bytes: 0,
            newest: None,
        }
    }

    /// Takes in that a packet with the numbers [first, end) and `bytes` of payload leaves, with
    /// `in_flight_bytes` under way before it; for the first time or again.
    pub fn on_sent(&mut self, now: Instant, first: u64, end: u64, bytes: u32, in_flight_bytes: u64) {
        if in_flight_bytes == 0 {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let packet = LoggedPacket {
            first,
            end,
            bytes,
            is_repeat: false,
            is_delivered: false,
            app_limited: self.limited_until.is_some(),
            sent_at: now,
            total_bytes: self.total_bytes,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
        };
        let is_full = self.packets.len() >= MAX_PACKETS;
        match self.packets.back_mut() {
            Some(last) if first < last.end => self.send_again(&packet),
            Some(last) if is_full => {
                last.end = end;
                last.bytes = last.bytes.saturating_add(bytes);
            }
            _ => self.packets.push_back(packet),
        }
    }

    fn send_again(&mut self, packet: &LoggedPacket) {
        let from = self.packets.partition_point(|known| known.end <= packet.first);
        for known in self.packets.range_mut(from..).take_while(|known| known.first < packet.end) {
            if !known.is_delivered {
                let (first, end, bytes) = (known.first, known.end, known.bytes);
                *known = LoggedPacket { first, end, bytes, is_repeat: true, ..*packet };
            }
        }
    }

    /// Takes in that [first, end) arrived, as the report tells. A packet counts when its last number did.
    pub fn on_delivered(&mut self, first: u64, end: u64) {
        let from = self.packets.partition_point(|known| known.end <= first);
        for known in self.packets.range_mut(from..).take_while(|known| known.end <= end) {
            if core::mem::replace(&mut known.is_delivered, true) {
                continue;
            }
            self.newly_bytes += u64::from(known.bytes);
            let newest = self.newest.get_or_insert(*known);
            if (known.sent_at, known.end) > (newest.sent_at, newest.end) {
                *newest = *known;
            }
        }
    }

    /// Forgets everything below: it is acknowledged in sequence, nothing more will be told of it.
    pub fn forget_below(&mut self, number: u64) {
        while self.packets.front().is_some_and(|packet| packet.end <= number) {
            self.packets.pop_front();
        }
        if self.packets.is_empty() && self.packets.capacity() > IDLE_PACKETS {
            self.packets = VecDeque::new();
        }
    }

    /// Takes in that nothing is left to send, and that the window is not full with `in_flight_bytes`.
    pub fn mark_limited(&mut self, in_flight_bytes: u64) {
        self.limited_until = Some(self.total_bytes + in_flight_bytes);
    }

    /// Delivery of the report that was read; `None` if it told of nothing new.
    pub fn finish(&mut self, now: Instant, in_flight_bytes: u64) -> Option<Delivery> {
        let newly_bytes = core::mem::take(&mut self.newly_bytes);
        let newest = self.newest.take()?;
        self.total_bytes += newly_bytes;
        self.limited_until = self.limited_until.filter(|&until| self.total_bytes <= until);
        let rtt_ns = (!newest.is_repeat).then(|| now.since(newest.sent_at));
        self.min_rtt_ns = self.min_rtt_ns.min(rtt_ns.unwrap_or(u64::MAX));
        let rate = self.sample(now, &newest);
        (self.first_sent_at, self.delivered_at) = (newest.sent_at, now);
        Some(Delivery { newly_bytes, total_bytes: self.total_bytes, in_flight_bytes, rtt_ns, rate })
    }

    /// Rate up to this packet. An interval shorter than a round trip is an artefact of acknowledgements that
    /// came at once.
    fn sample(&self, now: Instant, newest: &LoggedPacket) -> Option<RateSample> {
        let sending_ns = newest.sent_at.since(newest.first_sent_at);
        let arriving_ns = now.since(newest.delivered_at);
        let interval_ns = sending_ns.max(arriving_ns);
        let is_known = self.min_rtt_ns != u64::MAX;
        (interval_ns > 0 && is_known && interval_ns >= self.min_rtt_ns).then(|| RateSample {
            bytes: self.total_bytes - newest.total_bytes,
            interval_ns,
            prior_total_bytes: newest.total_bytes,
            app_limited: newest.app_limited,
        })
    }
}
