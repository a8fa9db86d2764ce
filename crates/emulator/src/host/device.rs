//! The device of a host, with its addresses and routes.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use skyhaul_net::tun::TunDevice;

use super::{Home, HostSetup, TestbedError};
use crate::addresses::{PREFIX_V4, PREFIX_V6};

/// Name of the device in a namespace of a host's own.
const DEVICE: &str = "sky0";
/// Packets that may wait for the emulation to read them, which it does at once: what waits is to wait in the
/// links.
const QUEUE_PACKETS: u32 = 10_000;

/// Makes the device in this process's namespace, or takes one that is there.
pub(super) fn make(plan: &HostSetup) -> Result<TunDevice, TestbedError> {
    match &plan.home {
        Home::New => {
            set_switches(&plan.sysctls)?;
            ip("link set lo up\n")?;
            let device = create(DEVICE)?;
            ip(&set_up(plan, DEVICE, true))?;
            Ok(device)
        }
        Home::Existing { device: name, .. } => {
            refuse_taken_network(plan)?;
            let device = create(name)?;
            ip(&set_up(plan, name, false))?;
            Ok(device)
        }
        Home::Device { device } => {
            let device = TunDevice::attach(device).map_err(|error| explained(&error))?;
            device.check_up().map_err(TestbedError::other)?;
            Ok(device)
        }
    }
}

fn create(name: &str) -> Result<TunDevice, TestbedError> {
    TunDevice::create(name).map_err(|error| explained(&error))
}

fn explained(error: &std::io::Error) -> TestbedError {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::ResourceBusy => TestbedError::Exists(text),
        ErrorKind::NotFound => TestbedError::Missing(text),
        ErrorKind::PermissionDenied => TestbedError::NotPermitted(text),
        _ => TestbedError::Other(text),
    }
}

/// Commands for `ip` that switch the device on and route to the other hosts by it.
fn set_up(plan: &HostSetup, device: &str, is_only_way: bool) -> String {
    let HostSetup { own, gateway, mtu_bytes, .. } = plan;
    let mut text = format!(
        "address add {}/{PREFIX_V4} dev {device}\n\
         link set {device} up txqueuelen {QUEUE_PACKETS} mtu {mtu_bytes}\n",
        own.v4
    );
    if is_only_way {
        let _ = writeln!(text, "route add default via {}", gateway.v4);
    }
    if has_ipv6() {
        let _ = writeln!(text, "address add {}/{PREFIX_V6} dev {device} nodad", own.v6);
        if is_only_way {
            let _ = writeln!(text, "route add ::/0 via {} dev {device}", gateway.v6);
        }
    }
    text
}

fn has_ipv6() -> bool {
    let disabled = std::fs::read_to_string("/proc/sys/net/ipv6/conf/all/disable_ipv6");
    disabled.is_ok_and(|text| text.trim() == "0")
}

/// Another device with addresses of this network would get the packets, or lose its own.
fn refuse_taken_network(plan: &HostSetup) -> Result<(), TestbedError> {
    let (v4, v6) = (plan.own.v4, plan.own.v6);
    let networks = [format!("{v4}/{PREFIX_V4}"), format!("{v6}/{PREFIX_V6}")];
    for network in networks {
        let shown = run_ip(&["-o", "address", "show", "to", &network], "")?;
        let text = String::from_utf8_lossy(&shown.stdout);
        if let Some(device) = text.split_whitespace().nth(1) {
            return Err(TestbedError::Exists(format!(
                "the device '{device}' has an address of {network} already, the network of emulated hosts; use \
                 another namespace"
            )));
        }
    }
    Ok(())
}

fn set_switches(switches: &[(String, String)]) -> Result<(), TestbedError> {
    for (name, value) in switches {
        std::fs::write(Path::new("/proc/sys/net").join(name), value)
            .map_err(|error| TestbedError::other(format!("net/{name} cannot be set to {value}: {error}")))?;
    }
    Ok(())
}

/// Has `ip` do these commands, a line each.
fn ip(commands: &str) -> Result<(), TestbedError> {
    let output = run_ip(&["-batch", "-"], commands)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(TestbedError::other(format!(
        "ip: {}; it was told: {}",
        said.trim(),
        commands.trim().replace('\n', "; ")
    )))
}

fn run_ip(arguments: &[&str], input: &str) -> Result<Output, TestbedError> {
    let cannot = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => TestbedError::Missing(
            "the command `ip` is not installed (it is in the package iproute2); UDP relays work without it"
                .into(),
        ),
        _ => TestbedError::other(format!("the command `ip` cannot be run: {error}")),
    };
    let mut command = Command::new("ip");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        // Fails if it has ended, which its exit code tells.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output().map_err(cannot)
}
