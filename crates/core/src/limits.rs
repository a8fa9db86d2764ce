//! Accounting of what held a sender back, by time. It only observes: nothing is decided by it.

use crate::{Instant, MS, Others};

/// Lateness that the credit of pacers makes up for: what is later than this was lost.
const CREDIT_NS: u64 = 10 * MS;

/// Limit of a sender: the reason for which nothing more left at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Limit {
    /// Nothing was written yet, so that not even the opening has left.
    Unwritten,
    /// Everything that was written is confirmed.
    Settled,
    /// Everything that was written has left, and is not confirmed yet.
    Drained,
    /// The handshake, or the search for a rate: slow start, first measurement.
    Opening,
    /// A rate that the application declared, or its cap.
    DeclaredRate,
    /// The rate or window that the path was found to carry.
    PathRate,
    /// A queue that others keep filled.
    Neighbour,
    /// Packets sent again in the place of new ones.
    Losses,
    /// Packets sent again that a full queue dropped.
    Overflow,
    /// Questions why packets vanish, until [`LimitTimes::judge`] says whose time that was.
    Asking,
    /// The link was gone.
    Outage,
    /// The peer's window is too small for the path.
    PeerWindow,
    /// The peer's window is closed, since its application does not read.
    PeerReader,
    /// The send buffer is full of what is not confirmed.
    SendBuffer,
    /// This machine: what was due left late, or sending took all the time that there was.
    Machine,
}

impl Limit {
    /// Number of limits.
    pub const COUNT: usize = Self::Machine as usize + 1;
    /// Every limit, in the order of the table.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Unwritten,
        Self::Settled,
        Self::Drained,
        Self::Opening,
        Self::DeclaredRate,
        Self::PathRate,
        Self::Neighbour,
        Self::Losses,
        Self::Overflow,
        Self::Asking,
        Self::Outage,
        Self::PeerWindow,
        Self::PeerReader,
        Self::SendBuffer,
        Self::Machine,
    ];

    /// Limits whose time is others' where they have a part of the path: alone, the sender would have had it.
    const SHARED: [Self; 2] = [Self::PathRate, Self::Overflow];

    fn is_shared(self) -> bool {
        Self::SHARED.contains(&self)
    }
}

/// Time by limit, in nanoseconds, and the limit that holds now. Two moments bound what it knows: every
/// nanosecond between its begin and [`Self::until`] is in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitTimes {
    spent_ns: [u64; Limit::COUNT],
    current: Limit,
    since: Instant,
    /// Time at which the sender wanted to be asked again; `None`: only when something happens.
    due: Option<Instant>,
    /// Limit that takes the time of questions which nobody has judged.
    suspected: Limit,
    /// Part of the outages that may have been packets too large for the path, until that is decided.
    doubted_ns: u64,
    /// Time that a confirmation takes on the empty path, and the time that the present one has taken: what
    /// exceeds the first is time of the path's rate, as what has left waits for its turn on the way.
    confirms_ns: u64,
    drained_ns: u64,
    /// What is known of others on the path, and the time of [`Limit::SHARED`] since it is thought that they
    /// may be there.
    others: Others,
    doubtful_ns: [u64; 2],
}

impl Default for LimitTimes {
    fn default() -> Self {
        Self::new(Instant::ZERO)
    }
}

impl LimitTimes {
    /// Table of a sender that begins.
    pub const fn new(now: Instant) -> Self {
        Self {
            spent_ns: [0; Limit::COUNT],
            current: Limit::Unwritten,
            since: now,
            due: None,
            suspected: Limit::Outage,
            doubted_ns: 0,
            confirms_ns: u64::MAX,
            drained_ns: 0,
            others: Others::Absent,
            doubtful_ns: [0; 2],
        }
    }

    /// Takes in that nothing more leaves now, why, and when the sender is to be asked again.
    pub fn rest(&mut self, now: Instant, limit: Limit, due: Option<Instant>) {
        self.book(now);
        if limit != Limit::Drained {
            self.drained_ns = 0;
        }
        (self.current, self.due) = (limit, due);
    }

    /// Takes in how long a confirmation takes on the empty path.
    pub fn confirm_within(&mut self, ns: u64) {
        self.confirms_ns = ns;
    }

