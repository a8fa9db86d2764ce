//! Asking.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ControlAnswer, ControlRequest};

/// Time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nobody listens there.
    #[error("no emulation listens at {}", .0.display())]
    Nobody(PathBuf),
    /// It listens, and did not answer.
    #[error("the emulation at {} did not answer: {}", .0.display(), .1)]
    Silent(PathBuf, io::Error),
}

/// Asks the emulation that listens at `path`.
pub fn ask(path: &Path, request: &ControlRequest) -> Result<ControlAnswer, ControlError> {
    let stream = UnixStream::connect(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => ControlError::Nobody(path.to_path_buf()),
        _ => ControlError::Silent(path.to_path_buf(), error),
    })?;
    exchange(&stream, request).map_err(|error| ControlError::Silent(path.to_path_buf(), error))
}

fn exchange(mut stream: &UnixStream, request: &ControlRequest) -> io::Result<ControlAnswer> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut text = serde_json::to_string(request)?;
    text.push('\n');
    stream.write_all(text.as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.is_empty() {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&line)?)
}
