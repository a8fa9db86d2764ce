//! A thread that writes, and the queue before it. Nobody waits for either while a command works.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Drawer;
use super::streams::{Stream, Write};
use crate::counted::counted;
use crate::progress::TICK;

/// Bytes of notes that wait; further ones are dropped and counted.
const MAX_NOTE_BYTES: usize = 64 * 1024;
/// Bytes of results that wait; further ones are dropped and counted. One at a time that is larger is taken
/// beside them, whatever its size: others have their room all the same.
const MAX_RESULT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of one call to the system: each is a sign that somebody reads. What a pipe takes at once.
const STEP_BYTES: usize = 4096;
/// The cursor to the beginning of its line, and that emptied.
const ERASE: &str = "\r\x1b[2K";

/// How much it matters that a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Results.
    Result,
    /// Everything else.
    Note,
}

impl Kind {
    /// Bytes that may wait.
    fn most_bytes(self) -> usize {
        match self {
            Self::Result => MAX_RESULT_BYTES,
            Self::Note => MAX_NOTE_BYTES,
        }
    }
}

/// What is written, when its turn comes.
type Writing = Box<dyn FnOnce(&mut dyn io::Write) -> io::Result<()> + Send>;

/// Something to write.
pub(super) struct Text {
    pub(super) stream: Stream,
    pub(super) kind: Kind,
    /// Memory that it takes until it is written.
    pub(super) held_bytes: usize,
    pub(super) write: Writing,
}

impl Text {
    pub(super) fn new(stream: Stream, kind: Kind, text: String) -> Self {
        let held_bytes = text.len();
        Self { stream, kind, held_bytes, write: Box::new(move |out| out.write_all(text.as_bytes())) }
    }
}

/// True for a result that is larger than all that may wait together.
fn is_large(kind: Kind, held_bytes: usize) -> bool {
    kind == Kind::Result && held_bytes > MAX_RESULT_BYTES
}

/// A queue and its thread.
#[derive(Clone)]
pub(super) struct Lane(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// Wakes the thread.
    work: Condvar,
    /// Wakes who waits for it.
    done: Condvar,
}

#[derive(Default)]
struct Queue {
    texts: VecDeque<Text>,
    /// Bytes that wait: of results, of notes. Those of a larger result are not among them, ...
    waiting: [usize; 2],
    /// ... which waits.
    has_large: bool,
    /// Texts that were dropped since that was last told: results, notes.
    dropped: [u64; 2],
    drawer: Option<Drawer>,
    /// True if the line must be looked at before its next tick.
    is_redrawn: bool,
    /// The kind that the thread is writing now.
    writing: Option<Kind>,
    /// Calls of the system that were through.
    steps: u64,
    /// No line is drawn any more.
    is_ending: bool,
    failure: Option<io::Error>,
}

/// What the thread does next.
enum Work {
    Write(Text),
    /// The progress line is due at this time; without a drawer it goes away.
    Line(Option<Drawer>, Instant),
}

impl Lane {
    /// Starts the thread. The progress line, if any, goes to `line_to`.
    pub(super) fn start(out: impl Write, line_to: Stream) -> Self {
        let shared = Shared { queue: Mutex::default(), work: Condvar::default(), done: Condvar::default() };
        let lane = Self(Arc::new(shared));
        let own = lane.clone();
        let writer = Writer { lane: own, out, line_to, is_drawn: false, drawn_at: None };
        // Without a thread nothing is written: a machine that has none for us runs no transfer either.
        let _ = std::thread::Builder::new().name("output".into()).spawn(move || writer.run());
        lane
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a text, or drops it where too much waits.
    pub(super) fn put(&self, text: Text) {
        let mut queue = self.queue();
        if !queue.has_room(text.kind, text.held_bytes) {
            queue.dropped[text.kind as usize] += 1;
            return;
        }
        queue.take_in(text.kind, text.held_bytes);
        queue.texts.push_back(text);
        self.0.work.notify_one();
    }

    pub(super) fn draw(&self, drawer: Drawer) {
        self.queue().drawer = Some(drawer);
        self.redraw();
    }

    pub(super) fn redraw(&self) {
        self.queue().is_redrawn = true;
        self.0.work.notify_one();
    }

    /// Why a result could not be written.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.queue().failure.take()
    }

    /// Waits until everything is written. While results wait, it gives up when nothing was read for
    /// `result_patience`; of notes alone, for `note_patience`. True if no result is left.
    pub(super) fn finish(&self, result_patience: Duration, note_patience: Duration) -> bool {
        let mut queue = self.queue();
        (queue.is_ending, queue.is_redrawn) = (true, true);
        self.0.work.notify_one();
        while queue.is_busy() {
            let (patience, steps) =
                (if queue.has_results() { result_patience } else { note_patience }, queue.steps);
            let waited = self
                .0
                .done
                .wait_timeout_while(queue, patience, |queue| queue.steps == steps && queue.is_busy());
            let timeout;
            (queue, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return !queue.has_results();
            }
        }
        true
    }
}

impl Queue {
    /// True if something is written or waits to be.
    fn is_busy(&self) -> bool {
        self.writing.is_some() || !self.texts.is_empty() || self.is_redrawn
    }

