//! Progress on a terminal, silence in a pipe.

use std::fmt::Write;
use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use skyhaul_files::Event;

use crate::line::{Facts, Said, line};
use crate::output;
use crate::rate::RecentRate;

/// Time between two drawings of the line.
pub(crate) const TICK: Duration = Duration::from_millis(200);
/// Columns of a terminal that does not tell.
const USUAL_COLUMNS: usize = 80;

/// A progress line on standard error.
pub(crate) struct TransferBar {
    bar: ProgressBar,
    said: Arc<Mutex<Said>>,
}

/// Draws the line.
#[derive(Clone)]
struct LineTracker {
    rate: RecentRate,
    said: Arc<Mutex<Said>>,
}

impl TransferBar {
    /// A line that appears when a transfer begins; hidden where it would disturb.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let said = Arc::<Mutex<Said>>::default();
        if let Ok(style) = ProgressStyle::with_template("{line}") {
            bar.set_style(
                style.with_key("line", LineTracker { rate: RecentRate::default(), said: said.clone() }),
            );
        }
        Self { bar, said }
    }

    /// Shows the line: `total` bytes are to move.
    pub(crate) fn begin(&self, total: u64) {
        self.bar.set_length(total);
        self.bar.reset();
        self.bar.enable_steady_tick(TICK);
    }

    /// Shows that `bytes` of them are there.
    pub(crate) fn moved(&self, bytes: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(bytes);
    }

    /// Takes what the receiving session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Started { bytes, .. } => self.begin(*bytes),
            Event::Moved { bytes, total } => self.moved(*bytes, *total),
            _ => {}
        }
    }

    /// Text beside the figures, see [`Said`].
    pub(crate) fn say(&self, said: Said) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = said;
    }

    /// Tells people something that stays, above the line if there is one.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    /// True if everything is there.
    pub(crate) fn is_full(&self) -> bool {
        self.bar.length().is_some_and(|total| self.bar.position() >= total)
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Bar of runs on standard error that goes away at the end.
pub(crate) struct RunsBar(ProgressBar);

impl RunsBar {
    /// Bar of a sweep's runs, with the time that is left; hidden where it would disturb.
    pub(crate) fn of_sweep(runs: usize, quiet: bool) -> Self {
        Self::new(runs, quiet, "{pos} of {len} runs [{wide_bar}] {eta} to go")
    }

    /// Bar of races, with the run that is under way; hidden where it would disturb.
    pub(crate) fn of_races(runs: usize, quiet: bool) -> Self {
        Self::new(runs, quiet, "{pos} of {len} runs [{bar:20}] {msg}")
    }

    fn new(runs: usize, quiet: bool, template: &str) -> Self {
        let bar = ProgressBar::new(runs as u64);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl skyhaul_lab::Progress for RunsBar {
    fn begun(&self, what: &str) {
        self.0.set_message(what.to_string());
    }

    fn finished(&self, runs: usize) {
        self.0.inc(runs as u64);
    }
}

impl Drop for RunsBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl ProgressTracker for LineTracker {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        self.rate.note(state.pos(), now);
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {
        self.rate = RecentRate::default();
    }

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        let (bytes, total_bytes) = (state.pos(), state.len().unwrap_or(0));
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let facts = Facts { bytes, total_bytes, rate: self.rate.words(bytes >= total_bytes), said };
        let _ = out.write_str(&line(columns(), &facts));
    }
}

/// Width of the terminal at standard error.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(USUAL_COLUMNS)
}
