//! The event vocabulary: everything that an engine or a link decides, in one versioned place.
//! `docs/events.md` describes each for people. Engines emit to a sink that is passed in the call.

use crate::{ConnectionId, Instant};

/// Version of this vocabulary; rises when an event changes its meaning or loses a field.
pub const VERSION: u32 = 1;

/// Round trips that an event has room for.
pub const DECIDING_RTTS: usize = 4;
/// Entries of the probing map that [`Event::ProbeMap`] shows.
pub const SHOWN_ENTRIES: usize = 8;

/// Cause that the sender found for a loss [XSTP 4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Queues overflowed somewhere.
    Congestion,
    /// The link damaged packets.
    Corruption,
    /// The link was gone.
    Outage,
    /// No verdict was sought.
    Unknown,
}

/// Reason of a repeat of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// A STAT listed it.
    Stat,
    /// A USTAT listed it.
    Ustat,
    /// Nothing else was to be sent and it was not yet confirmed (`default` profile).
    Idle,
    /// TCP: the retransmission timer ran out.
    Timer,
    /// TCP: acknowledgements showed that it is missing.
    Recovery,
    /// TCP: it was larger than what the path takes.
    TooBig,
    /// TCP: it went with an opening, whose answer did not take it.
    Refused,
    /// TCP: it is the last one, sent to learn what became of it and those before.
    TailProbe,
    /// TCP: beside the window, at low priority, to learn what the path has left (TCP-Peach+).
    LowPriority,
}

/// Reason why a received segment was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Could not be decoded (truncated, damaged, malformed).
    Undecodable,
    /// Belongs to no connection.
    Unknown,
    /// Instance of an earlier connection.
    WrongInstance,
    /// Outside of the receive window.
    OutsideWindow,
    /// Says what cannot be: acknowledges unsent packets, echoes no poll, ends twice.
    Absurd,
    /// Data that was already there.
    Duplicate,
    /// An opening seen before, of a connection that has ended.
    Replay,
    /// A bound on connections was reached.
    Full,
}

/// Alarm that starts a probing cycle [XSTP 4.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A POLL stayed without an answer: early timeout.
    Silence,
    /// A report listed a packet that is worth a retransmission.
    Gap,
}

/// Reason why a link dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// The queue was full.
    QueueFull,
    /// Random early detection picked it before the queue was full.
    Early,
    /// A policer found it to exceed its rate.
    Policed,
    /// Independent random loss.
    RandomLoss,
    /// Bit errors: damaged, so discarded by the layer below.
    BitError,
    /// The link was down.
    Outage,
    /// Larger than the link's largest packet.
    TooLarge,
}

/// Phase of a window controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Growing by what is acknowledged.
    SlowStart,
    /// Growing by a packet per round trip.
    Avoidance,
    /// No window: the rate is declared.
    FixedRate,
    /// BBR: doubling the rate each round trip.
    Startup,
    /// BBR: emptying the queue that this made.
    Drain,
    /// BBR: at the measured bandwidth, and now and then above.
    ProbeBandwidth,
    /// BBR: measuring the shortest round trip with an all but empty pipe.
    ProbeRtt,
    /// Routers on the path say by how much the window changes.
    Explicit,
    /// The path's model: no rate is known yet.
    Measuring,
    /// The path's model: at the measured rate, with a short queue.
    Holding,
    /// The path's model: others fill the queue.
    Competing,
    /// The path's model: holding, while the queue is others' or they have left less than the path carries.
    Sharing,
}

/// Ground of the rate of a path whose packets carried headers that ask routers (explicit rate control).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuledBy {
    /// Routers say by how much it changes.
    Routers,
    /// Measurement: there is no router on the path.
    NoRouter,
    /// Measurement: a queue stands behind the last router, which does not see it.
    QueueBehind,
    /// Measurement: the peer takes no path headers.
    PeerWithout,
}

