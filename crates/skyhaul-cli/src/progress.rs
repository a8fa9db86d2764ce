//! Progress on a terminal, silence in a pipe.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skyhaul_files::Event;

use crate::line::{Said, line};
use crate::output;
use crate::sessions::Sessions;

/// Time between two drawings of the line.
pub(crate) const TICK: Duration = Duration::from_millis(200);
/// Columns of a terminal that does not tell.
const USUAL_COLUMNS: usize = 80;

/// The progress line of a process on standard error; all its transfers share it. The thread that writes there
/// draws it: a terminal that is stopped stops nothing else.
#[derive(Clone)]
pub(crate) struct ProgressLine {
    sessions: Arc<Mutex<Sessions>>,
}

/// Part of one transfer in the line; with it that goes, too.
pub(crate) struct TransferBar {
    line: ProgressLine,
    key: u64,
}

/// True where a line can be drawn over: on a terminal that knows how.
fn may_draw(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl ProgressLine {
    /// A line that appears when a transfer begins; hidden where it would disturb.
    pub(crate) fn new(quiet: bool) -> Self {
        let sessions = Arc::<Mutex<Sessions>>::default();
        if may_draw(quiet) {
            let shown = Arc::clone(&sessions);
            output::draw(Box::new(move |now| {
                let mut sessions = locked(&shown);
                sessions.tick(now);
                sessions.are_shown().then(|| line(columns(), &sessions.facts()))
            }));
        }
        Self { sessions }
    }

    /// One more transfer, with these words about its peer.
    pub(crate) fn transfer(&self, peer: impl Into<String>) -> TransferBar {
        let key = locked(&self.sessions).add(peer.into());
        TransferBar { line: self.clone(), key }
    }
}

fn locked(sessions: &Mutex<Sessions>) -> MutexGuard<'_, Sessions> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TransferBar {
    /// The only transfer of a command.
    pub(crate) fn alone(quiet: bool, peer: impl Into<String>) -> Self {
        ProgressLine::new(quiet).transfer(peer)
    }

    /// Shows the line: so many files and bytes are to move.
    pub(crate) fn begin(&self, files: u32, total: u64) {
        self.locked().begin(self.key, files, total);
        output::redraw();
    }

    /// Shows that `bytes` of them are there.
    pub(crate) fn moved(&self, bytes: u64, total: u64) {
        self.locked().moved(self.key, bytes, total);
    }

    /// Takes what a session tells of its files; a receiving one also tells by it what has moved.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Started { files, bytes } => self.begin(*files, *bytes),
            Event::File { file, name, .. } => self.locked().file(self.key, *file, name),
            Event::Moved { bytes, total } => self.moved(*bytes, *total),
            _ => {}
        }
    }

    /// Text beside the figures, see [`Said`].
    pub(crate) fn say(&self, said: Said) {
        self.locked().say(self.key, said);
    }

    /// True if everything is there.
    pub(crate) fn is_full(&self) -> bool {
        self.locked().is_full(self.key)
    }

    fn locked(&self) -> MutexGuard<'_, Sessions> {
        locked(&self.line.sessions)
    }
}

impl Drop for TransferBar {
    fn drop(&mut self) {
        self.locked().end(self.key);
        output::redraw();
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
        if !may_draw(quiet) {
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

/// Width of the terminal at standard error.
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0).unwrap_or(USUAL_COLUMNS)
}
