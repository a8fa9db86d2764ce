//! A TUN device of Linux: IP packets, one a read and one a write.

use std::io::{self, ErrorKind};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, opcode};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use super::leading::{Leading, leading};

const PATH: &str = "/dev/net/tun";
/// Longest name of a network device.
const MAX_NAME_BYTES: usize = 15;

/// `TUNSETIFF`.
const ATTACH: Opcode = opcode::write::<i32>(b'T', 202);
/// `SIOCGIFMTU`.
const GET_MTU: Opcode = 0x8921;
/// `SIOCGIFFLAGS`, and `IFF_UP` in what it gives.
const GET_FLAGS: Opcode = 0x8913;
const UP: i16 = 1;
/// `IFF_TUN | IFF_NO_PI`: packets without an Ethernet header, and nothing in front of them.
const PLAIN_TUN: i16 = 0x0001 | 0x1000;

/// `struct ifreq`: a name, and room for what the request is about.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Request {
    name: [u8; MAX_NAME_BYTES + 1],
    value: [u8; 24],
}

/// A TUN device that this process has for itself.
#[derive(Debug)]
pub struct TunDevice {
    fd: OwnedFd,
    name: String,
    mtu_bytes: u32,
}

impl TunDevice {
    /// Takes the device `name`, which exists: `ip tuntap add` made it, for this user if that is not root.
    pub fn attach(name: &str) -> io::Result<Self> {
        check_name(name)?;
        if !exists(name)? {
            return Err(io::Error::new(
                ErrorKind::NotFound,
                format!("there is no network device '{name}' here; make it by: {}", how_to_make(name)),
            ));
        }
        Self::open(name, "NAME") // this one is somebody else's then
    }

    /// Makes the device `name`, which goes when this value does. It is down and has no address yet. Needs the
    /// right to change the network (`CAP_NET_ADMIN`).
    pub fn create(name: &str) -> io::Result<Self> {
        check_name(name)?;
        if exists(name)? {
            let text = format!("there is a network device '{name}' already; choose another name");
            return Err(io::Error::new(ErrorKind::AlreadyExists, text));
        }
        Self::open(name, name)
    }

    /// Without the right to the device, root may make `advised`.
    fn open(name: &str, advised: &str) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = rustix::fs::open(PATH, flags, Mode::empty()).map_err(cannot_open)?;
        let mut request = request(name);
        request.value[..2].copy_from_slice(&PLAIN_TUN.to_ne_bytes());
        ioctl::<ATTACH>(&fd, &mut request).map_err(|error| cannot_attach(error, name, advised))?;
        Ok(Self { fd, name: name.into(), mtu_bytes: mtu_bytes(name)? })
    }

    /// Fails, with advice, if the device carries nothing since nobody has switched it on.
    pub fn check_up(&self) -> io::Result<()> {
        if is_up(&self.name)? {
            return Ok(());
        }
        let name = &self.name;
        let text =
            format!("the network device '{name}' is down; switch it on by: sudo ip link set {name} up");
        Err(io::Error::new(ErrorKind::NetworkDown, text))
    }

    /// Fails, with advice, if the device takes no packets of `least_bytes`, the smallest that a host with
    /// `address` cuts ([`skyhaul_tcp::Config::min_mtu_bytes`]): larger ones come to nothing without a word.
    pub fn check_takes(&self, address: IpAddr, least_bytes: u32) -> io::Result<()> {
        let (name, mtu_bytes) = (&self.name, self.mtu_bytes);
        if mtu_bytes >= least_bytes {
            return Ok(());
        }
        let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        let text = format!(
            "'{name}' takes packets of {mtu_bytes} bytes at most, and the smallest over {family} have {least_bytes}; \
             let it take them by: sudo ip link set {name} mtu {least_bytes}"
        );
        Err(io::Error::new(ErrorKind::InvalidInput, text))
    }

    /// Fails, with advice, if the kernel sends packets for `address` elsewhere: what answers a host with this
    /// address never comes to the device. Where the kernel does not say, and for its own addresses, it does
    /// not.
    pub fn check_leads_here(&self, address: IpAddr) -> io::Result<()> {
        let name = &self.name;
        let instead = match leading(address) {
            Ok(Leading::Nowhere) => "has no route to it".to_owned(),
            Ok(Leading::Device(index)) => match netdevice::index_to_name(any_socket()?, index) {
                Ok(other) if other != *name => format!("sends packets for it by '{other}'"),
                _ => return Ok(()),
            },
            Ok(Leading::Itself) | Err(_) => return Ok(()),
        };
        let text = format!(
            "nothing that is sent to {address} comes to '{name}', as this machine's kernel {instead}; choose an address \
             of the device's network that nobody has (ip address show dev {name} says which that is), or lead this one \
             there by: sudo ip route add {address} dev {name}"
        );
        Err(io::Error::new(ErrorKind::AddrNotAvailable, text))
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Largest packet that the device takes, as it was set when the device was opened.
    pub fn mtu_bytes(&self) -> u32 {
        self.mtu_bytes
    }
}