/// Step in the use of a path that an earlier connection remembered [RFC 9959 3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumePhase {
    /// It begins as if it knew nothing, and waits for a round trip that fits.
    Reconnaissance,
    /// It sends at half of the remembered rate, and nothing of that is confirmed.
    Unvalidated,
    /// The first reports do not contradict; not all of the first flight is accounted for.
    Validating,
    /// They did: half of what arrived, until the first flight is accounted for.
    SafeRetreat,
    /// Nothing contradicted. The controller goes by what it measures now.
    Confirmed,
    /// The path is another one, or has become slower. The controller goes by what it measures now.
    Contradicted,
}

impl ResumePhase {
    /// As results write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reconnaissance => "reconnaissance",
            Self::Unvalidated => "unvalidated",
            Self::Validating => "validating",
            Self::SafeRetreat => "safe-retreat",
            Self::Confirmed => "confirmed",
            Self::Contradicted => "contradicted",
        }
    }

    /// True if memory decides on nothing any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Confirmed | Self::Contradicted)
    }
}

/// Something decided or observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A segment left. `types` are its type bits; `number` its packet number field.
    Sent {
        /// Type bits of the segment.
        types: u8,
        /// Packet number field.
        number: u64,
        /// Bytes of application data in it.
        payload_bytes: u32,
        /// Size with IP, UDP and envelope.
        wire_bytes: u32,
        /// Reason, if the data was sent before.
        repeat: Option<Repeat>,
    },
    /// A segment arrived and was decoded.
    Received {
        /// Type bits of the segment.
        types: u8,
        /// Packet number field.
        number: u64,
        /// Bytes of application data in it.
        payload_bytes: u32,
    },
    /// A segment arrived and was refused.
    Refused {
        /// Reason.
        why: Refusal,
    },
    /// The receiver saw that [first, end) is missing.
    Gap {
        /// First missing packet number.
        first: u64,
        /// One past the last missing packet number.
        end: u64,
    },
    /// The sender judged the packets [first, end) lost.
    Lost {
        /// First packet number.
        first: u64,
        /// One past the last packet number.
        end: u64,
        /// Cause that was found.
        verdict: Verdict,
    },
    /// Packets were acknowledged by one report.
    Acknowledged {
        /// Next number that the peer expects.
        next: u64,
        /// Newly acknowledged packets.
        packets: u32,
        /// Their payload.
        bytes: u64,
    },
    /// The windows after a report.
    Window {
        /// Congestion window.
        cwnd_bytes: u64,
        /// Bytes that the peer accepts beyond its next expected packet.
        peer_bytes: u64,
        /// Sent and neither acknowledged nor judged lost.
        in_flight_bytes: u64,
        /// The controller's phase.
        phase: Phase,
    },
    /// The pacing rate after a change.
    Rate {
        /// Rate in bit/s.
        rate_bps: u64,
    },
    /// Round-trip sample, and the estimate that it made.
    Rtt {
        /// The sample.
        sample_ns: u64,
        /// Smoothed.
        smoothed_ns: u64,
        /// Deviation.
        variance_ns: u64,
        /// Smallest so far.
        min_ns: u64,
    },
    /// A connection changed its state.
    State {
        /// Name of the state left, as in `docs/spec/stp.md`.
        from: &'static str,
        /// Name of the state entered.
        to: &'static str,
    },
    /// The sender entered or left the persist state (zero window).
    Persist {
        /// Entered (true) or left.
        on: bool,
    },
    /// Routers say that a link on the way is down, or the sender takes it for up again.
    LinkOutage {
        /// Down (true) or up.
        down: bool,
    },
    /// The segment that leaves next says that packets are damaged on their way to its sender.
    CorruptionTold,
    /// Part of a stream is missing for good: the receiver gave it up and goes on behind it, or the sender
    /// repeated it as often as it may.
    GaveUp {
        /// At the receiver (true) or at the sender.
        received: bool,
        /// Octets of the stream in front of it.
        offset: u64,
        /// Octets that are given up.
        bytes: u64,
    },
    /// The largest packet that the path takes is another one than was thought.
    PathMtu {
        /// IP packet.
        mtu_bytes: u32,
    },
    /// A segment left that is larger than what the path takes by now: IP may cut it.
    Oversized {
        /// Size with IP, UDP and envelope.
        wire_bytes: u32,
        /// Largest packet that the path takes.
        mtu_bytes: u32,
    },
    /// A connection that remembers its path takes another step.
    Resume {
        /// Where it stands now.
        phase: ResumePhase,
        /// Remembered rate.
        rate_bps: u64,
        /// Remembered round trip.
        rtt_ns: u64,
    },
    /// The rate goes by routers from now on, or by them no more.
    Ruled {
        /// What it goes by now.
        by: RuledBy,
    },
    /// A probing cycle began [XSTP 4].
    ProbeStarted {
        /// Alarm that started it.
        alarm: Alarm,
        /// Round-trip time at the loss.
        loss_rtt_ns: u64,
    },
    /// A probing cycle ended.
    ProbeEnded {
        /// Its verdict; `None` when it was a false alarm.
        verdict: Option<Verdict>,
        /// Duration.
        duration_ns: u64,
        /// Probes sent.
        probes: u32,
        /// Probes of this cycle that were answered.
        answers: u32,
        /// Round-trip time at the loss.
        loss_rtt_ns: u64,
        /// Longest of the round trips that decided; 0 for a false alarm.
        worst_rtt_ns: u64,
        /// The round trips that decided, oldest probe first, as many as there is room for; 0: none.
        rtts_ns: [u64; DECIDING_RTTS],
        /// The last round trip before the alarm.
        alarm_rtt_ns: u64,
        /// Probes without an answer before the first one that was answered.
        silent_probes: u32,
        /// Packets missing in the deciding report that had their time; 0 for a false alarm.
        missing_packets: u32,
        /// All packets that had their time, from the first missing one on.
        listed_packets: u32,
        /// Most missing packets that left one directly after the other.
        row_packets: u32,
        /// From the first to the last of those.
        row_duration_ns: u64,
    },
    /// The probing map after a change [XSTP 4.3].
    ProbeMap {
        /// The first entry is still the one kept for answers to POLLs from before the alarm.
        reserved: bool,
        /// Entries.
        entries: u32,
        /// Round trips of the last eight of them, oldest first; 0: without an answer, or no entry.
        rtts_ns: [u64; SHOWN_ENTRIES],
    },
    /// A packet reached the host that it was sent to, and is handed to its engine next.
    Arrived {
        /// Number that its sender gave it (`PacketMeta::id`).
        packet: u64,
    },
    /// A router sent a signal to a host.
    Signal {
        /// Number that it gave the packet (`PacketMeta::id`).
        packet: u64,
        /// Node that it goes to.
        to: u32,
        /// What it says.
        signal: RouterSignal,
    },
    /// A link dropped a packet.
    LinkDrop {
        /// Port that the packet came in by.
        port: u32,
        /// Packets that came in by that port before it.
        order: u64,
        /// Number that its sender gave it (`PacketMeta::id`).
        packet: u64,
        /// Size on the wire.
        wire_bytes: u32,
        /// Reason.
        cause: DropCause,
    },
}

