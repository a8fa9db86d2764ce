//! A transfer by XSTP: two endpoints on UDP sockets, as behind `skyhaul emulate --udp`.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;

use skyhaul_emulator::{Emulation, HostAddress, UdpHost};
use skyhaul_net::{Endpoint, EndpointOptions};
use skyhaul_stp::Config;

use crate::emulated::{Course, Trial};
use crate::ends::{PORT, spawn};

/// Runs it.
pub(crate) fn run(trial: &Trial<'_>, opener: Config, acceptor: &Config) -> io::Result<Course> {
    let loopback = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    let options =
        EndpointOptions { seed: Some(trial.seed), accept: acceptor.clone(), ..EndpointOptions::default() };
    let (task, (tell, told), own) = (trial.task.clone(), mpsc::channel(), options.clone());
    let receiver = spawn("receiver", move || {
        task.run(async {
            let endpoint = Endpoint::bind(loopback, own)?;
            let mut listener = endpoint.listen(PORT)?;
            let _ = tell.send(endpoint.local_addr());
            let stream = listener.accept().await.ok_or_else(|| io::Error::other("the endpoint is closed"))?;
            task.receive(stream).await
        })
    })?;
    let peer = told.recv().map_err(|_| io::Error::other("the receiver cannot start"))?;
    let [sender_host, receiver_host] = trial.hosts();
    let sockets = [at_udp(sender_host, loopback, None), at_udp(receiver_host, loopback, Some(peer))];
    let (emulation, [gate, _]) = Emulation::between_sockets(trial.scenario, trial.seed, sockets)?;
    let (task, start) = (trial.task.clone(), trial.start(&emulation));
    let sender = spawn("sender", move || {
        task.run(async {
            let endpoint = Endpoint::client(gate, options)?;
            task.send(start, || endpoint.open(gate, PORT, opener)).await
        })
    })?;
    trial.finish(&emulation, start, sender, receiver)
}

fn at_udp(host: HostAddress, listen: SocketAddr, peer: Option<SocketAddr>) -> UdpHost {
    UdpHost { host, listen, peer }
}
