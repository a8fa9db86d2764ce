//! Arguments of the tool.

use std::path::PathBuf;

use skyhaul_core::units::{parse_bytes, parse_rate_bps};

use crate::attack::{Attack, all};
use crate::measure::Plan;

pub(crate) const HELP: &str = "\
What attacks do to `skyhaul receive` beside an honest transfer. Everything runs on loopback addresses of this machine (127.x.x.x) and
ends with this program; an attack takes a minute at most.

  cargo run --release -p skyhaul-cli --example attack -- NAME... | all [OPTION VALUE]...

  --list            the attacks: where the attacker must be, IP octets a second, what he wants
  --size 20MB       size of the honest transfer
  --rate 10M        its rate, which is declared: loopback has none
  --binary PATH     the `skyhaul` that is attacked, to compare two of them; otherwise that of this source, which is built
  --json            an object a line
  --help

Each attack: a receiver, an honest transfer and a newcomer with a small file alone; then another receiver, an honest transfer, and
while that is under way the attack, and then the newcomer. Columns:
  honest      goodput beside the attack over goodput alone; - if the transfer was broken off
  newcomer    time from the newcomer's first try until its file was stored (tries, if it took more than one)
  memory      most that the receiver had resident, above what it had alone
  output      what its standard output and error grew by in a second, above what they did alone
  CPU         of the receiver, above what it took alone, for each datagram of the attacker, if he sent 10,000 or more
  attacker    what he sent: datagrams and IP octets a second
";

/// Task of the tool.
#[derive(Debug)]
pub(crate) enum Mode {
    Help,
    List,
    Run(Plan),
}

pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Mode, String> {
    let mut arguments = arguments.into_iter();
    let mut plan = Plan::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Mode::Help),
            "--list" => return Ok(Mode::List),
            "--json" => plan.is_json = true,
            "--size" => plan.bytes = sized(&value()?)?,
            "--rate" => plan.rate_bps = parse_rate_bps(&value()?)?,
            "--binary" => plan.binary = Some(PathBuf::from(value()?)),
            option if option.starts_with('-') => return Err(format!("{option}: no such option")),
            name => plan.attacks.extend(named(name)?),
        }
    }
    if plan.attacks.is_empty() { Err("the name of an attack is missing".into()) } else { Ok(Mode::Run(plan)) }
}

fn sized(text: &str) -> Result<u64, String> {
    match parse_bytes(text)? {
        0 => Err("--size 0: nothing would be under way".into()),
        bytes => Ok(bytes),
    }
}

fn named(name: &str) -> Result<Vec<Attack>, String> {
    let found: Vec<Attack> = all().filter(|attack| name == "all" || attack.name == name).collect();
    if found.is_empty() { Err(format!("{name}: no such attack")) } else { Ok(found) }
}
