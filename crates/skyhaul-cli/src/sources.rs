//! What `send` sends: files, and the standard input.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fstat, major, minor};
use skyhaul_files::{FileName, Source, SourceError};
use skyhaul_net::Clock;

use crate::errors::ErrorCode;
use crate::failure::Failure;

/// Name of the standard input at the receiver.
const STDIN_NAME: &str = "stdin";
/// Device number of `/dev/null`.
const NULL_DEVICE: (u32, u32) = (1, 3);

/// Everything that is to be sent.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) list: Vec<Source>,
    /// Time until the standard input had ended, if it is among them.
    pub(crate) read_ns: Option<u64>,
}

/// Opens every file before anything is connected.
pub(crate) fn open(files: &[PathBuf], stdin_name: Option<&OsStr>) -> Result<Sources, Failure> {
    if files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err(Failure::usage("'-' is there twice, but the standard input is read once: write it once"));
    }
    let mut names = BTreeSet::new();
    for file in files {
        let name =
            if is_stdin(file) { Some(stdin_name.unwrap_or(STDIN_NAME.as_ref())) } else { file.file_name() };
        if !names.insert(name) {
            let name = name.unwrap_or_default().to_string_lossy().escape_debug().to_string();
            return Err(Failure::usage(format!("two files are called '{name}': send them one by one")));
        }
    }
    if stdin_name.is_some() && !files.iter().any(|file| is_stdin(file)) {
        return Err(Failure::usage("--name is for the standard input: write - among the files"));
    }
    let open = |file: &PathBuf| {
        if is_stdin(file) {
            return read_stdin(stdin_name.unwrap_or(STDIN_NAME.as_ref()));
        }
        Ok(Source::open(file)?)
    };
    let clock = Clock::start();
    let list = files.iter().map(open).collect::<Result<_, _>>()?;
    let read_ns = files.iter().any(|file| is_stdin(file)).then(|| clock.now().as_ns());
    Ok(Sources { list, read_ns })
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Reads the standard input to its end: nothing is sent before that, and nothing of one that fails.
fn read_stdin(name: &OsStr) -> Result<Source, Failure> {
    let shown = name.to_string_lossy().escape_debug().to_string();
    let name = FileName::new(name.as_bytes()).map_err(|error| {
        Failure::usage(format!("'{shown}' cannot be the name of the standard input: {error}"))
    })?;
    let stdin = open_stdin()?;
    Source::spool(stdin, name, &std::env::temp_dir()).map_err(|error| {
        let place = match &error {
            SourceError::Stream { source, .. } if source.kind() == ErrorKind::StorageFull => {
                format!(" (in '{}'; TMPDIR names another folder)", std::env::temp_dir().display())
            }
            _ => String::new(),
        };
        Failure::of(ErrorCode::StdinFailed, format!("{error}{place}; nothing was sent"))
    })
}

/// The standard input, if somebody feeds it. The standard library's own would hide that it cannot be read.
fn open_stdin() -> Result<File, Failure> {
    let refused = |why: &str| {
        let advice = "pipe something into this command, or name a file";
        Failure::of(ErrorCode::StdinFailed, format!("{why}; {advice}; nothing was sent"))
    };
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(refused("the standard input is a terminal"));
    }
    if is_closed(&stdin).unwrap_or(true) {
        return Err(refused("the standard input is closed"));
    }
    let stdin = stdin.as_fd().try_clone_to_owned();
    stdin.map(File::from).map_err(|error| refused(&format!("cannot read the standard input: {error}")))
}

/// True if this command began without a standard input. The standard library opens `/dev/null` in its place,
/// for reading and writing; `< /dev/null` is an empty file that was asked for, and for reading alone.
fn is_closed(stdin: &io::Stdin) -> rustix::io::Result<bool> {
    let device = fstat(stdin)?.st_rdev;
    let is_null = (major(device), minor(device)) == NULL_DEVICE;
    Ok(is_null && fcntl_getfl(stdin)?.contains(OFlags::RDWR))
}