    /// Takes in what is known of others on the path. Where it turns out that they are there, the time since
    /// that was thought first is theirs, too; where not, it stays where it is.
    pub fn meet(&mut self, now: Instant, others: Others) {
        if others == self.others {
            return; // asked for every packet; time of an unchanged state is booked whenever that is next done
        }
        self.book(now);
        if others == Others::Present {
            for (limit, ns) in Limit::SHARED.into_iter().zip(self.doubtful_ns) {
                self.spent_ns[limit as usize] -= ns; // a part of it
                self.spent_ns[Limit::Neighbour as usize] += ns;
            }
        }
        if others != Others::Suspected {
            self.doubtful_ns = [0; 2];
        }
        self.others = others;
    }

    /// Takes in that a segment leaves: until the next rest it is up to this machine.
    pub fn depart(&mut self, now: Instant) {
        self.book(now);
        (self.current, self.due) = (Limit::Machine, None);
    }

    /// Takes in that questions begin; their time is that of `suspected` unless it is judged otherwise.
    pub fn ask(&mut self, suspected: Limit) {
        self.suspected = suspected;
    }

    /// Takes in whose time that of the questions was; `None`: as was suspected.
    pub fn judge(&mut self, now: Instant, limit: Option<Limit>) {
        self.book(now);
        let asked_ns = core::mem::take(&mut self.spent_ns[Limit::Asking as usize]);
        self.charge(limit.unwrap_or(self.suspected), asked_ns);
    }

    /// Takes in whether the outages of late were packets too large for the path: then it was the time of
    /// losses.
    pub fn settle_outages(&mut self, were_too_large: bool) {
        let ns = core::mem::take(&mut self.doubted_ns);
        if were_too_large {
            self.spent_ns[Limit::Outage as usize] -= ns;
            self.spent_ns[Limit::Losses as usize] += ns;
        }
    }

    /// The limit that holds now.
    pub fn current(&self) -> Limit {
        match self.current {
            Limit::Asking => self.suspected,
            limit if limit.is_shared() && self.others == Others::Present => Limit::Neighbour,
            limit => limit,
        }
    }

    /// Table as it is at `now` if nothing happens before, without unjudged questions.
    #[must_use]
    pub fn until(&self, now: Instant) -> Self {
        let mut table = *self;
        table.judge(now, None);
        table
    }

    /// Time spent under a limit.
    pub fn spent_ns(&self, limit: Limit) -> u64 {
        self.spent_ns[limit as usize]
    }

    /// Time of all rows.
    pub fn total_ns(&self) -> u64 {
        self.spent_ns.iter().sum()
    }

    /// Part of this time, at most all of it, that a confirmation takes beyond that of the empty path.
    fn take_drained(&mut self, ns: u64) -> u64 {
        if self.current != Limit::Drained {
            return 0;
        }
        self.drained_ns += ns;
        self.drained_ns.saturating_sub(self.confirms_ns).min(ns)
    }

    /// Adds time to the row that it belongs to, as far as is known.
    fn charge(&mut self, limit: Limit, ns: u64) {
        if ns == 0 {
            return;
        }
        let row = match self.others {
            Others::Present if limit.is_shared() => Limit::Neighbour,
            _ => limit,
        };
        self.spent_ns[row as usize] += ns;
        self.doubted_ns += if row == Limit::Outage { ns } else { 0 };
        let place = Limit::SHARED.iter().position(|shared| *shared == row);
        if self.others == Others::Suspected
            && let Some(place) = place
        {
            self.doubtful_ns[place] += ns;
        }
    }

    fn book(&mut self, now: Instant) {
        let passed_ns = now.since(self.since);
        if passed_ns == 0 {
            return;
        }
        let allowed_ns = self.due.map_or(passed_ns, |due| due.after(CREDIT_NS).since(self.since));
        let late_ns = passed_ns.saturating_sub(allowed_ns);
        let booked_ns = passed_ns - late_ns;
        let beyond_ns = self.take_drained(booked_ns);
        self.charge(self.current, booked_ns - beyond_ns);
        self.charge(Limit::PathRate, beyond_ns);
        self.charge(Limit::Machine, late_ns);
        self.since = now;
    }
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