/// Signal of a router to ends of SCPS-TP [SCPS-TP 3.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterSignal {
    /// To the destination of a packet: the link that it came by damages others.
    CorruptionExperienced,
    /// To the source of a packet: the link that it was to take is down.
    LinkOutage,
    /// To that source: the link is back.
    LinkRestored,
}

impl RouterSignal {
    /// Name as the paper has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CorruptionExperienced => "corruption-experienced",
            Self::LinkOutage => "link-outage",
            Self::LinkRestored => "link-restored",
        }
    }
}

/// Receiver of events from sources that are named by an `S`: an engine names its connections, a run of many
/// engines and links has names of its own.
pub trait EventSink<S = ConnectionId> {
    /// True if events are wanted at all; engines skip the work of making them otherwise.
    fn wants(&self) -> bool {
        true
    }
    /// Takes an event.
    fn emit(&mut self, now: Instant, source: S, event: Event);
}

/// Sink that wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl<S> EventSink<S> for NullSink {
    fn wants(&self) -> bool {
        false
    }
    fn emit(&mut self, _: Instant, _: S, _: Event) {}
}

impl<S> EventSink<S> for alloc::vec::Vec<(Instant, S, Event)> {
    fn emit(&mut self, now: Instant, source: S, event: Event) {
        self.push((now, source, event));
    }
}
