//! Progress on a terminal, silence in a pipe.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skyhaul_files::Event;

/// A progress line on standard error.
#[derive(Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A line that appears with the first payload; hidden where it would disturb.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template(
            "{percent:>3} % {bar:30} {decimal_bytes}/{decimal_total_bytes}  {decimal_bytes_per_sec}  {msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    /// Takes what a file session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Started { bytes, .. } => {
                self.0.set_length(*bytes);
                self.0.enable_steady_tick(Duration::from_millis(200));
            }
            Event::Moved { bytes, total } => {
                self.0.set_length(*total);
                self.0.set_position(*bytes);
            }
            _ => {}
        }
    }

    /// Text behind the figures: the state of the link.
    pub(crate) fn say(&self, text: String) {
        self.0.set_message(text);
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
