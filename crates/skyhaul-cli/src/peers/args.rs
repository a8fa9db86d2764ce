//! Arguments of `id` and `peers`.

use std::path::PathBuf;

use clap::Subcommand;
use skyhaul_association::{Callsign, Name, NameError, PublicKey, mode_of};
use skyhaul_core::envelope::Mode;
use skyhaul_store::from_hex;

use crate::address::peer_address;

#[derive(Debug, clap::Args)]
pub(crate) struct IdArgs {
    /// Name that this machine gives itself from now on [default: at first that of the host]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(super) name: Option<Name>,
    /// Callsign of this machine's operator from now on, for links of radio amateurs
    #[arg(long, value_name = "CALLSIGN", value_parser = callsign)]
    pub(super) callsign: Option<Callsign>,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PeersArgs {
    #[command(subcommand)]
    pub(super) action: PeersAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum PeersAction {
    /// Show all of them
    List {
        /// Print one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a machine known by hand: both need the other's public key, and one secret
    Add(AddArgs),
    /// Forget a machine: from then on it meets silence
    Remove(NamedArgs),
    /// Give a machine leave to send files to this one
    Allow(AllowArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// Name that it has here
    #[arg(value_name = "NAME", value_parser = name)]
    pub(super) name: Name,
    /// Its public key, as `skyhaul id` shows it there
    #[arg(value_name = "KEY", value_parser = public_key)]
    pub(super) key: PublicKey,
    /// File with the secret that both share: 64 hexadecimal digits; - is the standard input
    #[arg(long, value_name = "FILE")]
    pub(super) psk: PathBuf,
    /// How datagrams are protected, which has to be equal at both: `encrypted`, or `authenticated`, which
    /// anybody can read and nobody change
    #[arg(long, default_value = "encrypted", value_parser = mode)]
    pub(super) mode: Mode,
    /// Callsign of its operator
    #[arg(long, value_name = "CALLSIGN", value_parser = callsign)]
    pub(super) callsign: Option<Callsign>,
    /// Where it is
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = peer_address)]
    pub(super) address: Option<String>,
    /// Give it leave to send files to this machine
    #[arg(long)]
    pub(super) allow: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct NamedArgs {
    /// Its name here
    #[arg(value_name = "NAME", value_parser = name)]
    pub(super) name: Name,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct AllowArgs {
    /// Its name here
    #[arg(value_name = "NAME", value_parser = name)]
    pub(super) name: Name,
    /// Take the leave back
    #[arg(long)]
    pub(super) revoke: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Name of a machine, as an argument.
pub(crate) fn name(text: &str) -> Result<Name, String> {
    text.parse().map_err(|error: NameError| error.to_string())
}

/// Callsign, as an argument.
pub(crate) fn callsign(text: &str) -> Result<Callsign, String> {
    text.parse().map_err(|error: NameError| error.to_string())
}

fn public_key(text: &str) -> Result<PublicKey, String> {
    let key: Option<[u8; 32]> = from_hex(text);
    match key {
        // With it everybody would share everybody's secret [RFC 7748 6.1].
        Some(key) if key == [0; 32] => {
            Err("nobody has a public key of zeros: `skyhaul id` shows it there".into())
        }
        Some(key) => Ok(PublicKey(key)),
        None => Err("a public key has 64 hexadecimal digits: `skyhaul id` shows it there".into()),
    }
}

/// Mode that protects, as an argument.
pub(crate) fn mode(text: &str) -> Result<Mode, String> {
    mode_of(text).ok_or_else(|| "there are encrypted and authenticated".into())
}
