//! Progress on a terminal, silence in a pipe.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skyhaul_files::Event;

use crate::rate::RecentRate;

/// How often the line is drawn anew.
pub(crate) const TICK: Duration = Duration::from_millis(200);

/// A progress line on standard error.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A line that appears when a transfer begins; hidden where it would disturb.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        // What matters most comes first: a narrow terminal cuts the end off.
        let style = ProgressStyle::with_template(
            "{percent:>3} % [{bar:12}] of {decimal_total_bytes}, {rate}  {wide_msg}",
        );
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> ").with_key("rate", RecentRate::default()));
        }
        Self(bar)
    }

    /// So many bytes are to move: shows the line.
    pub(crate) fn begin(&self, total: u64) {
        self.0.set_length(total);
        self.0.reset();
        self.0.enable_steady_tick(TICK);
    }

    /// So many of them are there.
    pub(crate) fn moved(&self, bytes: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(bytes);
    }

    /// Takes what the receiving session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Started { bytes, .. } => self.begin(*bytes),
            Event::Moved { bytes, total } => self.moved(*bytes, *total),
            _ => {}
        }
    }

    /// Text behind the figures: the state of the link.
    pub(crate) fn say(&self, text: impl Into<String>) {
        self.0.set_message(text.into());
    }

    /// Whether everything is there.
    pub(crate) fn is_full(&self) -> bool {
        self.0.length().is_some_and(|total| self.0.position() >= total)
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
