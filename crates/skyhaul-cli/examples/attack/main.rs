//! What attacks do to a receiver: `skyhaul receive`, as users run it, under one attack after the other,
//! beside an honest transfer. A tool for developers; `--help` says the rest, `--list` which attacks there
//! are. What attacks cost and achieve stands in `docs/spec/stp.md` 10.2.
#![allow(clippy::disallowed_methods, reason = "real processes in real time")]

mod arguments;
mod attack;
mod attacks;
mod binary;
mod false_receiver;
mod field;
mod geo;
mod honest;
mod machines;
mod measure;
mod peer;
mod process;
mod receiver;
mod relay;
mod show;
#[cfg(test)]
mod tests;
mod wire;

use std::io;
use std::process::ExitCode;

use arguments::{HELP, Mode};
use measure::Plan;

fn main() -> ExitCode {
    let done = match arguments::parse(std::env::args().skip(1)) {
        Ok(Mode::Help) => {
            print!("{HELP}");
            Ok(())
        }
        Ok(Mode::List) => {
            show::list();
            Ok(())
        }
        Ok(Mode::Run(plan)) => run(&plan),
        Err(error) => {
            eprintln!("attack: {error}\n`attack --list` lists the attacks, `attack --help` the options.");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("attack: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(plan: &Plan) -> io::Result<()> {
    let binary = binary::find(plan.binary.as_deref())?;
    show::head(plan);
    for attack in &plan.attacks {
        show::row(plan, attack, &measure::measure(plan, attack, &binary)?);
    }
    Ok(())
}
