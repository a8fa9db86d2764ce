//! How a transfer was protected, in its result (docs/guide/json.md).

use serde::Serialize;
use skyhaul_association::aead::AeadName;
use skyhaul_association::{Name, mode_word};
use skyhaul_core::envelope::Mode;
use skyhaul_net::Seal;

/// Protection of a transfer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Protection {
    /// `plain`, `encrypted` or `authenticated`.
    pub(crate) mode: &'static str,
    /// Name that the peer has here.
    pub(crate) peer: Option<String>,
    /// AEAD of the keys in use.
    pub(crate) aead: Option<&'static str>,
}

impl Protection {
    /// None at all.
    pub(crate) fn plain() -> Self {
        Self { mode: mode_word(Mode::Plain), peer: None, aead: None }
    }

    /// By this seal, to who is called so.
    pub(crate) fn sealed(seal: Seal, name: Option<&Name>) -> Self {
        Self { aead: seal.aead.map(aead_word), ..Self::wanted(seal.mode, name) }
    }

    /// In this mode, before keys are agreed on.
    pub(crate) fn wanted(mode: Mode, name: Option<&Name>) -> Self {
        Self { mode: mode_word(mode), peer: name.map(Name::to_string), aead: None }
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let Self { mode, peer, aead } = self;
        let aead = aead.map_or(String::new(), |aead| format!(" by {aead}"));
        let peer = peer.as_ref().map_or(String::new(), |peer| format!(", with {peer}"));
        match *mode {
            "plain" => "none: anyone on the way can read and change it".into(),
            _ => format!("{mode}{aead}{peer}"),
        }
    }
}

/// Name of an AEAD as its standard has it.
fn aead_word(aead: AeadName) -> &'static str {
    match aead {
        AeadName::Aes128Gcm => "AES-128-GCM",
        AeadName::ChaCha20Poly1305 => "ChaCha20-Poly1305",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_who_is_protected_from_whom_and_by_what() {
        let name: Name = "ship".parse().unwrap();
        let unanswered = Protection::wanted(Mode::Authenticated, Some(&name));
        assert_eq!(unanswered.words(), "authenticated, with ship");
        let sealed = Protection {
            aead: Some(aead_word(AeadName::Aes128Gcm)),
            ..Protection::wanted(Mode::Encrypted, None)
        };
        assert_eq!(sealed.words(), "encrypted by AES-128-GCM");
        assert!(Protection::plain().words().starts_with("none: anyone"));
    }
}
