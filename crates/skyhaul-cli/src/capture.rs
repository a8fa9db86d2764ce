//! `--capture FILE`: packets and events as pcapng.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use skyhaul_capture::{Inlet, Recorder};
use skyhaul_scenario::Scenario;
use skyhaul_sim::Interfaces;

use crate::errors::ErrorCode;
use crate::failure::Failure;
use crate::output::{error, note};

/// Time that a pipe's reader may take to come, and from one look for it to the next.
const READER_PATIENCE: Duration = Duration::from_secs(10);
const READER_STEP: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CaptureArgs {
    /// Write every packet to this new file or pipe, for Wireshark and tshark (pcapng), with events as
    /// comments
    #[arg(long, value_name = "FILE", value_parser = place)]
    capture: Option<PathBuf>,
}

/// Place of a capture, as an argument. The standard output has results.
fn place(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err(
            "a capture does not go to the standard output, where the result goes: name a file, or a pipe \
                    (`mkfifo`) that a program reads; ./- is a file of that name"
                .into(),
        ),
        _ => Ok(text.into()),
    }
}

/// Capture of the links of a scenario.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LinkCaptureArgs {
    #[command(flatten)]
    capture: CaptureArgs,
    /// Node or link whose packets --capture writes, each end of a link as an interface; may be given several
    /// times [default: all]
    #[arg(long, value_name = "NAME", requires = "capture")]
    capture_at: Vec<String>,
}

impl LinkCaptureArgs {
    /// Begins it at the links of `scenario`; gives the ends that are its interfaces, too.
    ///
    /// # Errors
    /// As [`CaptureArgs::start`]; or the scenario has no such node or link.
    pub(crate) fn start(&self, remark: &str, scenario: &Scenario) -> Result<(Capture, Interfaces), Failure> {
        let interfaces = Interfaces::new(scenario, &self.capture_at);
        let interfaces = interfaces.map_err(|error| Failure::usage(format!("--capture-at: {error}")))?;
        Ok((self.capture.start(remark, interfaces.names())?, interfaces))
    }

    /// True if one is asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.capture.capture.is_some()
    }
}

/// Capture that was asked for, or none.
#[must_use]
pub(crate) struct Capture(Option<(PathBuf, Recorder)>);

impl CaptureArgs {
    /// Begins it, with interfaces of these names. Later failures to write are said once, and stop nothing
    /// else.
    ///
    /// # Errors
    /// There is no such place, or a file stands there already.
    pub(crate) fn start(&self, remark: &str, interfaces: &[String]) -> Result<Capture, Failure> {
        let Some(path) = &self.capture else { return Ok(Capture(None)) };
        let shown = path.display().to_string();
        let file = create(path).map_err(|error| cannot(&shown, &error))?;
        let named = shown.clone();
        let recorder = Recorder::start(file, remark, interfaces, move |fault, written| {
            error(&format!(
                "skyhaul: the capture '{named}' ends with {written} packets: {fault}; everything else goes on"
            ));
        });
        let recorder = recorder.map_err(|error| cannot(&shown, &error))?;
        Ok(Capture(Some((path.clone(), recorder))))
    }
}

impl Capture {
    /// Where packets go in.
    pub(crate) fn inlet(&self) -> Option<Inlet> {
        self.0.as_ref().map(|(_, recorder)| recorder.inlet())
    }

    /// Ends it, and says what is missing.
    pub(crate) fn finish(mut self) {
        let Some((path, recorder)) = self.0.take() else { return };
        let (path, recorded) = (path.display(), recorder.finish());
        if recorded.is_stalled {
            error(&format!(
                "skyhaul: the end of the capture '{path}' is missing: nothing more could be written"
            ));
        }
        if recorded.missed > 0 {
            error(&format!(
                "skyhaul: {} packets are not in the capture '{path}': it could not be written as fast as they came",
                recorded.missed
            ));
        }
    }
}

/// What did not come to its end has no capture: the same command can be given again.
impl Drop for Capture {
    fn drop(&mut self) {
        let Some((path, recorder)) = self.0.take() else { return };
        recorder.finish();
        if path.is_file() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn cannot(shown: &str, error: &io::Error) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::AlreadyExists => "; a capture replaces nothing: remove it, or name another file",
        _ => "",
    };
    Failure::of(ErrorCode::CaptureFailed, format!("cannot write the capture '{shown}': {error}{advice}"))
}

/// A new file. Pipes and devices that are there are written to.
fn create(path: &Path) -> io::Result<File> {
    match path.metadata() {
        Ok(there) if there.file_type().is_fifo() => open_pipe(path),
        Ok(there) if !there.is_file() => File::options().write(true).open(path),
        _ => File::create_new(path),
    }
}

/// A pipe, as soon as somebody reads it: nobody is waited for longer than [`READER_PATIENCE`], and signals
/// are obeyed behind that alone.
#[expect(clippy::disallowed_methods, reason = "a reader is waited for in real time")]
fn open_pipe(path: &Path) -> io::Result<File> {
    let open = |flags: OFlags| File::options().write(true).custom_flags(flags.bits() as i32).open(path);
    let is_unread = |tried: &io::Result<File>| {
        tried.as_ref().is_err_and(|error| error.raw_os_error() == Some(Errno::NXIO.raw_os_error()))
    };
    let begin = Instant::now();
    let mut tried = open(OFlags::NONBLOCK);
    if is_unread(&tried) {
        note(&format!("the capture '{}' waits until somebody reads that pipe", path.display()));
    }
    while is_unread(&tried) && begin.elapsed() < READER_PATIENCE {
        std::thread::sleep(READER_STEP);
        tried = open(OFlags::NONBLOCK);
    }
    if is_unread(&tried) {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads that pipe"));
    }
    // There is a reader, so that this does not wait; writing does.
    tried.and_then(|_held| open(OFlags::empty()))
}
