//! The arguments, parsed low; the commands resolve them.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use skyhaul_core::units::{parse_bytes, parse_rate_bps};

use crate::address::listen_address;
use crate::capture::CaptureArgs;
use crate::dimension::DimensionArgs;
use crate::emulate::{ControlArgs, EmulateArgs, HostArgs, InitArgs};
use crate::manual::{CompletionsArgs, ManArgs};
use crate::map::MapArgs;
use crate::pair::PairArgs;
use crate::parameters::{CommonArgs, SenderArgs};
use crate::peers::{IdArgs, PeersArgs};
use crate::race::{EndArgs, RaceArgs};
use crate::remembered::MemoryArgs;
use crate::reproduce::ReproduceArgs;
use crate::scoreboard::ScoreboardArgs;
use crate::sweep::{MergeArgs, ReportArgs, SimulateArgs};
use crate::transport::TransportArgs;
use crate::verbosity::{Form, VerbosityArgs};

/// Heading of options that few need, below those that most do.
pub(crate) const MORE: &str = "More options";

/// Moves data across satellite links: long, thin, lossy, asymmetric, and gone for seconds at a time.
#[derive(Debug, Parser)]
#[command(name = "skyhaul", version, propagate_version = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send a file over an emulated satellite link on this machine and measure it
    Demo(DemoArgs),
    /// Send files to a machine that runs `skyhaul receive`
    Send(SendArgs),
    /// Wait for files
    Receive(ReceiveArgs),
    /// Run a scenario file in virtual time: every point of its sweep, several times each
    Simulate(SimulateArgs),
    /// Run the links of a scenario file in real time, for programs that exist already
    Emulate(EmulateArgs),
    /// Change the links of a running emulation, or ask it what it counted
    Control(ControlArgs),
    /// Join the results of shards (see `simulate --shard`)
    Merge(MergeArgs),
    /// Tables, figures and judged claims out of results
    Report(ReportArgs),
    /// The same transfer over several transports, one after the other: one table, one picture
    Race(RaceArgs),
    /// Every transport that there is on every ready scenario: one table, pictures, all numbers
    Scoreboard(ScoreboardArgs),
    /// The measured rate beside TCPs, in some hundred cells of rates, round trips, queues and losses: a
    /// picture, the worst cells
    Map(MapArgs),
    /// One end of a run of `race`
    #[command(hide = true)]
    RaceEnd(EndArgs),
    /// Every figure of a paper, drawn anew, and every claim beside what was measured
    Reproduce(ReproduceArgs),
    /// How large windows, buffers, packets and timeouts must be where relays split a path around a satellite
    /// link
    Dimension(DimensionArgs),
    /// Make two machines known to each other, by a code that one shows and the other asks for
    Pair(PairArgs),
    /// Name and public key of this machine, which get made the first time
    Id(IdArgs),
    /// Machines that this one knows
    Peers(PeersArgs),
    /// Completions of commands and options for a shell, to standard output
    Completions(CompletionsArgs),
    /// Manual pages, a file for each command, out of what `--help` says
    Man(ManArgs),
    #[command(name = skyhaul_emulator::HOST_COMMAND, hide = true)]
    EmulatedHost(HostArgs),
    #[command(name = skyhaul_emulator::INIT_COMMAND, hide = true)]
    EmulatedInit(InitArgs),
}

impl Command {
    /// True if it has connections, which nobody who reads its output may hold up.
    pub(crate) fn moves_files(&self) -> bool {
        matches!(self, Self::Demo(_) | Self::Send(_) | Self::Receive(_) | Self::Pair(_))
    }

