//! A chunk on its way into its file. The writing is done on tokio's threads for blocking work: a disk that
//! takes its time must not keep the session's thread from the network. One chunk at a time; meanwhile
//! nothing more is read, so the sender is slowed down instead of memory filled.

use tokio::task::{JoinHandle, spawn_blocking};

use crate::reason::{Code, Reason};

/// The chunk's file, and whether it is in it.
pub(crate) type Stored = (u32, Result<(), Reason>);

type Job = JoinHandle<(Vec<u8>, Result<(), Reason>)>;

/// The chunk that is being written, if any.
#[derive(Debug, Default)]
pub(crate) struct Storing {
    job: Option<(u32, Job)>,
    /// The memory of the last chunk, for the next.
    spare: Vec<u8>,
}

impl Storing {
    pub(crate) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Hands `data` to `write` elsewhere; to be called only while nothing else is stored.
    pub(crate) fn start(
        &mut self,
        file: u32,
        data: &[u8],
        write: impl FnOnce(&[u8]) -> Result<(), Reason> + Send + 'static,
    ) {
        let mut copy = std::mem::take(&mut self.spare);
        copy.clear();
        copy.extend_from_slice(data);
        let work = move || {
            let written = write(&copy);
            (copy, written)
        };
        self.job = Some((file, spawn_blocking(work)));
    }

    /// Waits for the chunk; never ends while there is none. May be cancelled without loss.
    pub(crate) async fn next(&mut self) -> Stored {
        let Some((file, job)) = &mut self.job else { return std::future::pending().await };
        let (file, done) = (*file, job.await);
        self.job = None;
        let (memory, written) = done.unwrap_or_else(|_| (Vec::new(), Err(died())));
        self.spare = memory;
        (file, written)
    }
}

fn died() -> Reason {
    Reason::new(Code::Storage, "the file cannot be written: the thread that should have done it died")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_disk_that_takes_its_time_does_not_hold_up_the_thread() {
        let (disk, waits) = mpsc::channel::<()>();
        let mut storing = Storing::default();
        storing.start(7, b"data", move |data| {
            assert_eq!(data, b"data");
            waits.recv().map_err(|_| died())
        });
        tokio::select! {
            biased;
            stored = storing.next() => panic!("{stored:?}"),
            () = tokio::task::yield_now() => {} // the thread is free, and the chunk not lost
        }
        assert!(storing.is_busy());
        disk.send(()).unwrap();
        assert_eq!(storing.next().await, (7, Ok(())));
        assert!(!storing.is_busy());
        assert!(storing.spare.capacity() >= 4, "the memory is used again");
    }

    #[tokio::test]
    async fn a_thread_that_dies_fails_the_file() {
        let mut storing = Storing::default();
        storing.start(3, b"", |_| panic!("a test drops its plates"));
        let (file, written) = storing.next().await;
        assert_eq!((file, written.map_err(|reason| reason.code)), (3, Err(Code::Storage)));
    }
}
