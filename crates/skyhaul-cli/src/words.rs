//! The words of a command line, before the parser sees them.

use std::ffi::OsString;

use clap::Command;

/// Separator, behind which nothing is an option.
const ENDED: &str = "--";

/// Command line in which the options of `send` stand in front of its files and its address: the parser takes
/// a row of words before the last one only if no option stands within.
pub(crate) fn in_order(mut command: Command, words: Vec<OsString>) -> Vec<OsString> {
    command.build();
    let is_send = words.get(1).is_some_and(|word| word == "send");
    let Some(send) = command.find_subcommand("send").filter(|_| is_send) else { return words };
    let mut rest = words.into_iter().peekable();
    let (mut options, mut others) = (rest.by_ref().take(2).collect::<Vec<_>>(), Vec::new());
    while let Some(word) = rest.next() {
        if word == ENDED {
            others.extend(rest.by_ref());
        } else if is_option(&word) {
            let has_value_behind = wants_next(send, &word.to_string_lossy());
            options.push(word);
            options.extend(rest.next_if(|next| has_value_behind && next != ENDED));
        } else {
            others.push(word);
        }
    }
    if !others.is_empty() {
        options.push(ENDED.into());
    }
    options.into_iter().chain(others).collect()
}

/// True of all that begins with a dash but the dash alone, which is the standard input.
fn is_option(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// True if the next word is the value of this option, or of the last of these short ones.
fn wants_next(command: &Command, word: &str) -> bool {
    let takes_value = |is_it: &dyn Fn(&clap::Arg) -> bool| {
        command.get_arguments().any(|arg| is_it(arg) && arg.get_action().takes_values())
    };
    if let Some(name) = word.strip_prefix("--") {
        return takes_value(&|arg| arg.get_long() == Some(name));
    }
    let mut letters = word.chars().skip(1);
    // What stands behind a letter that takes a value is that value.
    let is_found = letters.by_ref().any(|letter| takes_value(&|arg| arg.get_short() == Some(letter)));
    is_found && letters.next().is_none()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    #[test]
    fn options_of_send_may_stand_anywhere() {
        for (written, meant) in [
            ("send f -q 192.0.2.7:4700", "send -q -- f 192.0.2.7:4700"),
            ("send f --rate 8M a", "send --rate 8M -- f a"),
            ("send f a --rate=8M", "send --rate=8M -- f a"),
            ("send - --name x a -qv", "send --name x -qv -- - a"),
            ("send f -q -- -g a", "send -q -- f -g a"),
            ("send f a --rate", "send --rate -- f a"),
            ("send f --rate -- a", "send --rate -- f a"),
            ("send f --unknown a", "send --unknown -- f a"),
            ("send --help", "send --help"),
            ("receive --dir d x", "receive --dir d x"),
        ] {
            let words =
                |text: &str| format!("skyhaul {text}").split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(in_order(Args::command(), words(written)), words(meant), "{written}");
        }
    }
}
