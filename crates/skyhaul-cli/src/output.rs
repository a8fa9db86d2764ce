//! Standard output and error; a reader that went away is no reason to panic.

use std::io::{ErrorKind, Write as _};

use crate::failure::Failure;

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the result to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Tells people something on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
