//! `skyhaul`: the command line. Arguments in, results out; everything else lives in the libraries.
#![forbid(unsafe_code)]

mod address;
mod advice;
mod args;
mod capture;
mod confirmed;
mod counted;
mod cycles;
mod demo;
mod emulate;
mod errors;
mod failure;
mod file_lines;
mod known;
mod limited;
mod line;
mod link_history;
mod losers;
mod manual;
mod output;
mod parameters;
mod pauses;
mod progress;
mod race;
mod rate;
mod receive;
mod remembered;
mod reproduce;
mod result;
mod scoreboard;
mod send;
mod session_facts;
mod sessions;
mod signals;
mod sweep;
mod table;
mod transport;
mod verbosity;
mod verdicts;
mod wall_time;
mod ways;
mod why;
mod words;
mod wrap;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    let words = words::in_order(Args::command(), std::env::args_os().collect());
    let args = match Args::try_parse_from(&words) {
        Ok(args) => args,
        Err(error) => return misused(&words, &error),
    };
    // These have no thread but this one: namespaces must be entered before there are more.
    match &args.command {
        Command::EmulatedHost(args) => return emulate::host(args),
        Command::EmulatedInit(args) => return emulate::init(args),
        _ => {}
    }
    let tells_errors = args.command.tells_errors();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(args.command)),
        Err(error) => Err(Failure::new(format!("cannot start: {error}"))),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            if tells_errors && !failure.is_in_result() {
                let _ = output::print(&(failure.result().alone() + "\n"));
            }
            output::error(&format!("skyhaul: {failure}"));
            failure.exit_code()
        }
    }
}

/// Ends a command whose arguments clap does not take; that of help is none.
fn misused(words: &[OsString], error: &clap::Error) -> ExitCode {
    let options: Vec<_> = words.iter().skip(1).take_while(|word| *word != "--").collect();
    let is_told = options.first().is_some_and(|word| *word == "send" || *word == "receive");
    let own = lone_word(words, error);
    if error.use_stderr() && is_told && options.iter().any(|word| *word == "--json") {
        let text = own.clone().unwrap_or_else(|| error.render().to_string());
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        let _ = output::print(&(Failure::usage(message).result().alone() + "\n"));
    }
    match own {
        Some(text) => output::error(&format!("skyhaul: {text}")),
        None => drop(error.print()),
    }
    if let Some(tip) = tip(&options, error) {
        output::error(&format!("\n  tip: {tip}"));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// What to add where clap cannot know what was meant: a command of `emulate` without `--` before it.
fn tip(options: &[&OsString], error: &clap::Error) -> Option<&'static str> {
    let is_emulate = options.first().is_some_and(|word| *word == "emulate");
    let is_word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => !word.starts_with('-'),
        _ => false,
    };
    (is_emulate && is_word).then_some("a command stands behind --, like: skyhaul emulate geo -- ping gateway")
}

/// What to say of `send` with one word alone: with an address behind it, clap would take the command line.
fn lone_word(words: &[OsString], error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let with_address = words.iter().cloned().chain(["192.0.2.7:4700".into()]);
    match Args::try_parse_from(with_address).ok()?.command {
        Command::Send(args) => args.files.first().map(|word| send::lone_word(word.as_os_str())),
        _ => None,
    }
}

async fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Demo(args) => demo::run(args).await,
        Command::Send(args) => send::run(args).await,
        Command::Receive(args) => receive::run(args).await,
        Command::Simulate(args) => sweep::simulate(args).await,
        Command::Merge(args) => sweep::merge(&args),
        Command::Report(args) => sweep::report(&args),
        Command::Race(args) => race::run(args).await,
        Command::Scoreboard(args) => scoreboard::run(args).await,
        Command::RaceEnd(args) => race::run_end(args).await,
        Command::Reproduce(args) => reproduce::run(args).await,
        Command::Emulate(args) => emulate::run(args).await,
        Command::Control(args) => emulate::control(&args),
        Command::Completions(args) => manual::completions(Args::command(), &args),
        Command::Man(args) => manual::pages(Args::command(), &args),
        Command::EmulatedHost(args) => Ok(emulate::host(&args)),
        Command::EmulatedInit(args) => Ok(emulate::init(&args)),
    }
}