    fn has_results(&self) -> bool {
        self.waiting[Kind::Result as usize] > 0 || self.has_large
    }

    fn has_room(&self, kind: Kind, bytes: usize) -> bool {
        if is_large(kind, bytes) {
            return !self.has_large;
        }
        let waiting = self.waiting[kind as usize];
        waiting == 0 || waiting + bytes <= kind.most_bytes()
    }

    fn take_in(&mut self, kind: Kind, bytes: usize) {
        if is_large(kind, bytes) {
            self.has_large = true;
        } else {
            self.waiting[kind as usize] += bytes;
        }
    }

    /// A text is written.
    fn let_out(&mut self, kind: Kind, bytes: usize) {
        if is_large(kind, bytes) {
            self.has_large = false;
        } else {
            self.waiting[kind as usize] -= bytes;
        }
    }

    /// The next text; when all are through, how many had to be dropped.
    fn next_text(&mut self) -> Option<Text> {
        let next = self.texts.pop_front().or_else(|| {
            let [results, notes] = std::mem::take(&mut self.dropped);
            let told = [(results, "result"), (notes, "line")].into_iter().filter(|(count, _)| *count > 0);
            let told: Vec<_> = told.map(|(count, what)| counted(count, what)).collect();
            if told.is_empty() {
                return None;
            }
            let text = format!("skyhaul: not written, since nobody read for long: {}\n", told.join(", "));
            self.waiting[Kind::Note as usize] += text.len();
            Some(Text::new(Stream::Error, Kind::Note, text))
        });
        self.writing = next.as_ref().map(|text| text.kind);
        next
    }
}

/// The thread's part.
struct Writer<W> {
    lane: Lane,
    out: W,
    line_to: Stream,
    /// True if the terminal shows a line.
    is_drawn: bool,
    drawn_at: Option<Instant>,
}

impl<W: Write> Writer<W> {
    fn run(mut self) {
        loop {
            match self.next() {
                Work::Write(text) => self.write(text),
                Work::Line(drawer, now) => self.show(drawer, now),
            }
        }
    }

    #[allow(clippy::disallowed_methods, reason = "a terminal is watched in real time")]
    fn next(&mut self) -> Work {
        let lane = self.lane.clone();
        let mut queue = lane.queue();
        loop {
            if let Some(text) = queue.next_text() {
                return Work::Write(text);
            }
            lane.0.done.notify_all();
            let now = Instant::now();
            let next = self.drawn_at.map(|at| at + TICK).filter(|_| self.is_drawn);
            if queue.is_redrawn || next.is_some_and(|at| at <= now) {
                queue.is_redrawn = false;
                queue.writing = Some(Kind::Note);
                self.drawn_at = Some(now);
                let is_ending = queue.is_ending;
                return Work::Line(queue.drawer.take().filter(|_| !is_ending), now);
            }
            let wait = next.map_or(Duration::MAX, |at| at - now);
            let waited = if wait == Duration::MAX {
                lane.0.work.wait(queue)
            } else {
                let waited = lane.0.work.wait_timeout(queue, wait);
                waited.map(|(queue, _)| queue).map_err(|error| PoisonError::new(error.into_inner().0))
            };
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes a text in place of the line, which is drawn again below it.
    fn write(&mut self, text: Text) {
        let was_drawn = self.erase();
        let Text { stream, kind, held_bytes, write } = text;
        let mut out = BufWriter::with_capacity(STEP_BYTES, Steps { writer: self, stream });
        let written = write(&mut out).and_then(|()| out.flush());
        drop(out.into_parts()); // what a failure left is not tried again
        let mut queue = self.lane.queue();
        queue.let_out(kind, held_bytes);
        queue.is_redrawn |= was_drawn;
        queue.writing = None;
        match written {
            Err(error) if kind == Kind::Result && error.kind() != io::ErrorKind::BrokenPipe => {
                queue.failure = Some(error);
            }
            _ => {}
        }
    }

    /// Draws the line, or takes it away. The drawer is asked outside of the lock: it has one of its own.
    fn show(&mut self, mut drawer: Option<Drawer>, now: Instant) {
        match drawer.as_mut().and_then(|drawer| drawer(now)) {
            Some(line) => {
                let _ = self.all(self.line_to, &format!("{ERASE}{line}"));
                self.is_drawn = true;
            }
            None => drop(self.erase()),
        }
        let mut queue = self.lane.queue();
        queue.writing = None;
        queue.drawer = drawer;
    }

    /// Takes the line away; true if there was one.
    fn erase(&mut self) -> bool {
        if self.is_drawn {
            let _ = self.all(self.line_to, ERASE);
        }
        std::mem::take(&mut self.is_drawn)
    }

    fn all(&mut self, stream: Stream, text: &str) -> io::Result<()> {
        Steps { writer: self, stream }.write_all(text.as_bytes())
    }
}

/// One of the streams, in steps.
struct Steps<'a, W> {
    writer: &'a mut Writer<W>,
    stream: Stream,
}

impl<W: Write> io::Write for Steps<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.out.write(self.stream, &bytes[..bytes.len().min(STEP_BYTES)])?;
        self.writer.lane.queue().steps += 1;
        self.writer.lane.0.done.notify_all();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "lane_tests.rs"]
mod tests;
