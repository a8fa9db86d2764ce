//! Explicit rate control over TCP: what a sender asks of routers, what a receiver tells of their grants, and
//! the parameters of both [XCP 4.1]. What becomes of the window is the controller's.

use skyhaul_congestion::RouterFeedback;
use skyhaul_core::{HeaderFormat, OpenRequests, PathHeader, PathUse};

use crate::segment::HEADER_BYTES;

/// Parameters of explicit rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplicitConfig {
    /// What a sender asks for whose controller asks at all.
    pub asks: Asks,
    /// Octets by which a path header makes a packet longer: those of the header, or 0 where sizes are told
    /// with it, as in papers. An acknowledgement has one size there, whatever its options say.
    pub header_bytes: u8,
}

impl ExplicitConfig {
    /// True if sizes are told with the header.
    pub(crate) fn tells_sizes(self) -> bool {
        self.header_bytes == 0
    }

    /// Octets of a segment that do not count: options, unless it `counts_whole`. Its header has so many
    /// octets with them.
    pub(crate) fn uncounted_bytes(self, header_bytes: usize, counts_whole: impl FnOnce() -> bool) -> u8 {
        if self.header_bytes > 0 || counts_whole() {
            return 0;
        }
        header_bytes.saturating_sub(HEADER_BYTES) as u8 // 40 at most
    }
}

impl Default for ExplicitConfig {
    /// An honest sender, and a header that counts.
    fn default() -> Self {
        Self { asks: Asks::Window, header_bytes: PathHeader::BYTES }
    }
}

/// Rate that a sender asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// No more than the peer's window, the data that is there and the declared rate can use [XCP 4.1.1].
    Window,
    /// Always as much as there may be, as ns-2 does.
    Always,
}

/// Use of the path, as the sender knows it when a segment leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    /// Smoothed round trip; `None` before the first one.
    pub(crate) rtt_ns: Option<u64>,
    /// Payload of a full segment.
    pub(crate) mss_bytes: u64,
    /// Window that is used: the controller's, or the peer's where that is smaller.
    pub(crate) window_bytes: u64,
    /// Window that could be used.
    pub(crate) wanted_bytes: u64,
}

/// Asking of one sender, and the bound of what it is told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asking {
    open: OpenRequests,
}

impl Asking {
    /// Header of the next segment with data.
    pub(crate) fn ask(&mut self, config: ExplicitConfig, at: Use) -> PathHeader {
        let Use { rtt_ns, mss_bytes, window_bytes, wanted_bytes } = at;
        let window_bytes = window_bytes.max(mss_bytes).max(1);
        let Some(rtt_ns) = rtt_ns.filter(|&rtt_ns| rtt_ns > 0) else {
            return PathHeader { wire_bytes: config.header_bytes, ..PathHeader::default() };
        };
        let at = PathUse { rtt_ns, packet_bytes: mss_bytes, window_bytes, wanted_bytes };
        let mut header = PathHeader { wire_bytes: config.header_bytes, ..at.header() };
        if config.asks == Asks::Always {
            header.delta_bytes_per_s = i32::MAX;
        }
        self.open.ask(header.delta_bytes_per_s);
        header
    }

    /// What a header tells back, no more than was asked for.
    pub(crate) fn told(&mut self, header: &PathHeader, smoothed_rtt_ns: u64) -> RouterFeedback {
        let bytes_per_s = self.open.believe(header.reverse_bytes_per_s);
        RouterFeedback { bytes_per_s, routers: header.reverse_routers, smoothed_rtt_ns }
    }
}

/// Grants that arrived at a receiver, until they are told. A sum: one acknowledgement covers several segments
/// [XCP 4.1.2].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grants {
    sum_bytes_per_s: i32,
    routers: u8,
    /// The peer's packets carry headers.
    are_expected: bool,
}

impl Grants {
    /// A header arrived with data.
    pub(crate) fn take(&mut self, header: &PathHeader) {
        if header.is_for_routers() {
            self.sum_bytes_per_s = self.sum_bytes_per_s.saturating_add(header.delta_bytes_per_s);
            self.routers = header.routers;
            self.are_expected = true;
        }
    }

    /// True if there is something to tell, though nothing is asked for.
    pub(crate) fn are_expected(self) -> bool {
        self.are_expected
    }