    /// True if every error goes to standard output, too, as an object.
    pub(crate) fn tells_errors(&self) -> bool {
        match self {
            Self::Send(args) => args.common.json,
            Self::Receive(args) => args.common.json,
            Self::Pair(args) => args.tells_errors(),
            _ => false,
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = links_help())]
pub(crate) struct DemoArgs {
    /// Emulated link
    #[arg(long, default_value = "geo", value_name = "LINK", value_parser = link_name)]
    pub(crate) link: String,
    /// File to send; random bytes otherwise
    #[arg(long, conflicts_with = "size")]
    pub(crate) file: Option<PathBuf>,
    /// How many random bytes to send
    #[arg(long, default_value = "10MB", value_parser = parse_bytes)]
    pub(crate) size: u64,
    #[command(flatten)]
    pub(crate) sender: SenderArgs,
    /// Where what is found out about the path is kept from one run to the next; nothing is otherwise
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Option<PathBuf>,
    /// Seed of the link's losses and of the random bytes
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Tell nothing but errors (and, with --json, the result)
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl DemoArgs {
    /// The table lists the file always.
    pub(crate) fn verbosity(&self) -> VerbosityArgs {
        VerbosityArgs { quiet: self.quiet, verbose: true }
    }

    pub(crate) fn form(&self) -> Form {
        Form::new(self.common.json, self.verbosity())
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SendArgs {
    /// Files to send; - is the standard input, which is read to its end first
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[arg(
        required = true,
        value_name = "NAME",
        help = "Peer (`skyhaul pair`) that the transfer is sealed to: NAME, NAME@ADDRESS:PORT where it is elsewhere, or \
                the ADDRESS:PORT that it was paired at. With --plain an ADDRESS:PORT of anybody, like 192.0.2.7:4700, \
                [2001:db8::7]:4700 or ship.example:4700"
    )]
    pub(crate) to: String,
    /// Send without protection: anybody on the way can read and change it. The receiver needs --plain, too
    #[arg(long)]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) sender: SenderArgs,
    /// Name that the standard input gets at the receiver [default: stdin]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<OsString>,
    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    /// Address of this end for --transport tcp and scps-tp: one of the TUN device's network that nobody has
    #[arg(long, value_name = "ADDRESS", help_heading = MORE)]
    pub(crate) address: Option<IpAddr>,
}

impl SendArgs {
    pub(crate) fn form(&self) -> Form {
        Form::new(self.common.json, self.verbosity)
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReceiveArgs {
    /// Folder that the files go to; it must exist
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Address to wait at; [::]:4700 is every one of this machine. Only this machine can reach the default
    #[arg(long, default_value = "127.0.0.1:4700", value_name = "ADDRESS:PORT", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Take files from anybody, without protection. Otherwise peers with leave to send them (`skyhaul peers
    /// allow`) send them sealed, and nobody else gets an answer
    #[arg(long)]
    pub(crate) plain: bool,
    /// Stop after one transfer that came to its end: every file of it is there, or was refused. One that is
    /// broken off does not count, as its sender may send again
    #[arg(long)]
    pub(crate) once: bool,
    /// Replace existing files
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Accept names that begin with a dot, and such with control or bidirectional characters: what hides a
    /// file, makes programs obey it, or shows it as what it is not
    #[arg(long)]
    pub(crate) any_name: bool,
    /// Largest file to accept
    #[arg(long, value_parser = parse_bytes, value_name = "SIZE")]
    pub(crate) max_size: Option<u64>,
    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(flatten)]
    pub(crate) transport: TransportArgs,
    /// Rate of the way back to the sender, with --transport scps-tp: nothing that this end sends exceeds it
    #[arg(long, value_parser = parse_rate_bps, help_heading = MORE)]
    pub(crate) rate: Option<u64>,
}

impl ReceiveArgs {
    pub(crate) fn form(&self) -> Form {
        Form::new(self.common.json, self.verbosity)
    }
}

fn link_name(name: &str) -> Result<String, String> {
    let known = skyhaul_link::PRESETS.iter().map(|&(name, _)| name);
    if known.clone().any(|k| k == name) {
        return Ok(name.to_string());
    }
    Err(format!("no such link; there are {}", known.collect::<Vec<_>>().join(", ")))
}

fn links_help() -> String {
    let lines = skyhaul_link::PRESETS.iter().map(|(name, what)| format!("  {name:<15} {what}"));
    format!("Links:\n{}", lines.collect::<Vec<_>>().join("\n"))
}
