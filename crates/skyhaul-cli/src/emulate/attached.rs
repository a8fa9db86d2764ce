//! Hosts that somebody else has: at UDP ports, in namespaces or at devices that exist.

use std::process::ExitCode;

use skyhaul_emulator::control::ControlSocket;
use skyhaul_emulator::{Emulation, Home, HostPlan, Output, Testbed, TestbedOptions, UdpHost};

use super::captured::SceneCapture;
use super::scene::{EmulatedScene, no_lab};
use super::{EmulateArgs, control, shown, status, stop};
use crate::failure::Failure;
use crate::output::note;

/// Between two UDP ports.
pub(super) async fn udp(args: &EmulateArgs, scene: &EmulatedScene) -> Result<ExitCode, Failure> {
    let [a, b] = args.udp.as_slice() else {
        return Err(Failure::usage("--udp is wanted twice: a UDP relay joins two hosts"));
    };
    if a.host == b.host {
        return Err(Failure::usage(format!("both --udp are for '{}'; name two hosts", a.host)));
    }
    let host = |arg: &super::args::UdpArg| {
        let host = scene.host(&arg.host)?.clone();
        Ok::<_, Failure>(UdpHost { host, listen: arg.listen, peer: arg.peer })
    };
    let sockets = [host(a)?, host(b)?];
    let place = control::place(args)?;
    let capture = SceneCapture::start(args, scene)?;
    let stop = stop::asked(args.duration);
    let started = Emulation::between_sockets(&scene.scenario, scene.seed, sockets);
    let (emulation, at) =
        started.map_err(|error| Failure::new(format!("the emulation cannot start: {error}")))?;
    capture.watch(&emulation);
    if !args.quiet {
        if let Some(router) = scene.scenario.nodes.iter().find(|node| node.signals_sent().is_some()) {
            note(&format!(
                "the router '{}' sends no signals here: UDP ports carry no ICMP, and what is behind them would not \
                 hear it; --tun, --device and commands on hosts do",
                router.name
            ));
        }
        for (own, at) in args.udp.iter().zip(at) {
            let peer = own.peer.map_or("whoever last wrote there".to_string(), |peer| peer.to_string());
            note(&format!("{} is at udp {at}, which stands for the other end; its peer: {peer}", own.host));
        }
    }
    wait((args, scene), place.as_ref(), &emulation, stop).await;
    let report = emulation.stop();
    capture.finish();
    shown::show(args, scene, &report, None, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Between devices.
pub(super) async fn devices(args: &EmulateArgs, scene: &EmulatedScene) -> Result<ExitCode, Failure> {
    let plans = plans(args, scene)?;
    let place = control::place(args)?;
    let options = TestbedOptions {
        mtu_bytes: args.device_mtu_bytes()?,
        icmp: !args.no_icmp,
        ..TestbedOptions::new(scene.seed)
    };
    let capture = SceneCapture::start(args, scene)?;
    let stop = stop::asked(args.duration);
    let lab = Testbed::start(&scene.scenario, &scene.addresses, plans, &options)
        .map_err(|error| no_lab(&error, scene))?;
    capture.watch(lab.emulation());
    if !args.quiet {
        for host in args.tun.iter().filter_map(|tun| scene.addresses.named(&tun.host)) {
            note(&format!("{} is {} and {}", host.name, host.v4, host.v6));
        }
    }
    wait((args, scene), place.as_ref(), lab.emulation(), stop).await;
    let report = lab.stop().await;
    capture.finish();
    shown::show(args, scene, &report, None, None)?;
    Ok(ExitCode::SUCCESS)
}

async fn wait(
    (args, scene): (&EmulateArgs, &EmulatedScene),
    place: Option<&ControlSocket>,
    emulation: &Emulation,
    stop: impl Future<Output = stop::Why>,
) {
    tokio::select! {
        never = control::answer(place, emulation, scene) => match never {},
        _ = stop => {}
        never = status::show(emulation, args.quiet || args.json) => match never {},
    }
}

fn plans(args: &EmulateArgs, scene: &EmulatedScene) -> Result<Vec<HostPlan>, Failure> {
    let tuns = args.tun.iter().map(|tun| {
        let home = Home::Existing { namespace: tun.namespace.clone(), device: tun.device.clone() };
        (&tun.host, home)
    });
    let devices = args.device.iter().map(|(host, device)| (host, Home::Device { device: device.clone() }));
    let mut plans: Vec<HostPlan> = Vec::new();
    for (name, home) in tuns.chain(devices) {
        let host = scene.host(name)?.clone();
        if plans.iter().any(|plan| plan.host == host) {
            return Err(Failure::usage(format!("the host '{name}' has two places; name one")));
        }
        if let Some(other) = plans.iter().find(|plan| are_one(&plan.home, &home)) {
            return Err(Failure::usage(format!(
                "'{name}' and '{}' have the same place: what one sends to the other would not pass the links",
                other.host.name
            )));
        }
        plans.push(HostPlan { host, home, command: None, output: Output::Inherit });
    }
    if plans.len() < 2 {
        return Err(Failure::usage("name at least two hosts by --tun or --device"));
    }
    Ok(plans)
}

/// True if a kernel would find both hosts at home, or both have one device.
fn are_one(a: &Home, b: &Home) -> bool {
    match (a, b) {
        (Home::Existing { namespace: a, .. }, Home::Existing { namespace: b, .. }) => a == b,
        (Home::Device { device: a }, Home::Device { device: b }) => a == b,
        _ => false,
    }
}
