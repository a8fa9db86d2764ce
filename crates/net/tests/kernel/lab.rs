//! A network namespace with a TUN device in it: the kernel at one end, our host at the other.

use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use skyhaul_link::LinkConfig;
use skyhaul_net::tun::{PacketLink, TunDevice, TunHost, TunOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::namespace::{inside, ip, netns};
use crate::tap::{Tap, Watcher};
use crate::wire::wire;

pub(crate) const DEVICE: &str = "sky0";
pub(crate) const PORT: u16 = 7;
/// Time after which a test has failed: a bound, not a measure.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const KERNEL: [IpAddr; 2] = [
    IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 1)),
    IpAddr::V6(std::net::Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1)),
];
pub(crate) const OURS: [IpAddr; 2] = [
    IpAddr::V4(std::net::Ipv4Addr::new(10, 77, 0, 2)),
    IpAddr::V6(std::net::Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)),
];

pub(crate) fn ours(family: usize) -> SocketAddr {
    SocketAddr::new(OURS[family], PORT)
}

/// The device, with the kernel behind it.
pub(crate) struct Lab {
    device: TunDevice,
}

const SET_UP: &[&str] = &[
    "link set lo up",
    "tuntap add dev sky0 mode tun",
    "address add 10.77.0.1/24 dev sky0",
    "address add fd77::1/64 dev sky0 nodad",
];
/// Command for a device that has a user: it works at once then. Packets in flight shall have room to wait.
const SWITCH_ON: &str = "link set sky0 up txqueuelen 5000";

/// Runs `test` in a namespace of its own, if that may be made.
pub(crate) fn in_a_namespace<T: Future<Output = ()>>(test: impl FnOnce(Lab) -> T + Send + 'static) {
    inside(SET_UP, || {
        let lab = Lab { device: TunDevice::attach(DEVICE).unwrap() };
        ip(SWITCH_ON);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let result = runtime.block_on(async { tokio::time::timeout(PATIENCE, test(lab)).await });
        result.expect("the test takes too long");
    });
}

impl Lab {
    /// Our host at the other end.
    pub(crate) fn host(self) -> TunHost {
        self.host_with(options())
    }

    pub(crate) fn host_with(self, options: TunOptions) -> TunHost {
        TunHost::on_device(self.device, options).unwrap()
    }

    /// The device, for a host with something of its own in front.
    pub(crate) fn into_device(self) -> TunDevice {
        self.device
    }

    /// Our host behind a link: the kernel is at port 0, the host at port 1.
    pub(crate) fn linked(self, config: LinkConfig) -> (TunHost, PacketLink) {
        let (near, far) = wire().unwrap();
        let link = PacketLink::start(config, 7, [self.device.into(), near]).unwrap();
        (TunHost::over(far, options()).unwrap(), link)
    }

    /// Our host behind somebody who sees, and may change, every packet.
    pub(crate) fn tapped(self, watcher: impl Watcher + 'static) -> (TunHost, Tap) {
        let (near, far) = wire().unwrap();
        let tap = Tap::start([self.device.into(), near], watcher);
        (TunHost::over(far, options()).unwrap(), tap)
    }
}

pub(crate) fn options() -> TunOptions {
    TunOptions { seed: Some(1), ..TunOptions::new(OURS.to_vec()) }
}

/// Sets a switch of this namespace's kernel.
pub(crate) fn sysctl(name: &str, value: &str) {
    netns::sysctl(name, value).unwrap();
}

/// Knowledge of the kernel about its connections (`TCP_INFO`).
pub(crate) fn kernel_knows() -> String {
    let output =
        Command::new("ss").args(["-t", "-i", "-n", "-o", "-O", "state", "connected"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Bytes without a pattern that a repeat or a gap would keep.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut random = skyhaul_core::Stream::new(bytes as u64, "noise");
    (0..bytes.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes()).take(bytes).collect()
}

pub(crate) async fn send_all(stream: &mut (impl AsyncWrite + Unpin), data: &[u8]) {
    stream.write_all(data).await.unwrap();
    stream.shutdown().await.unwrap();
}

pub(crate) async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut read = Vec::new();
    stream.read_to_end(&mut read).await.unwrap();
    read
}

/// Sends so many bytes each way at once, and checks that they arrive.
pub(crate) async fn exchange<A, B>(ours: A, kernel: B, up_bytes: usize, down_bytes: usize)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (mut ours_read, mut ours_write) = tokio::io::split(ours);
    let (mut kernel_read, mut kernel_write) = tokio::io::split(kernel);
    let (up, down) = (noise(up_bytes), noise(down_bytes + 1));
    let ((), (), got_up, got_down) = tokio::join!(
        send_all(&mut ours_write, &up),
        send_all(&mut kernel_write, &down),
        read_all(&mut kernel_read),
        read_all(&mut ours_read),
    );
    assert!(got_up == up, "what the kernel read is what we wrote: {} of {} bytes", got_up.len(), up.len());
    assert!(got_down == down, "what we read is what the kernel wrote: {} of {}", got_down.len(), down.len());
}
