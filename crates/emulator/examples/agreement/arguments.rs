//! Arguments of the tool.

use crate::cells::{self, Cell};

pub(crate) const HELP: &str = "\
Does real time agree with virtual time? Each cell is a scenario that is simulated and emulated with the same seeds; what is compared
is goodput: payload bits between the first write and the last byte delivered in order.

agreement [options]
  --cells NAME,...   cells, or the files that they are in (default: the matrix)
  --seeds N          runs of each cell (default: what its file says)
  --patience N       repeats of a run outside its bound that the machine disturbed (default: 3)
  --together N       runs in real time at once (default: 1)
  --markdown         the table as it stands in docs/guide/agreement.md
  --json             everything, each run by itself

The exit code is 1 if a cell differs by more than its bound.

Cells:
  clean  clean-4M-xstp, clean-4M-declared, clean-4M-tcp and the same with 10M
  outage, lossy  likewise
  thin  thin-100k-xstp, thin-100k-declared, thin-100k-tcp and the same with 20k
  short  short-xstp, short-tcp: a few seconds each, not a part of the matrix
  explicit  explicit-ruled, explicit-unruled, explicit-model: likewise; a router, none, and nobody asks. The second
         one is compared with the third, too
";

/// How the result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Markdown,
    Json,
}

/// Task of the tool.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) cells: Vec<Cell>,
    pub(crate) patience: u32,
    pub(crate) together: usize,
    pub(crate) form: Form,
}

/// Run, or say how.
#[derive(Debug)]
pub(crate) enum Mode {
    Help,
    Run(Plan),
}

pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Mode, String> {
    let mut arguments = arguments.into_iter();
    let (mut wanted, mut seeds) = (None, None);
    let mut plan = Plan { cells: Vec::new(), patience: 3, together: 1, form: Form::Text };
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--help" | "-h" => return Ok(Mode::Help),
            "--cells" => wanted = Some(value()?),
            "--seeds" => seeds = Some(number(&option, &value()?, 1..=1000)?),
            "--patience" => plan.patience = number(&option, &value()?, 0..=1000)?,
            "--together" => plan.together = number(&option, &value()?, 1..=64)? as usize,
            "--markdown" => plan.form = Form::Markdown,
            "--json" => plan.form = Form::Json,
            _ => return Err(format!("{option}: no such option")),
        }
    }
    plan.cells = chosen(wanted.as_deref())?;
    for cell in &mut plan.cells {
        cell.seeds = seeds.unwrap_or(cell.seeds);
    }
    Ok(Mode::Run(plan))
}

fn number(option: &str, value: &str, allowed: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    let number = value.parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        format!("{option} {value}: wanted is a number from {} to {}", allowed.start(), allowed.end())
    })
}

/// The cells of these names, in the order of the files.
fn chosen(names: Option<&str>) -> Result<Vec<Cell>, String> {
    let all = cells::all()?;
    let Some(names) = names else { return Ok(all.into_iter().filter(|cell| !cell.is_extra).collect()) };
    let names: Vec<&str> = names.split(',').collect();
    let is_of = |cell: &Cell, name: &str| cell.name == name || cell.file == name;
    if let Some(name) = names.iter().find(|name| !all.iter().any(|cell| is_of(cell, name))) {
        return Err(format!("--cells {name}: no such cell"));
    }
    Ok(all.into_iter().filter(|cell| names.iter().any(|name| is_of(cell, name))).collect())
}
