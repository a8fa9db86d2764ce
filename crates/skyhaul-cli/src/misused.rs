//! Command lines that the parser does not take: what it says of them, and what it cannot know.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::{Args, Command};
use crate::failure::Failure;
use crate::{output, send};

/// Ends a command whose arguments clap does not take; that of help is none.
pub(crate) fn conclude(words: &[OsString], error: &clap::Error) -> ExitCode {
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
