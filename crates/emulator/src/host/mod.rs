//! A host of an emulation: a process that lives in a network namespace, makes a device there, gives it to the
//! emulation, and then runs a command.
//!
//! Two processes stand between the emulation and a command. The *host* enters the namespaces, and starts the
//! *init*, which is the first process of a process namespace: as it ends, the kernel ends all that the
//! command left behind. Each is killed by the kernel when the one above it dies. Namespaces have no names and
//! devices belong to descriptors, so nothing remains, however the emulation ends.

mod child;
mod device;
mod init;
mod messages;
mod namespaces;
mod plan;
mod process;
mod supervise;

pub use child::host_main;
pub use init::init_main;
pub(crate) use plan::{Addressing, HostSetup};
pub use plan::{Home, TestbedError};
pub(crate) use process::{Cue, HostProcess, Streams};

/// Name of the subcommand by which a program that starts a [`Testbed`](crate::Testbed) runs [`host_main`].
pub const HOST_COMMAND: &str = "emulated-host";
/// Name of the subcommand by which the same program runs [`init_main`].
pub const INIT_COMMAND: &str = "emulated-init";
/// Tells the init of a host who has started it; not handed on to its command.
const PARENT_VARIABLE: &str = "SKYHAUL_EMULATED_PARENT";
/// Flag of [`INIT_COMMAND`] if the terminal is to be the command's.
pub const TERMINAL_FLAG: &str = "--terminal";
