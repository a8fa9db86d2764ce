//! Arguments of `pair`.

use std::net::SocketAddr;

use skyhaul_association::pairing::Code;
use skyhaul_association::{Callsign, Name};
use skyhaul_core::envelope::Mode;

use crate::address::{listen_address, peer_address};
use crate::peers::{callsign, mode, name};

/// Both ways to call it.
const USAGE: &str = "\
skyhaul pair --listen ADDRESS:PORT [OPTIONS]   # shows a code
       skyhaul pair ADDRESS:PORT [OPTIONS]            # asks for it";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE)]
pub(crate) struct PairArgs {
    /// Where the other machine waits, which shows the code
    #[arg(value_name = "ADDRESS:PORT", conflicts_with = "listen", value_parser = peer_address)]
    pub(super) address: Option<String>,
    /// Show a code and wait here for the machine at which it is typed; [::]:4700 is every address of this one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(super) listen: Option<SocketAddr>,
    /// Code that the other machine shows [default: asked for]
    #[arg(long, value_name = "CODE", conflicts_with = "listen", value_parser = code)]
    pub(super) code: Option<Code>,
    /// Name that this machine gives itself from now on
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(super) name: Option<Name>,
    /// Name that the other machine has here [default: the one that it gives itself]
    #[arg(long = "as", value_name = "NAME", value_parser = name)]
    pub(super) called: Option<Name>,
    /// How datagrams between the two are protected, which both have to say: `encrypted`, or `authenticated`,
    /// which anybody can read and nobody change
    #[arg(long, default_value = "encrypted", value_parser = mode)]
    pub(super) mode: Mode,
    /// Callsign of this machine's operator from now on
    #[arg(long, value_name = "CALLSIGN", value_parser = callsign)]
    pub(super) callsign: Option<Callsign>,
    /// Give the other machine leave to send files to this one
    #[arg(long)]
    pub(super) allow: bool,
    /// Print one line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl PairArgs {
    /// True if errors are told as an object, too.
    pub(crate) fn tells_errors(&self) -> bool {
        self.json
    }
}

fn code(text: &str) -> Result<Code, String> {
    text.parse().map_err(|error: skyhaul_association::pairing::CodeError| error.to_string())
}
