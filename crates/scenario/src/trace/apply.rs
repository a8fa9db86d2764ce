//! From a trace to the schedule of a link.

use skyhaul_core::Instant;
use skyhaul_link::{LinkConfig, Outage, ScheduleStep};

use super::{MAX_TRACE_ROWS, Row, Trace};

/// How long a trace is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// Once; its last row holds to the end.
    Once,
    /// Again and again until this time: it begins anew at the time of its last row.
    RepeatedUntil {
        /// End of the run.
        end_ns: u64,
    },
}

impl Trace {
    /// Adds what the trace says to a link. What it does not say stays as the link has it.
    ///
    /// # Errors
    /// Repeats the trace; the error says what was found and what is allowed.
    pub(crate) fn apply(&self, config: &mut LinkConfig, span: Span) -> Result<(), [String; 2]> {
        let cycles = self.cycles(span)?;
        let period_ns = self.period_ns();
        let rows = (0..cycles).flat_map(|cycle| {
            self.rows.iter().map(move |row| Row { at_ns: row.at_ns + cycle * period_ns, ..*row })
        });
        let mut down = Down::default();
        for row in rows {
            for (way, port) in [&mut config.forward, &mut config.reverse].into_iter().zip(0..) {
                let step = next_step(way, &row, port);
                way.schedule.extend(step);
            }
            down.follow(&row);
        }
        config.outages.extend(down.until(Instant::MAX));
        config.outages = Outage::merged(std::mem::take(&mut config.outages));
        Ok(())
    }

    fn period_ns(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.at_ns)
    }

    /// How often it is followed.
    fn cycles(&self, span: Span) -> Result<u64, [String; 2]> {
        let Span::RepeatedUntil { end_ns } = span else { return Ok(1) };
        if self.period_ns() == 0 {
            return Err([
                "a trace of one row".into(),
                "at least two rows, as the last one says when it repeats".into(),
            ]);
        }
        let cycles = end_ns.div_ceil(self.period_ns());
        let rows = cycles.saturating_mul(self.rows.len() as u64);
        if rows > MAX_TRACE_ROWS as u64 {
            return Err([format!("{rows} rows until `run.duration`"), format!("at most {MAX_TRACE_ROWS}")]);
        }
        Ok(cycles)
    }
}

/// When a trace says that the link is down.
#[derive(Default)]
struct Down {
    outages: Vec<Outage>,
    since: Option<Instant>,
}

impl Down {
    fn follow(&mut self, row: &Row) {
        let at = Instant::from_ns(row.at_ns);
        match row.is_up {
            Some(false) => self.since = self.since.or(Some(at)),
            Some(true) => self.outages.extend(self.since.take().map(|from| Outage { from, to: at })),
            None => {}
        }
    }

    /// All outages, the last of which may last until `end`.
    fn until(mut self, end: Instant) -> Vec<Outage> {
        self.outages.extend(self.since.map(|from| Outage { from, to: end }));
        // Where the trace begins again, its last row is not in force for any time.
        self.outages.retain(|outage| outage.from < outage.to);
        self.outages
    }
}

/// Change of a direction by a row, if any.
fn next_step(way: &mut skyhaul_link::DirectionConfig, row: &Row, port: usize) -> Option<ScheduleStep> {
    let at = Instant::from_ns(row.at_ns);
    let base = way.first_step();
    // Where the trace begins again, its last row is not in force for any time.
    let replaced = way.schedule.pop_if(|last| last.at == at);
    let before = way.schedule.last().copied().unwrap_or(base);
    let held = replaced.unwrap_or(before);
    let step = ScheduleStep {
        at,
        rate_bps: row.rate_bps[port].or(held.rate_bps),
        delay_ns: row.delay_ns[port].unwrap_or(held.delay_ns),
        mtu_bytes: row.mtu_bytes[port].or(held.mtu_bytes),
    };
    (ScheduleStep { at: before.at, ..step } != before).then_some(step)
}
