//! Reports (ICMP) about datagrams of a socket that is not connected: the system keeps them in a queue, each
//! with the address that the datagram went to.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use socket2::SockAddr;

use super::fragments::set_option;

/// Room for what the system tells beside a report: its own words and the address of who reported.
const CONTROL_WORDS: usize = 32;

/// Report about a datagram that left, or was to leave.
#[derive(Debug)]
pub(super) struct Report {
    /// Address that it went to.
    pub(super) to: SocketAddr,
    /// What is the matter.
    pub(super) error: io::Error,
    /// Largest packet that a router forwards, where the error says that one was too large. What this machine
    /// itself found too large was told when it was sent.
    pub(super) told_bytes: Option<u32>,
}

/// Has the system keep reports for this socket.
pub(super) fn keep(socket: &impl AsRawFd, is_v6: bool) -> io::Result<()> {
    if is_v6 {
        set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1)?;
    }
    // Sockets of IPv6 keep reports about datagrams to addresses of IPv4 only if they are told so, too.
    set_option(socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1)
}

/// Next report; `None` if there is none, or the system says something else.
#[allow(unsafe_code)]
pub(super) fn next(socket: &impl AsRawFd) -> Option<Report> {
    let mut control = [0_usize; CONTROL_WORDS];
    let mut message = MaybeUninit::<libc::msghdr>::zeroed();
    // SAFETY: every field is a number or a pointer, for which zeros are a value.
    let message = unsafe { message.assume_init_mut() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<[usize; CONTROL_WORDS]>() as _;
    // SAFETY: the descriptor is open while `socket` lives, and the storage is the length that is given; the
    // kernel writes at most that much there and to `control`, and keeps no pointer.
    let received = unsafe {
        SockAddr::try_init(|storage, length| {
            message.msg_name = storage.cast();
            message.msg_namelen = *length;
            let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
            if libc::recvmsg(socket.as_raw_fd(), &raw mut *message, flags) < 0 {
                return Err(io::Error::last_os_error());
            }
            *length = message.msg_namelen;
            Ok(())
        })
    };
    let to = received.ok()?.1.as_socket()?;
    let said = extended_error(message)?;
    let is_ours = said.ee_origin == libc::SO_EE_ORIGIN_LOCAL;
    let is_size = said.ee_errno as i32 == libc::EMSGSIZE;
    let told_bytes = (is_size && !is_ours).then_some(said.ee_info);
    Some(Report { to, error: io::Error::from_raw_os_error(said.ee_errno as i32), told_bytes })
}

/// The system's words about an error.
#[allow(unsafe_code)]
fn extended_error(message: &libc::msghdr) -> Option<libc::sock_extended_err> {
    // SAFETY: the kernel filled the control data in; the macros stay within the length that it set, and each
    // of its messages of these types holds such a value, read without regard to its alignment.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(message);
        while let Some(control) = head.as_ref() {
            if matches!(
                (control.cmsg_level, control.cmsg_type),
                (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
            ) {
                return Some(libc::CMSG_DATA(head).cast::<libc::sock_extended_err>().read_unaligned());
            }
            head = libc::CMSG_NXTHDR(message, head);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_refusal_comes_with_the_address_that_was_written_to() -> io::Result<()> {
        let vacant = || UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        keep(&socket, false)?;
        socket.set_read_timeout(Some(Duration::from_secs(1)))?;
        assert!(next(&socket).is_none());
        let mut peers = [vacant()?, vacant()?];
        for peer in peers {
            // The second call tells of the first datagram, and sends nothing.
            let _ = socket.send_to(b"anybody?", peer).or_else(|_| socket.send_to(b"anybody?", peer));
            let _ = socket.recv(&mut [0]); // returns when the report is there
        }
        let mut told: Vec<SocketAddr> = std::iter::from_fn(|| next(&socket))
            .map(|report| {
                assert_eq!(
                    (report.error.kind(), report.told_bytes),
                    (io::ErrorKind::ConnectionRefused, None)
                );
                report.to
            })
            .collect();
        told.sort();
        peers.sort();
        assert_eq!(told, peers);
        Ok(())
    }
}
