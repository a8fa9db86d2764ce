//! A chunk on its way out of its file. The reading is done on tokio's threads for blocking work: a disk that
//! takes its time must not keep the session's thread from the network, and what was read is sent meanwhile.
//! One chunk at a time, beside the one that is being sent.

use tokio::task::{JoinHandle, spawn_blocking};

use crate::digest::Digest;
use crate::reason::{Code, Reason};

/// Chunk of a file, by both their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: u32,
    pub(crate) chunk: u32,
}

/// What reading gave: memory with the chunk's record in it, and the chunk's digest.
type Fetched = (Vec<u8>, Result<Digest, Reason>);

/// The chunk that is being read, or was read and not taken yet, if any.
#[derive(Debug, Default)]
pub(crate) struct Fetching {
    job: Option<(Place, JoinHandle<Fetched>)>,
    fetched: Option<(Place, Fetched)>,
    /// Memory of the last chunk, for the next.
    spare: Vec<u8>,
}

impl Fetching {
    /// Has `read` fill a record of `octets` elsewhere, unless a chunk is being read already: another one,
    /// which nobody may want any more, comes to its end first, so that a disk that takes its time has one
    /// thread.
    pub(crate) fn start(
        &mut self,
        place: Place,
        octets: usize,
        read: impl FnOnce(&mut [u8]) -> Result<Digest, Reason> + Send + 'static,
    ) {
        if self.job.is_some() {
            return;
        }
        let mut room = std::mem::take(&mut self.spare);
        room.resize(octets, 0);
        let work = move || {
            let digest = read(&mut room);
            (room, digest)
        };
        self.job = Some((place, spawn_blocking(work)));
    }

    /// Gives the record of a chunk to `put`, if it was read; what its reading came to, then. Whatever memory
    /// `put` leaves there is used again.
    pub(crate) fn take(
        &mut self,
        place: Place,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Option<Result<Digest, Reason>> {
        let (_, (mut record, digest)) = self.fetched.take_if(|(fetched, _)| *fetched == place)?;
        if digest.is_ok() {
            put(&mut record);
        }
        self.spare = record;
        Some(digest)
    }

    /// Waits until what is being read was read; never ends while nothing is. May be cancelled without loss.
    pub(crate) async fn done(&mut self) {
        let Some((place, job)) = &mut self.job else { return std::future::pending().await };
        let (place, read) = (*place, job.await);
        self.job = None;
        self.fetched = Some((place, read.unwrap_or_else(|_| (Vec::new(), Err(died())))));
    }
}

fn died() -> Reason {
    Reason::new(Code::Unreadable, "the file cannot be read: the thread that should have done it died")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::digest::chunk_digest;

    const FIRST: Place = Place { file: 7, chunk: 0 };
    const SECOND: Place = Place { file: 7, chunk: 1 };

    fn read(fill: u8) -> impl FnOnce(&mut [u8]) -> Result<Digest, Reason> {
        move |room| {
            room.fill(fill);
            Ok(chunk_digest(0, 1, room))
        }
    }

    fn taken(fetching: &mut Fetching, place: Place) -> Option<Vec<u8>> {
        let mut record = None;
        fetching.take(place, |octets| record = Some(octets.clone())).map(|digest| {
            assert!(digest.is_ok());
            record.unwrap()
        })
    }

    #[tokio::test]
    async fn a_disk_that_takes_its_time_does_not_hold_up_the_thread() {
        let (disk, waits) = mpsc::channel::<()>();
        let mut fetching = Fetching::default();
        let slow = move |room: &mut [u8]| {
            waits.recv().map_err(|_| died())?;
            read(1)(room)
        };
        fetching.start(FIRST, 3, slow);
        tokio::select! {
            biased;
            () = fetching.done() => panic!("nothing was read yet"),
            () = tokio::task::yield_now() => {} // the thread is free, and the chunk not lost
        }
        fetching.start(FIRST, 3, |_| panic!("it is being read"));
        assert!(fetching.job.is_some() && taken(&mut fetching, FIRST).is_none());
        disk.send(()).unwrap();
        fetching.done().await;
        assert!(fetching.job.is_none() && taken(&mut fetching, SECOND).is_none());
        assert_eq!(taken(&mut fetching, FIRST), Some(vec![1; 3]));
        assert!(taken(&mut fetching, FIRST).is_none() && fetching.spare.capacity() >= 3);
    }

    /// Each file that was refused left a thread, and memory for a chunk, behind it.
    #[tokio::test]
    async fn one_chunk_at_a_time_is_read_wanted_or_not() {
        let (disk, waits) = mpsc::channel::<()>();
        let mut fetching = Fetching::default();
        fetching.start(FIRST, 2, move |_| Err(waits.recv().map_or_else(|_| died(), |()| died())));
        fetching.start(SECOND, 2, |_| panic!("the first is being read"));
        disk.send(()).unwrap();
        fetching.done().await;
        assert!(taken(&mut fetching, SECOND).is_none());
        fetching.start(SECOND, 2, read(2));
        fetching.done().await;
        assert_eq!(taken(&mut fetching, SECOND), Some(vec![2; 2]));
    }

    #[tokio::test]
    async fn a_thread_that_dies_fails_the_file() {
        let mut fetching = Fetching::default();
        fetching.start(FIRST, 0, |_| panic!("a test drops its plates"));
        fetching.done().await;
        let failed = fetching.take(FIRST, |_| panic!("there is no record"));
        assert_eq!(failed.map(|digest| digest.map_err(|reason| reason.code)), Some(Err(Code::Unreadable)));
    }
}
