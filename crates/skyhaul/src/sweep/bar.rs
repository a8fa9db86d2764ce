//! Progress of a sweep on a terminal, silence in a pipe.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::SimulateArgs;
use crate::progress::TICK;

/// A bar on standard error that goes away at the end.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn new(runs: usize, args: &SimulateArgs) -> Self {
        let bar = ProgressBar::new(runs as u64);
        if args.quiet || args.shown.json || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template("{pos} of {len} runs [{wide_bar}] {eta} to go") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }

    pub(super) fn advance(&self, runs: usize) {
        self.0.inc(runs as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
