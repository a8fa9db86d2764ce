//! Round trips, told by deliveries.

/// Round trips told by packets: one ends when a packet sent after its start is acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    /// True if this acknowledgement begins one.
    pub(crate) is_start: bool,
    ends_at_bytes: u64,
}

impl Rounds {
    pub(crate) fn update(&mut self, prior_total_bytes: u64, total_bytes: u64) {
        self.is_start = prior_total_bytes >= self.ends_at_bytes;
        if self.is_start {
            self.restart(total_bytes);
            self.count += 1;
        }
    }

    /// Goes on with the running round trip, until [`Self::update`] finds that it ends.
    pub(crate) fn go_on(&mut self) {
        self.is_start = false;
    }

    /// Begins the running round trip here.
    pub(crate) fn restart(&mut self, total_bytes: u64) {
        self.ends_at_bytes = total_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_ends_when_a_packet_sent_after_its_start_is_acknowledged() {
        let mut rounds = Rounds::default();
        rounds.update(0, 1000);
        assert!(rounds.is_start);
        rounds.update(999, 5000);
        assert!(!rounds.is_start);
        rounds.update(1000, 6000);
        assert_eq!((rounds.is_start, rounds.count), (true, 2));
    }
}