impl From<TunDevice> for OwnedFd {
    fn from(device: TunDevice) -> Self {
        device.fd
    }
}

/// Commands that make a device which this user may use.
fn how_to_make(name: &str) -> String {
    format!(
        "sudo ip tuntap add dev {name} mode tun user $USER; sudo ip address add ADDRESS/LENGTH dev {name}; \
         sudo ip link set {name} up"
    )
}

fn check_name(name: &str) -> io::Result<()> {
    let is_fit = !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && !matches!(name, "." | "..")
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:%".contains(&byte));
    if is_fit {
        return Ok(());
    }
    let name = name.escape_debug();
    let text = format!("'{name}' cannot be the name of a network device: 1 to 15 letters, digits, - and _");
    Err(io::Error::new(ErrorKind::InvalidInput, text))
}

fn request(name: &str) -> Request {
    let mut request = Request { name: [0; MAX_NAME_BYTES + 1], value: [0; 24] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    request
}

/// One request about a device.
#[expect(unsafe_code, reason = "requests of a driver have no safe wrapper")]
fn ioctl<const OPCODE: Opcode>(fd: &OwnedFd, request: &mut Request) -> Result<(), Errno> {
    // SAFETY: every opcode used here takes a pointer to a `struct ifreq`, which `Request` is laid out as,
    // reads and writes nothing beyond it, and keeps no pointer. (There is no safe wrapper for requests of a
    // driver.)
    unsafe {
        let request = Updater::<OPCODE, Request>::new(request);
        rustix::ioctl::ioctl(fd, request)
    }
}

/// Any socket serves to ask about devices.
fn any_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?)
}

fn exists(name: &str) -> io::Result<bool> {
    match netdevice::name_to_index(any_socket()?, name) {
        Ok(_) => Ok(true),
        Err(Errno::NODEV) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn mtu_bytes(name: &str) -> io::Result<u32> {
    let mut request = request(name);
    ioctl::<GET_MTU>(&any_socket()?, &mut request)?;
    let [a, b, c, d, ..] = request.value;
    Ok(u32::from_ne_bytes([a, b, c, d]))
}

fn is_up(name: &str) -> io::Result<bool> {
    let mut request = request(name);
    ioctl::<GET_FLAGS>(&any_socket()?, &mut request)?;
    Ok(i16::from_ne_bytes([request.value[0], request.value[1]]) & UP != 0)
}

fn cannot_open(error: Errno) -> io::Error {
    let why = match error {
        Errno::NOENT => "the kernel has no TUN devices here; load the module by: sudo modprobe tun",
        Errno::ACCESS | Errno::PERM => {
            "this user may not open it; allow it by: sudo chmod 666 /dev/net/tun (devices have owners of their own)"
        }
        Errno::NODEV | Errno::NXIO => "the kernel has no TUN devices; load the module by: sudo modprobe tun",
        _ => "it cannot be opened",
    };
    explained(error, format!("{PATH}: {why}"))
}

fn cannot_attach(error: Errno, name: &str, advised: &str) -> io::Error {
    let text = match error {
        Errno::PERM | Errno::ACCESS => format!(
            "this user may not use the network device '{name}': be root, or have root make one for you by: {}",
            how_to_make(advised)
        ),
        Errno::BUSY => format!(
            "the network device '{name}' is in use by another program; end that, or make another device by: {}",
            how_to_make("NAME")
        ),
        Errno::INVAL => {
            format!("the network device '{name}' is no TUN device; make one by: {}", how_to_make("NAME"))
        }
        _ => format!("the network device '{name}' cannot be used: {error}"),
    };
    explained(error, text)
}

fn explained(error: Errno, text: String) -> io::Error {
    let kind = match error {
        Errno::BUSY => ErrorKind::ResourceBusy,
        _ => error.kind(),
    };
    io::Error::new(kind, text)
}
