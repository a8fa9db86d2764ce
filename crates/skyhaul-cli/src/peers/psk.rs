//! Secret that two machines share, as it is handed in by hand.

use std::io::Read as _;
use std::path::Path;

use skyhaul_association::Secret;
use skyhaul_store::{FileError, Others, from_hex};
use zeroize::Zeroizing;

use crate::errors::ErrorCode;
use crate::failure::Failure;

/// Largest file: 64 digits, and what surrounds them.
const MAX_BYTES: u64 = 128;

/// Secret of a file, or of the standard input (`-`).
pub(super) fn read(place: &Path) -> Result<Secret, Failure> {
    let octets = if place == Path::new("-") { read_stdin() } else { read_file(place) };
    let octets = octets.map_err(|error| {
        Failure::of(
            ErrorCode::KeysUnusable,
            format!("--psk: the secret in '{}' cannot be used: {error}", place.display()),
        )
    })?;
    let text = str::from_utf8(&octets).unwrap_or_default();
    let secret = from_hex(text.trim_ascii()).map(Secret::new);
    secret.ok_or_else(|| {
        let place = place.display();
        Failure::of(
            ErrorCode::KeysUnusable,
            format!(
                "--psk: '{place}' has no 64 hexadecimal digits; `openssl rand -hex 32` makes such a secret"
            ),
        )
    })
}

fn read_file(place: &Path) -> Result<Zeroizing<Vec<u8>>, FileError> {
    let octets = skyhaul_store::read(place, Others::MayNothing, MAX_BYTES)?;
    let missing = || FileError::Io(std::io::ErrorKind::NotFound.into());
    octets.map(Zeroizing::new).ok_or_else(missing)
}

fn read_stdin() -> Result<Zeroizing<Vec<u8>>, FileError> {
    let mut octets = Zeroizing::new(Vec::with_capacity(MAX_BYTES as usize + 1));
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut octets)?;
    if octets.len() as u64 > MAX_BYTES { Err(FileError::TooLarge) } else { Ok(octets) }
}
