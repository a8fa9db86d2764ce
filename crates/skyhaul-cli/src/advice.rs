//! Advice when a transfer ended early, or when a receiver could not begin.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use skyhaul_core::{CloseReason, ResetReason, SECOND};
use skyhaul_files::{Code, Fault};

use crate::transport::TransportEnd;

/// Reason why the connection under a session ended, if that is what ended the session.
pub(crate) fn close_reason(fault: &Fault) -> Option<CloseReason> {
    let Fault::Stream { source, .. } = fault else { return None };
    source.get_ref()?.downcast_ref().copied()
}

/// True if the machine is there, and nobody waits on it.
pub(crate) fn is_refusal(reason: CloseReason) -> bool {
    reason == CloseReason::Reset(Some(ResetReason::Refused))
}

/// True if the receiver is there and had no room: the connection says so, or the file protocol above it.
pub(crate) fn is_busy(fault: &Fault) -> bool {
    matches!(fault, Fault::Stopped(reason) if reason.code == Code::Busy)
        || close_reason(fault) == Some(CloseReason::Reset(Some(ResetReason::Busy)))
}

/// Reason why sending failed, and what to do; `was_heard`: the receiver had answered before.
pub(crate) fn of_sending<E: TransportEnd>(
    end: &E,
    peer: SocketAddr,
    fault: &Fault,
    was_heard: bool,
) -> String {
    let (transport, port) = (end.transport(), peer.port());
    let is_tcp = transport != "stp";
    let below = if is_tcp { "TCP" } else { "UDP" };
    let switches = match (is_tcp, E::IS_SEALED) {
        (true, _) => format!("--transport {transport} --tun NAME "),
        (false, true) => String::new(),
        (false, false) => "--plain ".into(),
    };
    let option = end.patience_option();
    let longer =
        option.map_or(String::new(), |option| format!("; a path that takes longer needs a larger {option}"));
    let nobody = || {
        format!(
            "nothing receives there; start `skyhaul receive {switches}--dir DIR --listen {peer}` on that machine, \
             or correct the address"
        )
    };
    match (close_reason(fault), was_heard) {
        (Some(CloseReason::Unreachable), false) => nobody(),
        (Some(reason), _) if is_refusal(reason) => nobody(),
        (Some(CloseReason::Unreachable), true) => {
            "nothing receives there any more; start the receiver again, then send again".into()
        }
        (Some(CloseReason::ConnectTimeout), _) if E::IS_SEALED => format!(
            "it did not answer, as a receiver does that does not know this machine; check the address, that \
             `skyhaul receive` waits there without --plain, that firewalls let UDP port {port} through, and by \
             `skyhaul id` and `skyhaul peers list` on both machines that each has the other's key, with one mode \
             and leave to send{longer}"
        ),
        (Some(CloseReason::ConnectTimeout), _) => format!(
            "it did not answer; check the address, that `skyhaul receive {switches}--dir DIR` waits there, and that \
             firewalls let {below} port {port} through{longer}"
        ),
        (Some(reason @ CloseReason::Oversized), _) => {
            // Below the least size that is searched for; IPv6 has no smaller ones.
            let size = if peer.is_ipv4() { "500, or less" } else { "1280" };
            format!(
                "{reason}: something on the way drops them without a word; send again, and if that ends alike with \
                 --mtu {size} (a receiver of the newest version takes them in pieces)"
            )
        }
        (Some(CloseReason::Silence), _) => {
            let time = option.map_or(String::new(), |option| format!(" ({option} sets the time)"));
            format!("it gave no sign of life for too long; send again when the link is back{time}")
        }
        _ if is_busy(fault) => {
            let how_long = option.map_or(String::new(), |option| format!(" ({option} sets how long to ask)"));
            format!("it has no room for another transfer; send again later{how_long}")
        }
        (Some(reason @ CloseReason::Reset(_)), _) => format!("{reason}; send again"),
        // We did not: who interrupts a transfer is told so elsewhere.
        (Some(CloseReason::AbortedHere), _) => E::LOST.into(),
        _ => fault.to_string(),
    }
}

/// Reason why receiving failed, and what to do.
pub(crate) fn of_receiving(fault: &Fault) -> String {
    match close_reason(fault) {
        // We did not: the socket or device under the connection failed.
        None | Some(CloseReason::AbortedHere) => fault.to_string(),
        Some(CloseReason::Silence) => {
            "the sender gave no sign of life for too long; it must send again".into()
        }
        Some(reason) => format!("{reason}; the sender must send again"),
    }
}

/// Advice to who waits at an address that the system refuses, behind the reason; empty if there is none.
pub(crate) fn of_listening(address: SocketAddr, error: &io::Error) -> String {
    let port = address.port();
    match (address, error.kind()) {
        (_, ErrorKind::AddrNotAvailable) => {
            format!("; --listen '[::]:{port}' waits at every address that it has")
        }
        (SocketAddr::V6(_), ErrorKind::Unsupported) => {
            format!(": it has no IPv6; write --listen 0.0.0.0:{port}")
        }
        (SocketAddr::V6(six), ErrorKind::InvalidInput) if six.ip().is_unicast_link_local() => format!(
            ": an address of one link needs the link's number in `ip link`, like '[{}%2]:{port}'",
            six.ip()
        ),
        _ => String::new(),
    }
}

/// Time for which an opening is tried that nobody answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpeningPatience {
    /// `None`: not known beforehand.
    pub(crate) ns: Option<u64>,
    /// Option that sets it, where there is one.
    pub(crate) option: Option<&'static str>,
}

/// Words about a receiver that has not answered for a while.
pub(crate) fn of_no_answer(peer: SocketAddr, patience: OpeningPatience) -> String {
    let option = patience.option.map(|option| format!(" ({option} sets that)")).unwrap_or_default();
    let until = match patience.ns {
        Some(ns) => format!("asking for {} s in all{option}", ns.div_ceil(SECOND)),
        None => "asking on".into(),
    };
    format!(
        "{peer} has not answered yet; is the address right, and does `skyhaul receive` wait there? {until}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_cannot_listen_is_told_where_one_can() {
        let advice = |address: &str, kind: ErrorKind| of_listening(address.parse().unwrap(), &kind.into());
        assert!(advice("192.0.2.7:4700", ErrorKind::AddrNotAvailable).contains("'[::]:4700'"));
        assert!(advice("[::]:4700", ErrorKind::Unsupported).ends_with("--listen 0.0.0.0:4700"));
        assert!(advice("[fe80::1]:4700", ErrorKind::InvalidInput).ends_with("'[fe80::1%2]:4700'"));
        assert_eq!(advice("127.0.0.1:4700", ErrorKind::AddrInUse), "");
    }
}
