//! Contract of what finds out the rate of a path. It belongs to the path: all connections feed it with
//! samples of their receivers, and share the rate that it makes of them.

use alloc::boxed::Box;
use core::fmt::Debug;

use crate::event::{Phase, ResumePhase, RuledBy};
use crate::{Instant, PathHeader};

/// Rate of a path of which nothing is known, in bit/s: on every link that this is made for, what may leave
/// leaves at once.
pub const UNMEASURED_RATE_BPS: u64 = 1_000_000_000;

/// Packets between two marks in the stream of a connection (POLLs of STP): when they left and when they
/// arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Time between the marks when they were sent, by the sender's clock.
    pub sent_ns: u64,
    /// IP bytes sent from the first (excluded) to the second (included), by all connections of the path.
    pub sent_bytes: u64,
    /// Time between the marks when they arrived, by the receiver's clock.
    pub arrived_ns: u64,
    /// IP bytes that arrived of those, as far as the receiver has counted them: never more than were sent.
    pub arrived_bytes: u64,
}

/// Measurement of the way that data took, out of one report of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// Time at which the mark left.
    pub sent_at: Instant,
    /// Receiver's clock when the mark arrived; it may be off by any constant.
    pub arrived_ns: u64,
    /// Round trip of the mark, waiting on the way back included.
    pub rtt_ns: u64,
    /// Interval between this mark and one about half a round trip before.
    pub long: Option<Interval>,
    /// Interval of packets that left back to back, this mark the last: how the path spread them.
    pub train: Option<Interval>,
    /// True if this mark stood behind others of a train, so that it waited for those.
    pub behind_train: bool,
    /// IP bytes that left after this mark, of all connections of the path.
    pub since_bytes: u64,
}

/// Capacity and round trip of a path as a connection measured them: another may begin with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEstimate {
    /// Rate that the path delivered, in bit/s of IP bytes.
    pub rate_bps: u64,
    /// Smallest round trip, in ns.
    pub rtt_min_ns: u64,
    /// Bytes that arrived while the rate was held: what it rests on.
    pub confirmed_bytes: u64,
}

/// Knowledge of others who send over a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// Nothing says that anybody is there.
    #[default]
    Absent,
    /// Something says so that may have another cause.
    Suspected,
    /// They have a part of the path.
    Present,
}

/// Packet with data that leaves, and how much more its connection could use: what its path header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Time from a packet to the report that tells of it, in ns: a round trip and the time between two
    /// questions. `None`: no round trip was measured.
    pub loop_ns: Option<u64>,
    /// IP bytes of the packet, header included.
    pub packet_bytes: u32,
    /// IP bytes that the connection could send in that time.
    pub wanted_bytes: u64,
}

/// Feedback of the routers on the path, as a receiver tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathFeedback {
    /// Change of the rate, in octets a second, not more than was asked for.
    pub bytes_per_s: i32,
    /// Routers that the last packet had passed.
    pub routers: u8,
    /// Time from a packet to the report that tells of it, in ns.
    pub loop_ns: u64,
}

/// Controller of a path's rate. All methods are total: any order of calls with any values is allowed.
pub trait PathController: Debug + Send {
    /// Takes in a report.
    fn on_sample(&mut self, now: Instant, sample: &PathSample);
    /// Takes in that the link was gone and is back: delays and losses of before say nothing.
    fn on_outage(&mut self, now: Instant);
    /// True if packets with data are to carry a path header.
    fn asks(&self) -> bool {
        false
    }
    /// Header of a packet with data that leaves now, where it asks ([`Self::asks`]).
    fn ask(&mut self, _now: Instant, _demand: &Demand) -> PathHeader {
        PathHeader::default()
    }
    /// Takes in what routers granted. It is told before the sample of its report.
    fn on_feedback(&mut self, _now: Instant, _feedback: &PathFeedback) {}
    /// Takes in that the peer takes no headers, or tells nothing of them.
    fn on_no_feedback(&mut self) {}
    /// Takes in that full packets have another payload from now on.
    fn on_packet_size(&mut self, _mss_bytes: u64) {}
    /// Takes in that packets are lost, the newest of which left at this time, though the link was there.
    fn on_lost(&mut self, _now: Instant, _newest_sent_at: Instant) {}
    /// What the rate goes by, where it asked routers; `None`: that is not known yet, or it never did.
    fn ruled_by(&self) -> Option<RuledBy> {
        None
    }
    /// Rate of all that is sent over the path, in bit/s of IP bytes, at least 1. While nothing is measured
    /// ([`Phase::Measuring`]), [`UNMEASURED_RATE_BPS`] or more lets everything leave at once.
    fn rate_bps(&self) -> u64;
    /// IP bytes that stand in the path's queue beyond what is aimed at, since they left at once before the
    /// rate was known: they are charged to it. Told once.
    fn take_excess_bytes(&mut self) -> u64 {
        0
    }
    /// Payload bytes that one connection may have under way.
    fn window_bytes(&self) -> u64;
    /// Packets of a train that is wanted now, 0 for none. The train is counted as sent.
    fn take_train(&mut self, _now: Instant) -> u32 {
        0
    }
    /// Packets of the longest train that is ever wanted.
    fn max_train_packets(&self) -> u32 {
        0
    }
    /// Time in which the path's queue empties, if it is known to be a short one and losses may be its: it
    /// need not show in any waiting.
    fn short_queue_ns(&self) -> Option<u64> {
        None
    }
    /// Takes in that the first packets of the path, which leave at once, have left.
    fn after_first_train(&mut self) {}
    /// Estimate of the path, for connections to come.
    fn path_estimate(&self) -> Option<PathEstimate> {
        None
    }
    /// Step in the use of a remembered path, and the rate and round trip remembered.
    fn resumed(&self) -> Option<(ResumePhase, PathEstimate)> {
        None
    }
    /// Phase, for events.
    fn phase(&self) -> Phase;
    /// What it knows of others on the path. Where they are suspected first and present then, they were there
    /// from the suspicion on.
    fn others(&self) -> Others {
        match self.phase() {
            Phase::Competing | Phase::Sharing => Others::Present,
            _ => Others::Absent,
        }
    }
    /// Name, for reports.
    fn name(&self) -> &'static str;
    /// Copy: engines are `Clone`.
    fn boxed_clone(&self) -> Box<dyn PathController>;
}

impl Clone for Box<dyn PathController> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
