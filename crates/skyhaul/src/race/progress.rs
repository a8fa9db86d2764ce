//! How many runs are over, on a terminal; silence in a pipe.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::progress::TICK;

/// A bar on standard error that goes away at the end.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(runs: usize, quiet: bool) -> Self {
        let bar = ProgressBar::new(runs as u64);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{pos} of {len} runs [{bar:20}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    /// Says what is under way.
    pub(super) fn tell(&self, what: &str) {
        self.0.set_message(what.to_string());
    }

    pub(super) fn advance(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
