//! Where the sockets are.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

const PREFIX: &str = "emulate-";
const SUFFIX: &str = ".sock";

/// A socket of this emulation, which goes with this value.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// A socket at `path`, which must not exist, unless it is one at which nobody listens any more.
    pub fn at(path: &Path) -> io::Result<Self> {
        remove_dead(path)?;
        let listener = UnixListener::bind(path).map_err(|error| match error.kind() {
            ErrorKind::InvalidInput => {
                named(path, ErrorKind::InvalidInput, "the path is too long for a socket")
            }
            ErrorKind::AddrInUse => {
                named(path, ErrorKind::AlreadyExists, "it exists already; choose another path")
            }
            kind => named(path, kind, &error.to_string()),
        })?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path: path.to_path_buf() })
    }

    /// One in the folder of this user's emulations.
    pub fn own() -> io::Result<Self> {
        Self::at(&folder()?.join(format!("{PREFIX}{}{SUFFIX}", std::process::id())))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Sockets of this user's emulations that run.
pub fn running() -> io::Result<Vec<PathBuf>> {
    Ok(sockets()?.into_iter().filter(|path| UnixStream::connect(path).is_ok()).collect())
}

/// Takes away what this user's emulations left that were killed; what that was.
pub fn cleanup() -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for path in sockets()? {
        if remove_dead(&path)? {
            removed.push(path);
        }
    }
    Ok(removed)
}

fn sockets() -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder()?)? {
        let entry = entry?;
        let is_ours =
            entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if is_ours && entry.file_type()?.is_socket() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes a socket at which nobody listens; whether there was one. Leaves everything else alone.
fn remove_dead(path: &Path) -> io::Result<bool> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
    let is_dead =
        || UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    if is_socket && is_dead() {
        fs::remove_file(path)?;
        return Ok(true);
    }
    Ok(false)
}

/// A folder that only this user can look into; made if need be.
fn folder() -> io::Result<PathBuf> {
    let uid = rustix::process::getuid().as_raw();
    let of_session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let folder = match of_session {
        Some(session) => session.join("skyhaul"),
        None => std::env::temp_dir().join(format!("skyhaul-{uid}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(named(&folder, error.kind(), &error.to_string()));
        }
        _ => {}
    }
    let meta = fs::symlink_metadata(&folder)?;
    if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o077 != 0 {
        let text = "it is not this user's alone; remove it, or set XDG_RUNTIME_DIR";
        return Err(named(&folder, ErrorKind::PermissionDenied, text));
    }
    Ok(folder)
}

fn named(path: &Path, kind: ErrorKind, text: &str) -> io::Error {
    io::Error::new(kind, format!("{}: {text}", path.display()))
}
