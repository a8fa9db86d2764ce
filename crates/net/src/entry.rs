//! Entry of a connection beside the engine: who waits for it.

use skyhaul_core::{CloseReason, StreamEvent};
use std::task::{Context, Waker};

/// Bytes read by the application after which the engine may want to offer the peer a new window.
const ANNOUNCE_BYTES: usize = 64 << 10;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Both sides finished.
    Clean,
    /// Something else happened.
    Broken(CloseReason),
}

/// What somebody waits for the peer to prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proof {
    /// That it receives at its address.
    Address,
    /// That what came of it is its own, and of now.
    Origin,
}

/// A connection as its streams see it.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Who waits for each [`Proof`].
    provers: [Option<Waker>; 2],
    /// The peer accepted, or was accepted.
    pub(crate) is_connected: bool,
    /// The peer has confirmed everything, and the end.
    pub(crate) is_finished: bool,
    /// How the connection ended, if it has.
    pub(crate) end: Option<End>,
    /// No stream is left.
    pub(crate) is_released: bool,
    /// Bytes read since the driver was last told.
    unannounced_bytes: usize,
    announce_bytes: usize,
}

impl Entry {
    /// A connection that holds at most `receive_limit_bytes` for its reader.
    pub(crate) fn new(is_connected: bool, receive_limit_bytes: u64) -> Self {
        let share = usize::try_from(receive_limit_bytes / 16).unwrap_or(usize::MAX);
        Self {
            is_connected,
            announce_bytes: share.min(ANNOUNCE_BYTES),
            unannounced_bytes: ANNOUNCE_BYTES, // the first read may release a held opening
            ..Self::default()
        }
    }

    /// Wakes the task of `cx` when there is something to read.
    pub(crate) fn wait_to_read(&mut self, cx: &Context<'_>) {
        wait(&mut self.reader, cx);
    }

    /// Wakes the task of `cx` when there is room, and at every step of the connection's life.
    pub(crate) fn wait_to_write(&mut self, cx: &Context<'_>) {
        wait(&mut self.writer, cx);
    }

    /// Wakes the task of `cx` when the peer has proven it, or is gone.
    pub(crate) fn wait_for_proof(&mut self, proof: Proof, cx: &Context<'_>) {
        wait(&mut self.provers[proof as usize], cx);
    }

    /// True if somebody waits for that proof.
    pub(crate) fn awaits_proof(&self, proof: Proof) -> bool {
        self.provers[proof as usize].is_some()
    }

    /// Who waits for that proof.
    pub(crate) fn prove(&mut self, proof: Proof) -> Option<Waker> {
        self.provers[proof as usize].take()
    }

    /// Takes note of an event; gives those who should look.
    pub(crate) fn on_event(&mut self, event: StreamEvent) -> [Option<Waker>; 4] {
        match event {
            StreamEvent::Readable => return [self.reader.take(), None, None, None],
            StreamEvent::Writable => {}
            StreamEvent::Connected => self.is_connected = true,
            StreamEvent::Finished => self.is_finished = true,
            StreamEvent::Closed(reason) => {
                self.end = Some(reason.map_or(End::Clean, End::Broken));
                return self.everybody();
            }
        }
        [self.writer.take(), None, None, None]
    }

    /// Who waits for what was written to leave.
    pub(crate) fn departed(&mut self) -> Option<Waker> {
        self.writer.take()
    }

    /// All who wait.
    pub(crate) fn everybody(&mut self) -> [Option<Waker>; 4] {
        let [address, origin] = &mut self.provers;
        [self.reader.take(), self.writer.take(), address.take(), origin.take()]
    }

    /// Counts what a reader took (0: it found nothing) and says whether the driver should look: often
    /// enough for the peer's window to open in time, not after every small read.
    pub(crate) fn has_read(&mut self, bytes: usize) -> bool {
        self.unannounced_bytes += bytes;
        let due = self.unannounced_bytes >= self.announce_bytes || (bytes == 0 && self.unannounced_bytes > 0);
        if due {
            self.unannounced_bytes = 0;
        }
        due
    }
}

fn wait(slot: &mut Option<Waker>, cx: &Context<'_>) {
    match slot {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *slot = Some(cx.waker().clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_hears_of_the_first_read_of_much_and_of_the_last() {
        let mut entry = Entry::new(true, 64 << 20);
        assert!(entry.has_read(0), "a held opening");
        assert!(!entry.has_read(1000) && !entry.has_read(60_000));
        assert!(entry.has_read(6000));
        assert!(!entry.has_read(10) && entry.has_read(0), "the reader found nothing more");
        assert!(!entry.has_read(0), "nothing new to tell");
    }

    #[test]
    fn small_windows_are_announced_in_small_steps() {
        let mut entry = Entry::new(true, 64_000);
        assert!(entry.has_read(1) && !entry.has_read(3999) && entry.has_read(1));
    }

    #[test]
    fn each_event_wakes_those_whom_it_concerns() {
        let cx = Context::from_waker(Waker::noop());
        let mut entry = Entry::new(false, 1000);
        let mut count = |event| {
            entry.wait_to_read(&cx);
            entry.wait_to_write(&cx);
            entry.on_event(event).into_iter().flatten().count()
        };
        assert_eq!(count(StreamEvent::Connected), 1);
        assert_eq!(count(StreamEvent::Readable), 1);
        assert_eq!(count(StreamEvent::Closed(None)), 2);
        assert!(entry.is_connected && !entry.is_finished && entry.end == Some(End::Clean));
    }
}
