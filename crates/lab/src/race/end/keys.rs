//! Keys of a run, from the serving end, which makes them, to the sending one: by a file among the signs.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use skyhaul_net::association::{Associations, PublicKey, TOKEN_BYTES, Token};

use crate::acquaintance::Acquaintance;

/// File with the keys of both ends and a token. The folder is of this run alone.
const KEYS: &str = "keys";

/// Associations of the serving end, whose keys it leaves for the other one, which is at `from`.
pub(super) fn made(signs: &Path, from: IpAddr) -> io::Result<Associations> {
    let keys = Acquaintance::new()?;
    let (associations, token) = keys.acceptor(from)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(signs.join(KEYS))?;
    file.write_all(&[&keys.octets()[..], &token.0].concat())?;
    Ok(associations)
}

/// Associations of the sending end, and the other one's key.
pub(super) fn found(signs: &Path) -> io::Result<(Associations, PublicKey)> {
    let octets = std::fs::read(signs.join(KEYS))?;
    let torn = || io::Error::other("the keys of this run are torn");
    let (token, keys) =
        octets.split_last_chunk::<TOKEN_BYTES>().map(|(keys, token)| (token, keys)).ok_or_else(torn)?;
    let keys = Acquaintance::of(keys.try_into().map_err(|_| torn())?);
    Ok((keys.opener(Token(*token))?, keys.acceptor_key()))
}
