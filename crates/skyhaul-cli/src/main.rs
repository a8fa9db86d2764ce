//! `skyhaul`: the command line. Arguments in, results out; everything else lives in the libraries.
#![forbid(unsafe_code)]

mod address;
mod advice;
mod allowance;
mod args;
mod beside;
mod capture;
mod confirmed;
mod counted;
mod cycles;
mod demo;
mod descriptors;
mod dial;
mod dimension;
mod emulate;
mod errors;
mod failure;
mod fallback;
mod fast_open;
mod file_lines;
mod file_results;
mod fruitless;
mod held;
mod joined;
mod known;
mod limited;
mod line;
mod link_history;
mod listing;
mod losers;
mod manual;
mod map;
mod misused;
mod outlet;
mod output;
mod over_tun;
mod pair;
mod parameters;
mod parting;
mod pauses;
mod peers;
mod places;
mod processor;
mod progress;
mod protection;
mod race;
mod rate;
mod receive;
mod refusals;
mod remembered;
mod reproduce;
mod result;
mod routes;
mod scoreboard;
mod scps;
mod sealed;
mod seen;
mod send;
mod sent;
mod session;
mod session_facts;
mod sessions;
mod shown;
mod signal_numbers;
mod signals;
mod sources;
mod stalled;
mod strangers;
mod sweep;
mod table;
mod told;
mod transport;
mod verbosity;
mod verdicts;
mod waiting;
mod wall_time;
mod ways;
mod why;
mod words;
mod wrap;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    let words = words::in_order(Args::command(), std::env::args_os().collect());
    let args = match Args::try_parse_from(&words) {
        Ok(args) => args,
        Err(mut error) => return misused::conclude(&words, &mut error),
    };
    // These have no thread but this one: namespaces must be entered before there are more.
    match &args.command {
        Command::EmulatedHost(args) => return emulate::host(args),
        Command::EmulatedInit(args) => return emulate::init(args),
        _ => {}
    }
    let tells_errors = args.command.tells_errors();
    if args.command.moves_files() {
        output::begin();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(async {
                signals::let_writes_fail();
                run(args.command).await
            });
            runtime.shutdown_background(); // a disk that hangs holds nobody up: what matters was waited for
            result
        }
        Err(error) => Err(Failure::new(format!("cannot start: {error}"))),
    };
    let code = match result {
        Ok(code) => code,
        Err(failure) => {
            if tells_errors && !failure.is_in_result() {
                let _ = output::print(&(failure.result().alone() + "\n"));
            }
            output::error(&format!("skyhaul: {failure}"));
            failure.exit_code()
        }
    };
    if output::finish() || code != ExitCode::SUCCESS { code } else { ExitCode::FAILURE }
}

async fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Demo(args) => demo::run(args).await,
        Command::Send(args) => Box::pin(send::run(args)).await,
        Command::Receive(args) => receive::run(args).await,
        Command::Simulate(args) => sweep::simulate(args).await,
        Command::Merge(args) => sweep::merge(&args),
        Command::Report(args) => sweep::report(&args),
        Command::Race(args) => race::run(args).await,
        Command::Scoreboard(args) => scoreboard::run(args).await,
        Command::Map(args) => map::run(args).await,
        Command::RaceEnd(args) => race::run_end(args).await,
        Command::Dimension(args) => dimension::run(&args),
        Command::Reproduce(args) => reproduce::run(args).await,
        Command::Emulate(args) => emulate::run(args).await,
        Command::Control(args) => emulate::control(&args),
        Command::Pair(args) => pair::run(args).await,
        Command::Id(args) => peers::id(args),
        Command::Peers(args) => peers::run(args),
        Command::Completions(args) => manual::completions(Args::command(), &args),
        Command::Man(args) => manual::pages(Args::command(), &args),
        Command::EmulatedHost(args) => Ok(emulate::host(&args)),
        Command::EmulatedInit(args) => Ok(emulate::init(&args)),
    }
}
