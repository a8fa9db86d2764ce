//! What the arguments say of themselves, for shells and for `man`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::failure::Failure;
use crate::output;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
bash:  skyhaul completions bash >~/.local/share/bash-completion/completions/skyhaul
zsh:   skyhaul completions zsh >DIR/_skyhaul, where DIR is one of $fpath
fish:  skyhaul completions fish >~/.config/fish/completions/skyhaul.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell that reads them
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder that the pages go to, which is made if it is not there: `man -l DIR/skyhaul-send.1` shows one
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn completions(mut command: Command, args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "skyhaul", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn pages(command: Command, args: &ManArgs) -> Result<ExitCode, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let written = std::fs::create_dir_all(&args.dir).and_then(|()| write_pages(&command, &args.dir));
    let failed =
        |error| Failure::new(format!("cannot write manual pages to {}: {error}", args.dir.display()));
    let pages = written.map_err(failed)?;
    output::note(&format!("{pages} manual pages are in '{0}' now: man -l {0}/skyhaul.1", args.dir.display()));
    Ok(ExitCode::SUCCESS)
}

/// Writes the pages of a command and of those below it; how many.
fn write_pages(command: &Command, folder: &Path) -> io::Result<usize> {
    let mut pages = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        pages += write_pages(below, folder)?;
    }
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let usage = command.clone().render_usage().to_string();
    let text = with_synopsis(&String::from_utf8_lossy(&text), usage.trim_start_matches("Usage: "));
    std::fs::write(folder.join(page.get_filename()), text)?;
    Ok(pages)
}

/// A page with the synopsis that `--help` shows: it says which arguments may be given several times.
fn with_synopsis(page: &str, usage: &str) -> String {
    const HEADINGS: (&str, &str) = (".SH SYNOPSIS\n", ".SH DESCRIPTION\n");
    let parts =
        page.split_once(HEADINGS.0).and_then(|(before, rest)| Some((before, rest.split_once(HEADINGS.1)?.1)));
    let Some((before, after)) = parts else { return page.to_owned() };
    let usage = usage.replace('\\', "\\e").replace('-', "\\-");
    let lines = usage.lines().map(|line| format!("{}\n", line.trim())).collect::<Vec<_>>().join(".br\n");
    [before, HEADINGS.0, &lines, HEADINGS.1, after].concat()
}
