//! This machine: its name, its key, and what its operator is called.

use skyhaul_association::{Callsign, Identity, MAX_NAME_BYTES, Name, Secret};
use zeroize::Zeroizing;

use crate::FileError;
use crate::hex::{from_hex, to_hex};
use crate::table::Table;

const TABLE: Table = Table { name: "skyhaul-identity", version: 1 };
/// Largest file of an identity.
pub(crate) const MAX_BYTES: u64 = 1024;
/// Word for what is not there.
pub(crate) const NONE: &str = "-";

/// Name of a machine whose host has none that can be used.
const NAMELESS: &str = "machine";

/// This machine as it is known to others.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name that it gives itself.
    pub name: Name,
    /// Callsign of its operator, if a radio amateur.
    pub callsign: Option<Callsign>,
    secret: Secret,
}

impl Machine {
    /// Machine with this secret key: 32 random octets.
    pub fn new(name: Name, secret: Secret) -> Self {
        Self { name, callsign: None, secret }
    }

    /// Key pair.
    pub fn identity(&self) -> Identity {
        Identity::new(self.secret.clone())
    }

    /// File with it.
    pub(crate) fn encode(&self) -> Zeroizing<String> {
        let callsign = self.callsign.as_ref().map_or(NONE, Callsign::as_str);
        let secret = Zeroizing::new(to_hex(self.secret.octets()));
        let line = Zeroizing::new(format!("{} {callsign} {}", self.name, *secret));
        TABLE.encode([line.as_str()])
    }

    /// Machine of a file.
    pub(crate) fn decode(octets: &[u8]) -> Result<Self, FileError> {
        let (_, lines) = TABLE.decode(octets)?;
        let [line] = lines[..] else { return Err(FileError::Damaged) };
        Self::of_line(line).ok_or(FileError::Damaged)
    }

    fn of_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let name = words.next()?.parse().ok()?;
        let callsign = optional(words.next()?, |word| word.parse().ok())?;
        let secret = Secret::new(from_hex(words.next()?)?);
        words.next().is_none().then_some(Self { name, callsign, secret })
    }
}

/// Value of a word that may be [`NONE`]; `None` if it is neither that nor a value.
#[expect(clippy::option_option, reason = "whether it is well-formed, and whether it is there")]
pub(crate) fn optional<T>(word: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if word == NONE { Some(None) } else { parse(word).map(Some) }
}

/// Name that the system gives this host, without what no [`Name`] has.
pub(crate) fn host_name() -> Name {
    let system = rustix::system::uname();
    name_of(&system.nodename().to_string_lossy())
}

fn name_of(host: &str) -> Name {
    let is_inside = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let kept = host.chars().filter(is_inside).take(MAX_NAME_BYTES).collect::<String>();
    let begun = kept.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    begun.parse().unwrap_or_else(|_| NAMELESS.parse().expect("it is a name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_a_name() {
        let long = "a".repeat(80);
        for (host, name) in [
            ("ship", "ship"),
            ("-x.y", "x.y"),
            ("(none)", "none"),
            ("\u{fc}", "machine"),
            (&long, &long[..63]),
        ] {
            assert_eq!(name_of(host).as_str(), name);
        }
    }
}
