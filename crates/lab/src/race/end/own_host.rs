//! Hosts of our own TCP at the emulated link: each on a device of its own. The kernel of its namespace
//! forwards between that and the link.

use std::io::{self, Write as _};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use skyhaul_net::tun::{TcpConfig, TunDevice, TunHost, TunOptions};

/// Device in the namespace of an end.
const DEVICE: &str = "own0";
/// Packets that may wait for the host, which reads them at once.
const QUEUE_PACKETS: u32 = 10_000;

/// Network of an end's device: nobody in the emulation has addresses of it, so that packets for them take the
/// default route, which leads to the other end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// Address of the kernel, with the length of the prefix.
    kernel: &'static str,
    /// Address of the host.
    pub(super) host: Ipv4Addr,
}

/// Site of the sending end.
pub(super) const SENDING: Site = Site { kernel: "10.88.1.1/24", host: Ipv4Addr::new(10, 88, 1, 2) };
/// Site of the serving end.
pub(super) const SERVING: Site = Site { kernel: "10.88.2.1/24", host: Ipv4Addr::new(10, 88, 2, 2) };

impl Site {
    /// Host that accepts connections with these parameters.
    pub(super) fn host(self, accept: TcpConfig) -> io::Result<TunHost> {
        let device = TunDevice::create(DEVICE)?;
        ip(&format!(
            "address add {} dev {DEVICE}\nlink set {DEVICE} up txqueuelen {QUEUE_PACKETS}\n",
            self.kernel
        ))?;
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
        TunHost::on_device(device, TunOptions { accept, ..TunOptions::new(vec![self.host.into()]) })
    }
}

/// Has `ip` do these commands, a line each.
pub(super) fn ip(commands: &str) -> io::Result<()> {
    let mut command = Command::new("ip");
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(commands.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("ip: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
