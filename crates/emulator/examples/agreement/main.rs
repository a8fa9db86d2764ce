//! How well real time agrees with virtual time: the same scenarios, transports and seeds once in the
//! simulator and once between real endpoints over the emulated links. A tool for developers; `--help` says
//! the rest. `docs/guide/agreement.md` has what it measured.

mod arguments;
mod cells;
mod emulated;
mod ends;
mod matrix;
mod outcome;
mod pair;
mod processor;
mod row;
mod show;
mod stp;
mod tcp;
#[cfg(test)]
mod tests;

#[path = "../../../net/tests/kernel/wire.rs"]
mod wire;

use std::process::ExitCode;

use arguments::{HELP, Mode};
use skyhaul_net::realtime::MachineTrial;

fn main() -> ExitCode {
    let plan = match arguments::parse(std::env::args().skip(1)) {
        Ok(Mode::Run(plan)) => plan,
        Ok(Mode::Help) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}\n`agreement --help` lists what there is.");
            return ExitCode::from(2);
        }
    };
    if let Some(warning) = MachineTrial::run().warning() {
        eprintln!("agreement: {warning}");
    }
    match matrix::run(&plan) {
        Ok(rows) => {
            show::show(&plan, &rows);
            let pairs = pair::pairs(&rows);
            for pair in &pairs {
                eprintln!("{pair}");
            }
            let verdicts = rows.iter().map(row::Row::verdict).chain(pairs.iter().map(|pair| pair.verdict));
            if verdicts.into_iter().any(|verdict| verdict == row::Verdict::Differs) {
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("agreement: {error}");
            ExitCode::FAILURE
        }
    }
}
