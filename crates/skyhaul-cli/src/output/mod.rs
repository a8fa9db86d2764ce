//! Standard output and error; a reader that went away is no reason to panic, and one that does not read is no
//! reason to stand still: a command that has connections writes by a thread of its own.

mod lane;
mod streams;

use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::errors::ErrorCode;
use crate::failure::Failure;
use lane::{Kind, Lane, Text};
use streams::{Stream, System, are_one};

/// True after [`be_quiet`]: a property of the process, as its standard error is.
static IS_QUIET: AtomicBool = AtomicBool::new(false);
/// Threads that write, after [`begin`]: a property of the process, too.
static LANES: OnceLock<Lanes> = OnceLock::new();

/// Time without a sign of a reader after which a result is given up at the end.
const RESULT_PATIENCE: Duration = Duration::from_secs(10);
/// The same of everything else.
const NOTE_PATIENCE: Duration = Duration::from_secs(1);

/// What draws the progress line: its text now, or none.
pub(crate) type Drawer = Box<dyn FnMut(Instant) -> Option<String> + Send>;

/// The lanes of both streams: one if they are one file, so that the order of lines stays.
struct Lanes {
    result: Lane,
    note: Lane,
}

/// Has threads of their own write from now on. Whoever calls this calls [`finish`] in the end.
pub(crate) fn begin() {
    LANES.get_or_init(|| {
        let note = Lane::start(System, Stream::Error);
        let result = if are_one() { note.clone() } else { Lane::start(System, Stream::Output) };
        Lanes { result, note }
    });
}

/// Has [`note`] tell nothing from now on.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Writes a result to standard output. Behind [`begin`] it never waits, and failures are told by [`finish`].
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text = text.to_owned();
    print_later(text.len(), move |out| out.write_all(text.as_bytes()))
}

/// As [`print`], a result that `write` makes when its turn comes, and that takes `held_bytes` until then.
pub(crate) fn print_later(
    held_bytes: usize,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
) -> Result<(), Failure> {
    if let Some(lanes) = LANES.get() {
        lanes.result.put(Text {
            stream: Stream::Output,
            kind: Kind::Result,
            held_bytes,
            write: Box::new(write),
        });
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::of(ErrorCode::OutputFailed, cannot_write(&error)))
        }
        _ => Ok(()),
    }
}

fn cannot_write(error: &io::Error) -> String {
    format!("cannot write the result to standard output: {error}")
}

/// Tells people something on standard error, unless they want quiet.
pub(crate) fn note(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        error(text);
    }
}

/// Tells people an error on standard error.
pub(crate) fn error(text: &str) {
    match LANES.get() {
        Some(lanes) => lanes.note.put(Text::new(Stream::Error, Kind::Note, format!("{text}\n"))),
        None => drop(writeln!(io::stderr(), "{text}")),
    }
}

/// Has the thread of standard error draw a progress line below everything else.
pub(crate) fn draw(drawer: Drawer) {
    if let Some(lanes) = LANES.get() {
        lanes.note.draw(drawer);
    }
}

/// Has the progress line looked at again: there may be something to draw.
pub(crate) fn redraw() {
    if let Some(lanes) = LANES.get() {
        lanes.note.redraw();
    }
}

/// Writes what waits, for as long as somebody reads. False if a result could not be written, which is said.
pub(crate) fn finish() -> bool {
    let Some(lanes) = LANES.get() else { return true };
    let is_written = lanes.result.finish(RESULT_PATIENCE, NOTE_PATIENCE);
    let failure = lanes.result.failure();
    if let Some(failure) = &failure {
        error(&format!("skyhaul: {}", cannot_write(failure)));
    } else if !is_written {
        error("skyhaul: the result was not written: nobody reads standard output");
    }
    lanes.note.finish(NOTE_PATIENCE, NOTE_PATIENCE);
    is_written && failure.is_none()
}
