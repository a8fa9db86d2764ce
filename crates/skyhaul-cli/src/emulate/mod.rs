//! `skyhaul emulate`: the links of a scenario in real time, for programs that exist already.

mod args;
mod attached;
mod captured;
mod commands;
mod control;
mod object;
mod plain;
mod scene;
mod shown;
mod status;
mod stop;

use std::process::ExitCode;

pub(crate) use args::{ControlArgs, EmulateArgs, HostArgs, InitArgs};
pub(crate) use control::run as control;
use scene::EmulatedScene;

use crate::failure::Failure;
use crate::race::warn_of_busy_machine;

/// `skyhaul emulate`.
pub(crate) async fn run(args: EmulateArgs) -> Result<ExitCode, Failure> {
    if args.cleanup {
        return control::clean();
    }
    let scene = EmulatedScene::load(&args)?;
    if !args.quiet {
        warn_of_busy_machine();
    }
    if !args.udp.is_empty() {
        attached::udp(&args, &scene).await
    } else if !args.tun.is_empty() || !args.device.is_empty() {
        attached::devices(&args, &scene).await
    } else {
        commands::run(&args, &scene).await
    }
}

/// The process of a host.
pub(crate) fn host(args: &HostArgs) -> ExitCode {
    ExitCode::from(skyhaul_emulator::host_main(args.socket))
}

/// The first process in a host.
pub(crate) fn init(args: &InitArgs) -> ExitCode {
    ExitCode::from(skyhaul_emulator::init_main(&args.name, &args.hosts_file, args.terminal, &args.command))
}
