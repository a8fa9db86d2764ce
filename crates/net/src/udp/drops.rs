//! Datagrams that the system dropped, as this machine was too slow to take them out of a socket's buffer.

use std::os::fd::AsRawFd;

/// Numbers that `SO_MEMINFO` gives, and the place of the drops among them (`SK_MEMINFO_DROPS`).
const MEMINFO_VALUES: usize = 9;
const DROPS: usize = 8;

/// Counter of a socket's drops, of which the system keeps 32 bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SocketDrops {
    last: u32,
}

impl SocketDrops {
    /// Drops since the last call, if the system tells so many in all.
    pub(super) fn since(&mut self, told: Option<u32>) -> u64 {
        let Some(told) = told else { return 0 };
        u64::from(told.wrapping_sub(core::mem::replace(&mut self.last, told)))
    }
}

/// Datagrams that the system has dropped for want of room, modulo 2^32; `None`: it does not tell (before
/// Linux 4.12).
#[allow(unsafe_code)]
pub(super) fn counted(socket: &impl AsRawFd) -> Option<u32> {
    let mut values = [0_u32; MEMINFO_VALUES];
    let mut bytes = size_of_val(&values) as libc::socklen_t;
    // SAFETY: the descriptor is open while `socket` lives; the kernel writes at most `bytes` bytes at
    // `values`, and how many at `bytes`; it keeps no pointer.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    let is_told = result == 0 && bytes as usize >= size_of_val(&values);
    is_told.then(|| values[DROPS])
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_burst_that_overflows_the_buffer_is_counted() -> io::Result<()> {
        let (to, from) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        socket2::SockRef::from(&to).set_recv_buffer_size(4096)?;
        let mut drops = SocketDrops::default();
        assert_eq!(drops.since(counted(&to)), 0);
        for _ in 0..100 {
            from.send_to(&[0; 1400], to.local_addr()?)?;
        }
        to.set_nonblocking(true)?;
        let taken = std::iter::from_fn(|| to.recv(&mut [0; 1500]).ok()).count() as u64;
        assert!(taken < 100, "{taken} fit into 4096 bytes");
        assert_eq!(drops.since(counted(&to)), 100 - taken);
        assert_eq!(drops.since(counted(&to)), 0, "counted once");
        Ok(())
    }

    #[test]
    fn the_counter_of_the_system_wraps() {
        let mut drops = SocketDrops { last: u32::MAX - 1 };
        assert_eq!([drops.since(Some(3)), drops.since(None), drops.since(Some(4))], [5, 0, 1]);
    }
}
