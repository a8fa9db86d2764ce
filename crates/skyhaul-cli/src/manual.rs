//! What the arguments say of themselves, for shells and for `man`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

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
    let written = std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(command.disable_help_subcommand(true), &args.dir));
    let failed =
        |error| Failure::new(format!("cannot write manual pages to {}: {error}", args.dir.display()));
    written.map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
