//! A transfer by TCP: two hosts in user space, joined to the emulation by wires that keep packets apart.

use std::io;
use std::sync::mpsc;

use skyhaul_emulator::{Emulation, HostAddress};
use skyhaul_net::tun::{TunHost, TunOptions};
use skyhaul_tcp::Config;

use crate::emulated::{Course, Trial};
use crate::ends::{PORT, spawn};
use crate::wire::wire;

/// Runs it.
pub(crate) fn run(trial: &Trial<'_>, opener: Config, acceptor: &Config) -> io::Result<Course> {
    let [sender_host, receiver_host] = trial.hosts();
    let peer = (receiver_host.v4, PORT).into();
    let options = |host: &HostAddress| TunOptions {
        seed: Some(trial.seed),
        accept: acceptor.clone(),
        ..TunOptions::new(vec![host.v4.into()])
    };
    let [sender_options, receiver_options] = [options(&sender_host), options(&receiver_host)];
    let ((near, far), (near_too, far_too)) = (wire()?, wire()?);
    let (task, (tell, told)) = (trial.task.clone(), mpsc::channel());
    let receiver = spawn("receiver", move || {
        task.run(async {
            let host = TunHost::over(far_too, receiver_options)?;
            let mut listener = host.listen(PORT, 1)?;
            let _ = tell.send(());
            let stream = listener.accept().await.ok_or_else(|| io::Error::other("the host is closed"))?;
            task.receive(stream).await
        })
    })?;
    told.recv().map_err(|_| io::Error::other("the receiver cannot start"))?;
    let devices = vec![(sender_host, near), (receiver_host, near_too)];
    let emulation = Emulation::between_devices(trial.scenario, trial.seed, trial.addresses(), devices)?;
    let (task, start) = (trial.task.clone(), trial.start(&emulation));
    let sender = spawn("sender", move || {
        task.run(async {
            let host = TunHost::over(far, sender_options)?;
            task.send(start, || host.open(peer, opener)).await
        })
    })?;
    trial.finish(&emulation, start, sender, receiver)
}
