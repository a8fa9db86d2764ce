//! How the TCP host on a TUN device compares with the Linux kernel's TCP: in goodput over a link (`compare`),
//! and in what it costs (`cpu`). A tool for developers; `--help` says the rest.
//! `docs/spec/tcp-cross-check.md` has what it measured.

mod arguments;
mod compare;
mod cpu;
mod ends;
mod lab;
mod numbers;
mod relay;
mod stacks;
#[cfg(test)]
mod tests;
mod usage;

#[path = "../../tests/kernel/netns.rs"]
mod netns;
#[path = "../../tests/kernel/wire.rs"]
mod wire;

use std::process::ExitCode;

use arguments::{HELP, Mode};

fn main() -> ExitCode {
    let mode = match arguments::parse(std::env::args().skip(1)) {
        Ok(mode) => mode,
        Err(error) => {
            eprintln!("{error}\n`tcp-perf --help` lists what there is.");
            return ExitCode::from(2);
        }
    };
    let done = match mode {
        Mode::Help => {
            print!("{HELP}");
            Ok(())
        }
        Mode::Compare(plan) => lab::check().and_then(|()| compare::run(&plan)),
        Mode::Cpu(plan) => lab::check().and_then(|()| cpu::run(&plan)),
    };
    if let Err(error) = done {
        eprintln!("tcp-perf: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
