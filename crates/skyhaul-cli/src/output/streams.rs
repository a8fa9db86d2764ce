//! The two streams of a process.

use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Error,
}

/// Something that writes to them, and may wait for a reader as long as it takes.
pub(super) trait Write: Send + 'static {
    /// Writes some of `bytes`, at least one.
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<usize>;
}

/// The streams of this process. Nothing is buffered.
pub(super) struct System;

impl Write for System {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<usize> {
        let (out, err) = (io::stdout(), io::stderr());
        let fd = if stream == Stream::Output { out.as_fd() } else { err.as_fd() };
        loop {
            match rustix::io::write(fd, bytes) {
                Err(Errno::INTR) => {}
                // Whoever started this process made the stream so.
                Err(Errno::AGAIN) => drop(poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::OUT)], None)),
                done => return Ok(done?),
            }
        }
    }
}

/// True if both lead to one file, pipe or terminal.
pub(super) fn are_one() -> bool {
    let (Ok(out), Ok(err)) = (rustix::fs::fstat(io::stdout()), rustix::fs::fstat(io::stderr())) else {
        return false;
    };
    (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino)
}
