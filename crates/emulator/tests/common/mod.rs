//! An emulation between descriptors, and the packets at them.

#[path = "../../../net/tests/kernel/wire.rs"]
mod wire;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use skyhaul_emulator::{Addresses, Emulation};
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP};

pub(crate) const LONG: Duration = Duration::from_secs(10);
pub(crate) const SHORT: Duration = Duration::from_millis(100);

/// The emulation of a scenario with two hosts, and the descriptors that they have.
pub(crate) fn started(text: &str) -> (Emulation, OwnedFd, OwnedFd) {
    let file = File::parse(&Register::new(&[&STP, &TCP]), "test", text).unwrap();
    let scenario = file.scenario_at(&file.points().next().unwrap()).unwrap();
    let addresses = Arc::new(Addresses::new(&scenario));
    let ((near, a), (far, b)) = (wire::wire().unwrap(), wire::wire().unwrap());
    let devices = addresses.hosts().iter().cloned().zip([near, far]).collect();
    (Emulation::between_devices(&scenario, 1, addresses, devices).unwrap(), a, b)
}

pub(crate) fn send(fd: &OwnedFd, packet: &[u8]) {
    assert_eq!(rustix::io::write(fd, packet).unwrap(), packet.len());
}

/// The next packet, if one comes within this time.
pub(crate) fn receive(fd: &OwnedFd, within: Duration) -> Option<Vec<u8>> {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    let patience = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    poll(&mut fds, Some(&patience)).unwrap();
    let mut room = vec![0; 2000];
    let length = rustix::io::read(fd, &mut room).ok()?;
    room.truncate(length);
    Some(room)
}