    /// Header of the next segment that leaves: what it asks for, if anything, with what is told.
    pub(crate) fn tell(&mut self, asked: Option<PathHeader>, config: ExplicitConfig) -> Option<PathHeader> {
        let minimal = || PathHeader {
            format: HeaderFormat::Minimal,
            wire_bytes: config.header_bytes,
            ..PathHeader::default()
        };
        let header = asked.or_else(|| self.are_expected.then(minimal))?;
        let reverse_bytes_per_s = core::mem::take(&mut self.sum_bytes_per_s);
        Some(PathHeader { reverse_bytes_per_s, reverse_routers: self.routers, ..header })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skyhaul_core::{HeaderTime, MS};

    const CONFIG: ExplicitConfig = ExplicitConfig { asks: Asks::Window, header_bytes: 20 };

    fn used(window_bytes: u64, wanted_bytes: u64) -> Use {
        Use { rtt_ns: Some(100 * MS), mss_bytes: 1000, window_bytes, wanted_bytes }
    }

    #[test]
    fn a_sender_asks_for_the_window_that_it_could_use_in_equal_parts() {
        let header = Asking::default().ask(CONFIG, used(10_000, 30_000));
        assert_eq!(header.inter_packet, HeaderTime::from_ns(10 * MS));
        assert_eq!(header.rtt, HeaderTime::from_ns(100 * MS));
        // 20 000 octets a round trip are 200 000 a second, in ten packets.
        assert_eq!(header.delta_bytes_per_s, 20_000);
        assert_eq!(Asking::default().ask(CONFIG, used(30_000, 10_000)).delta_bytes_per_s, 0);
        let always = ExplicitConfig { asks: Asks::Always, ..CONFIG };
        assert_eq!(Asking::default().ask(always, used(30_000, 10_000)).delta_bytes_per_s, i32::MAX);
    }

    #[test]
    fn before_the_first_round_trip_nothing_is_known_and_nothing_asked_for() {
        let unknown = Use { rtt_ns: None, ..used(10_000, u64::MAX) };
        assert_eq!(Asking::default().ask(CONFIG, unknown), PathHeader::default());
    }

    #[test]
    fn extremes_are_the_nearest_that_can_be_said() {
        let huge =
            Use { rtt_ns: Some(u64::MAX), mss_bytes: u64::MAX, window_bytes: 0, wanted_bytes: u64::MAX };
        assert_eq!(Asking::default().ask(CONFIG, huge).inter_packet, HeaderTime::MAX);
        let fast = Use { rtt_ns: Some(1), ..used(1, u64::MAX) };
        assert_eq!(Asking::default().ask(CONFIG, fast).delta_bytes_per_s, i32::MAX);
        assert_eq!(Asking::default().ask(CONFIG, fast).inter_packet.units(), 1);
    }

    #[test]
    fn no_more_is_believed_than_was_asked_for() {
        let mut asking = Asking::default();
        asking.ask(CONFIG, used(10_000, 30_000));
        let mut told = |reverse_bytes_per_s| {
            let header = PathHeader { reverse_bytes_per_s, ..PathHeader::default() };
            asking.told(&header, MS).bytes_per_s
        };
        assert_eq!([told(15_000), told(15_000), told(15_000)], [15_000, 5000, 0]);
        assert_eq!(told(i32::MIN), i32::MIN, "taking away needs nobody's asking");
        assert_eq!(told(1), 0, "and opens nothing");
    }

    #[test]
    fn an_acknowledgement_tells_the_sum_once() {
        let mut grants = Grants::default();
        assert_eq!(grants.tell(None, CONFIG), None);
        for delta_bytes_per_s in [700, -200] {
            grants.take(&PathHeader { delta_bytes_per_s, routers: 2, ..PathHeader::default() });
        }
        let minimal =
            PathHeader { format: HeaderFormat::Minimal, reverse_routers: 2, ..PathHeader::default() };
        assert_eq!(grants.tell(None, CONFIG), Some(PathHeader { reverse_bytes_per_s: 500, ..minimal }));
        grants.take(&PathHeader { delta_bytes_per_s: 9, ..minimal });
        assert_eq!(grants.tell(None, CONFIG), Some(minimal), "minimal headers grant nothing");
    }
}
