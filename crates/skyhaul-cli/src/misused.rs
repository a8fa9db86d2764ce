//! Command lines that the parser does not take: what it says of them, and what it cannot know.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::address::is_address;
use crate::args::{Args, Command};
use crate::failure::Failure;
use crate::line::shortened;
use crate::output;

/// Ends a command whose arguments clap does not take; that of help is none.
pub(crate) fn conclude(words: &[OsString], error: &mut clap::Error) -> ExitCode {
    shorten(error);
    let options: Vec<_> = words.iter().skip(1).take_while(|word| *word != "--").collect();
    let is_told =
        options.first().is_some_and(|word| *word == "send" || *word == "receive" || *word == "pair");
    let own = with_lone_word(words, error);
    if error.use_stderr() && is_told && options.iter().any(|word| *word == "--json") {
        let text = own.clone().unwrap_or_else(|| error.render().to_string());
        let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        let _ = output::print(&(Failure::usage(message).result().alone() + "\n"));
    }
    let tip = tip(&options, error);
    if tip.is_some() {
        // clap takes "-8" for a value of no option, and would have it behind "--".
        error.remove(ContextKind::Suggested);
    }
    let is_printed = match own {
        Some(text) => {
            output::error(&format!("skyhaul: {text}"));
            true
        }
        None => error.print().is_ok(),
    };
    if let Some(tip) = tip {
        output::error(&format!("\n  tip: {tip}"));
    }
    match u8::try_from(error.exit_code()) {
        Ok(0) if !is_printed => ExitCode::FAILURE,
        code => ExitCode::from(code.unwrap_or(2)),
    }
}

/// Has the error name of a long value or word its ends alone.
fn shorten(error: &mut clap::Error) {
    const COLUMNS: usize = 100;
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(word)) = error.get(kind) {
            let short = shortened(word, COLUMNS);
            error.insert(kind, ContextValue::String(short));
        }
    }
}

/// What to add where clap cannot know what was meant: a command of `emulate` without `--` before it, or
/// without a link; a value that begins with '-'.
fn tip(options: &[&OsString], error: &clap::Error) -> Option<&'static str> {
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let is_negative =
        |word: &str| word.starts_with('-') && word[1..].starts_with(|next: char| next.is_ascii_digit());
    if error.kind() == ErrorKind::UnknownArgument && word.is_some_and(is_negative) {
        return Some("rates, sizes, times and counts begin with a digit; none is negative");
    }
    if options.first().is_none_or(|word| *word != "emulate") {
        return None;
    }
    if error.kind() == ErrorKind::MissingRequiredArgument {
        return Some(
            "name a scenario, like `skyhaul emulate geo`, or describe a link, like `skyhaul emulate --rate 10M --delay 275ms`",
        );
    }
    let is_word = word.is_some_and(|word| !word.starts_with('-'));
    is_word.then_some("a command stands behind --, like: skyhaul emulate geo -- ping gateway")
}

/// What to say of `send` with one word alone: with an address behind it, clap would take the command line.
fn with_lone_word(words: &[OsString], error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let with_address = words.iter().cloned().chain(["192.0.2.7:4700".into()]);
    match Args::try_parse_from(with_address).ok()?.command {
        Command::Send(args) => args.files.first().map(|word| lone_word(word.as_os_str())),
        _ => None,
    }
}

/// The address belongs behind the files, and is no file itself.
pub(crate) fn has_address(files: &[PathBuf], to: &str) -> Result<(), Failure> {
    if is_address(to) {
        return Ok(());
    }
    let first = files.first().filter(|first| !first.exists()).and_then(|first| first.to_str());
    match first {
        Some(first) if is_address(first) => Err(Failure::usage(format!(
            "'{}' looks like an address: write the files first and the receiver last",
            first.escape_debug()
        ))),
        _ if Path::new(to).exists() => {
            Err(Failure::usage(address_missing(&format!("'{}' is a file", to.escape_debug()))))
        }
        _ => Ok(()),
    }
}

/// What to say of a command line with one word where a file and an address belong.
fn lone_word(word: &OsStr) -> String {
    let shown = word.to_string_lossy().escape_debug().to_string();
    if word.to_str().is_some_and(|word| is_address(word) && !Path::new(word).exists()) {
        return format!(
            "no file to send: write files before the address, like `skyhaul send --plain FILE {shown}`"
        );
    }
    address_missing(&format!("'{shown}' stands alone"))
}

fn address_missing(why: &str) -> String {
    format!(
        "the receiver is missing, {why}: write its name behind the files, like `skyhaul send FILE ship`, or its \
         address with --plain, like `skyhaul send --plain FILE 192.0.2.7:4700`"
    )
}
