//! Repeats that were not needed: the answer to the original comes after all [RFC 3522, RFC 4015].

use skyhaul_core::Instant;

use super::{Connection, Context};
use crate::segment::Segment;
use crate::sequence::is_earlier;

impl Connection {
    /// Something goes again for the first time. Only timestamps tell its answer from the original's.
    pub(super) fn doubt_repeat(&mut self, now: Instant) {
        if self.agreed.timestamps && self.doubt.is_none() {
            self.doubt = Some(self.clock(now));
        }
    }

    /// The first acknowledgement of something new since. One that echoes a clock from before the repeat was
    /// sent answers the original: nothing was lost, and everything goes on as before.
    pub(super) fn resolve_doubt(&mut self, segment: &Segment<'_>, context: &mut Context<'_>) {
        let Some(repeated_at) = self.doubt.take() else { return };
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        if echo.is_some_and(|echo| echo != 0 && is_earlier(echo, repeated_at)) {
            self.stats.spurious_repairs += 1;
            self.repair = None;
            self.sending.nxt = self.sending.max;
            self.recovered_to = self.sending.una;
            self.told_event = false;
            self.controller.on_spurious(context.now);
        }
    }
}
