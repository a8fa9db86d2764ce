//! Arguments of the user.

use std::time::Duration;

use skyhaul_core::units::{parse_bytes, parse_rate_bps, parse_time_ns};
use skyhaul_link::{DirectionConfig, LinkConfig, QueueLimit};

use crate::compare;
use crate::cpu;
use crate::stacks::Tcp;

pub(crate) const HELP: &str = "\
tcp-perf: skyhaul's TCP host on a TUN device beside the Linux kernel's TCP. Needs root, /dev/net/tun and `ip`. Every run makes
network namespaces of its own, which go with it.

  cargo run --release -p skyhaul-net --example tcp-perf -- MODE [OPTION VALUE]...

compare: goodput of one bulk transfer over an emulated link, the kernel and ours in turn as the sender, each to the same
receiver. Goodput is what the receiver's application has read, over the time since it accepted the connection. A run in
which the link was not emulated exactly (more than 0.1 % of its packets later than 1 ms), or in which the sender's thread stood
still for more than 10 ms, is thrown away and repeated. Beside other work put `chrt -f 10` in front of the built program.
  --rate 20M             rate of the link, both ways
  --rtt 200ms            its delay, there and back together
  --queue 170            packets that wait or are being sent, either way
  --loss 0               probability that a packet of the sender's direction is lost
  --seed 1               of the losses; repeat n uses seed + n, for the kernel and for ours alike
  --seconds 60           length of a run
  --repeats 3            undisturbed runs of each
  --controllers reno,cubic,bbr
  --receiver kernel      whose TCP receives: kernel or ours
  --patience 3           disturbed runs thrown away for each run kept; after that a disturbed run counts, and is marked
  --ss FOLDER            what both senders know of the connection, every 100 ms, in a file a run

cpu: CPU time for a gigabyte through a TUN device, without a limiting link. Two kernels have a device each, joined by a relay,
a thread that reads a packet here and writes it there. Our host sits on the device itself, or (relayed) behind that relay, too.
Every write to a device does the work of the kernel's TCP behind it, on the writer's account.
  --size 1GB             payload of a run
  --repeats 5            runs of each
  --controller cubic     of the sender
  --mtu 1500             of the devices

Both:
  --json                 one object on standard output
  --help
";

pub(crate) enum Mode {
    Help,
    Compare(Box<compare::Plan>),
    Cpu(cpu::Plan),
}

pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Mode, String> {
    let words: Vec<String> = words.collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        return Ok(Mode::Help);
    }
    match words.split_first() {
        Some((mode, options)) if mode == "compare" => {
            compare_plan(options).map(|plan| Mode::Compare(Box::new(plan)))
        }
        Some((mode, options)) if mode == "cpu" => cpu_plan(options).map(Mode::Cpu),
        Some((other, _)) => Err(format!("'{other}' is no mode: compare or cpu")),
        None => Err("a mode is missing: compare or cpu".into()),
    }
}

/// Calls `set` for every option with its value. `--json` has none.
fn each(options: &[String], mut set: impl FnMut(&str, &str) -> Result<(), String>) -> Result<(), String> {
    let mut options = options.iter();
    while let Some(name) = options.next() {
        if name == "--json" {
            set(name, "")?;
        } else {
            let value = options.next().ok_or_else(|| format!("{name} needs a value, or is not known"))?;
            set(name, value).map_err(|error| format!("{name} {value}: {error}"))?;
        }
    }
    Ok(())
}

fn compare_plan(options: &[String]) -> Result<compare::Plan, String> {
    let mut plan = compare::Plan::default();
    let (mut rate_bps, mut rtt_ns, mut queue, mut loss) = (20_000_000, 200_000_000, 170, 0.0);
    each(options, |name, value| {
        match name {
            "--rate" => rate_bps = parse_rate_bps(value)?,
            "--rtt" => rtt_ns = parse_time_ns(value)?,
            "--queue" => queue = whole(value, 1, 1_000_000)? as u32,
            "--loss" => loss = probability(value)?,
            "--seed" => plan.seed = whole(value, 0, u64::from(u32::MAX))?,
            "--seconds" => plan.time = Duration::from_secs(whole(value, 1, 3600)?),
            "--repeats" => plan.repeats = whole(value, 1, 1000)?,
            "--controllers" => {
                plan.controllers = value.split(',').map(controller).collect::<Result<_, _>>()?;
            }
            "--receiver" => plan.receiver = tcp(value)?,
            "--patience" => plan.patience = whole(value, 0, 100)?,
            "--ss" => plan.log = Some(value.into()),
            "--json" => plan.json = true,
            _ => return Err("no such option of compare".into()),
        }
        Ok(())
    })?;
    let way = DirectionConfig {
        rate_bps: Some(rate_bps),
        delay_ns: rtt_ns / 2,
        queue: QueueLimit::Packets(queue),
        ..DirectionConfig::default()
    };
    let there = DirectionConfig { loss, ..way.clone() };
    plan.link = LinkConfig { name: "tcp-perf".into(), forward: there, reverse: way, ..LinkConfig::default() };
    Ok(plan)
}

fn cpu_plan(options: &[String]) -> Result<cpu::Plan, String> {
    let mut plan = cpu::Plan::default();
    each(options, |name, value| {
        match name {
            "--size" => plan.bytes = parse_bytes(value)?.max(1),
            "--repeats" => plan.repeats = whole(value, 1, 1000)?,
            "--controller" => plan.controller = controller(value)?,
            "--mtu" => plan.mtu_bytes = whole(value, 576, 65_535)? as u32,
            "--json" => plan.json = true,
            _ => return Err("no such option of cpu".into()),
        }
        Ok(())
    })?;
    Ok(plan)
}

fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("a whole number from {least} to {most} is needed"))
}

fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..1.0).contains(number));
    number.ok_or_else(|| "a number from 0 to below 1 is needed".into())
}

fn controller(name: &str) -> Result<&'static str, String> {
    let known = ["reno", "cubic", "bbr"];
    known.into_iter().find(|known| *known == name).ok_or_else(|| "reno, cubic or bbr is needed".into())
}

fn tcp(name: &str) -> Result<Tcp, String> {
    [Tcp::Kernel, Tcp::Ours]
        .into_iter()
        .find(|tcp| tcp.name() == name)
        .ok_or_else(|| "kernel or ours is needed".into())
}
