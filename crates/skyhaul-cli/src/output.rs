//! Standard output and error; a reader that went away is no reason to panic.

use std::io::{ErrorKind, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::errors::ErrorCode;
use crate::failure::Failure;

/// True after [`be_quiet`]: a property of the process, as its standard error is.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Has [`note`] tell nothing from now on.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let message = format!("cannot write the result to standard output: {error}");
            Err(Failure::of(ErrorCode::OutputFailed, message))
        }
        _ => Ok(()),
    }
}

/// Tells people something on standard error, unless they want quiet.
pub(crate) fn note(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        error(text);
    }
}

/// Tells people an error on standard error.
pub(crate) fn error(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
