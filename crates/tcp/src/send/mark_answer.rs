//! Answers to marks of routers: the sender's half of explicit congestion notification [RFC 3168 6.1.2].

/// Marks that the peer saw, and what it is to be told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkAnswer {
    /// The window was reduced, and the peer is not told yet.
    tells_reduced: bool,
    /// Further echoes below this number belong to the window already answered.
    answered_to: u64,
}

impl MarkAnswer {
    /// One past what belongs to the window that was answered last.
    pub(super) fn answered_to(&self) -> u64 {
        self.answered_to
    }

    /// A mark is answered: everything sent so far, up to `max`, belongs to it.
    pub(super) fn answer(&mut self, max: u64) {
        self.answered_to = max;
    }

    /// The window was reduced, for whatever reason: the peer is told where both speak of marks (`is_agreed`).
    pub(super) fn on_window_reduced(&mut self, is_agreed: bool) {
        self.tells_reduced = is_agreed;
    }

    /// True after a reduction, until a segment says so.
    pub(super) fn tells_reduced(&self) -> bool {
        self.tells_reduced
    }

    /// The segment that leaves now says so.
    pub(super) fn reduced_told(&mut self) {
        self.tells_reduced = false;
    }
}
