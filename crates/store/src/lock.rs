//! Lock of a folder: whoever changes a file in it does so alone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::file::make_folder;

/// Longest wait for another process that changes a file: all of them are quick. Beyond it, an error.
pub const MAX_LOCK_WAIT_MS: u64 = 5000;
/// Time between two tries.
const TRY_MS: u64 = 10;

/// Lock that is held until it is dropped, or its process ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held")] File);

impl Lock {
    /// Lock of a folder, which is made if it is not there. Of several processes and threads one has it.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] after [`MAX_LOCK_WAIT_MS`]; others as the system says.
    pub fn of(folder: &Path) -> io::Result<Self> {
        make_folder(folder)?;
        let file = File::open(folder)?;
        for _ in 0..MAX_LOCK_WAIT_MS / TRY_MS {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => wait(),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

#[expect(clippy::disallowed_methods, reason = "files are of the real world")]
fn wait() {
    std::thread::sleep(Duration::from_millis(TRY_MS));
}
