//! A host of an emulation: a process that lives in a network namespace, makes a device there, gives it to the
//! emulation, and then runs a command.
//!
//! Two processes stand between the emulation and a command. The *host* enters the namespaces, and starts the *init*,
//! which is the first process of a process namespace: as it ends, the kernel ends all that the command left behind.
//! Each is killed by the kernel when the one above it dies. Namespaces have no names and devices belong to
//! descriptors, so nothing remains, however the emulation ends.

mod child;
mod device;
mod init;
mod namespaces;
mod plan;
mod process;
mod supervise;
mod wire;

pub use child::host_main;
pub use init::init_main;
pub(crate) use plan::{Addressing, Plan};
pub use plan::{Home, LabError};
pub(crate) use process::{Cue, HostProcess, Streams};

/// Name of the subcommand by which a program that starts a [`Lab`](crate::Lab) runs [`host_main`].
pub const HOST_COMMAND: &str = "emulated-host";
/// Name of the subcommand by which the same program runs [`init_main`].
pub const INIT_COMMAND: &str = "emulated-init";
/// Tells the init of a host who has started it; not handed on to its command.
const PARENT_VARIABLE: &str = "SKYHAUL_EMULATED_PARENT";
/// What is added to [`INIT_COMMAND`] if the terminal is to be the command's.
pub const TERMINAL_FLAG: &str = "--terminal";
