//! How much `demo`, `send` and `receive` tell.

use crate::output;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct VerbosityArgs {
    /// Tell nothing but errors (and, with --json, the result)
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// List every file with its digest, however many there are
    #[arg(long, short, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
}

impl VerbosityArgs {
    /// Makes the process as quiet as was asked for.
    pub(crate) fn begin(self) {
        if self.quiet {
            output::be_quiet();
        }
    }
}

/// Form in which a result is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One line of JSON; of a receiver's many failures the first, and of its many small files.
    Json,
    /// One line of JSON with every file.
    FullJson,
    /// A table; of many files their number and those that failed.
    Table,
    /// A table with every file.
    FullTable,
    /// Nothing.
    Nothing,
}

impl Form {
    /// Form that these switches ask for.
    pub(crate) fn new(json: bool, verbosity: VerbosityArgs) -> Self {
        match (json, verbosity) {
            (true, VerbosityArgs { verbose: true, .. }) => Self::FullJson,
            (true, _) => Self::Json,
            (false, VerbosityArgs { quiet: true, .. }) => Self::Nothing,
            (false, VerbosityArgs { verbose: true, .. }) => Self::FullTable,
            (false, _) => Self::Table,
        }
    }

    /// True if there is no progress line.
    pub(crate) fn hides_progress(self) -> bool {
        self.is_json() || self == Self::Nothing
    }

    /// Form without what `--verbose` adds.
    pub(crate) fn brief(self) -> Self {
        match self {
            Self::FullJson => Self::Json,
            Self::FullTable => Self::Table,
            brief => brief,
        }
    }

    /// True if files are listed that are there: for programs, and where all of them were asked for.
    pub(crate) fn lists_files(self) -> bool {
        self.is_json() || self == Self::FullTable
    }

    /// True for an object.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::FullJson)
    }
}
