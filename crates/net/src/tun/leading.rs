//! Where the kernel sends packets for an address: asked of it by netlink, which anybody may.

use std::io::{self, ErrorKind};
use std::net::IpAddr;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

/// `RTM_GETROUTE`, `RTM_NEWROUTE` and `NLMSG_ERROR`; `NLM_F_REQUEST`.
const GET_ROUTE: u16 = 26;
const ROUTE: u16 = 24;
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
/// Attributes `RTA_DST` and `RTA_OIF`.
const DESTINATION: u16 = 1;
const DEVICE: u16 = 4;
/// Kinds of routes: `RTN_LOCAL`; `RTN_BLACKHOLE`, `RTN_UNREACHABLE` and `RTN_PROHIBIT`.
const LOCAL: u8 = 2;
const REFUSING: [u8; 3] = [6, 7, 8];
/// Octets of `struct nlmsghdr`, `struct rtmsg` and `struct rtattr`.
const MESSAGE_BYTES: usize = 16;
const ROUTE_BYTES: usize = 12;
const ATTRIBUTE_BYTES: usize = 4;

/// What the kernel does with packets for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leading {
    /// It takes them itself.
    Itself,
    /// They leave by the device with this index.
    Device(u32),
    /// It has no route to there.
    Nowhere,
}

/// What the kernel does with packets for `address`, by its routes as they are for what it sends itself.
pub(super) fn leading(address: IpAddr) -> io::Result<Leading> {
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    send(&kernel, &request(address), SendFlags::empty())?;
    let mut answer = [0; 4096];
    let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    read(&answer[..length])
}

fn request(address: IpAddr) -> Vec<u8> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (AddressFamily::INET, address.octets().to_vec()),
        IpAddr::V6(address) => (AddressFamily::INET6, address.octets().to_vec()),
    };
    let attribute_bytes = ATTRIBUTE_BYTES + octets.len();
    let message_bytes = (MESSAGE_BYTES + ROUTE_BYTES + attribute_bytes) as u32;
    let mut message = Vec::new();
    message.extend(message_bytes.to_ne_bytes());
    message.extend([GET_ROUTE, REQUEST].map(u16::to_ne_bytes).concat());
    message.extend([0; 8]);
    message.extend([family.as_raw() as u8, 8 * octets.len() as u8]);
    message.extend([0; ROUTE_BYTES - 2]);
    message.extend([attribute_bytes as u16, DESTINATION].map(u16::to_ne_bytes).concat());
    message.extend(octets);
    message
}

fn read(answer: &[u8]) -> io::Result<Leading> {
    let short = || io::Error::new(ErrorKind::InvalidData, "the kernel's answer about a route is short");
    let body = answer.get(MESSAGE_BYTES..).ok_or_else(short)?;
    match u16_at(answer, 4).ok_or_else(short)? {
        ROUTE => {
            let kind = *body.get(7).ok_or_else(short)?;
            let device = || attribute(body.get(ROUTE_BYTES..)?, DEVICE);
            match kind {
                LOCAL => Ok(Leading::Itself),
                _ if REFUSING.contains(&kind) => Ok(Leading::Nowhere),
                _ => Ok(Leading::Device(device().ok_or_else(short)?)),
            }
        }
        ERROR => match Errno::from_raw_os_error(-(u32_at(body, 0).ok_or_else(short)? as i32)) {
            Errno::NETUNREACH | Errno::HOSTUNREACH => Ok(Leading::Nowhere),
            error => Err(error.into()),
        },
        _ => Err(io::Error::new(ErrorKind::InvalidData, "the kernel answered something else than a route")),
    }
}

/// Value of an attribute of this kind, which has four octets.
fn attribute(mut rest: &[u8], wanted: u16) -> Option<u32> {
    loop {
        let (length, kind) = (usize::from(u16_at(rest, 0)?), u16_at(rest, 2)?);
        if kind == wanted {
            return u32_at(rest, ATTRIBUTE_BYTES);
        }
        rest = rest.get(length.max(ATTRIBUTE_BYTES).next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer of this type with a body.
    fn answer(kind: u16, body: &[u8]) -> Vec<u8> {
        let length = (MESSAGE_BYTES + body.len()) as u32;
        [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], body].concat()
    }

    #[test]
    fn an_answer_of_the_kernel_names_a_device_or_none() {
        let route = |kind: u8, device: u32| {
            let head = [2, 32, 0, 0, 254, 0, 0, kind, 0, 0, 0, 0];
            let other = [&6u16.to_ne_bytes()[..], &9u16.to_ne_bytes(), &[7, 7, 0, 0]].concat();
            let own = [&8u16.to_ne_bytes()[..], &DEVICE.to_ne_bytes(), &device.to_ne_bytes()].concat();
            read(&answer(ROUTE, &[&head[..], &other, &own].concat())).unwrap()
        };
        assert_eq!(
            [route(1, 5), route(LOCAL, 1), route(7, 1)],
            [Leading::Device(5), Leading::Itself, Leading::Nowhere]
        );
        let error = |number: i32| read(&answer(ERROR, &(-number).to_ne_bytes()));
        assert_eq!(error(101).unwrap(), Leading::Nowhere, "network is unreachable");
        assert_eq!(error(1).unwrap_err().kind(), ErrorKind::PermissionDenied);
        for cut in 0..36 {
            let whole = answer(ROUTE, &[2, 32, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0, 8, 0, 4, 0, 5, 0, 0, 0]);
            assert!(read(&whole[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn the_kernel_takes_what_is_for_this_machine_itself() {
        assert_eq!(leading(std::net::Ipv4Addr::LOCALHOST.into()).unwrap(), Leading::Itself);
    }
}
