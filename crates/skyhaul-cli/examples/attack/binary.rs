//! The binary that is attacked.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary that was asked for, or that of this source: cargo builds it where cargo runs this program, or
/// it stands beside this program's folder.
pub(crate) fn find(wanted: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(wanted) = wanted {
        return if wanted.is_file() { Ok(wanted.to_path_buf()) } else { Err(missing(wanted)) };
    }
    let binary = beside()?;
    if let (Some(cargo), Some(folder)) = (std::env::var_os("CARGO"), binary.parent()) {
        build(Command::new(cargo), folder)?;
    }
    if binary.is_file() { Ok(binary) } else { Err(missing(&binary)) }
}

/// Where the binary of this source is, once it is built: this program is in a folder beside it.
pub(crate) fn beside() -> io::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    Ok(folder.join("skyhaul"))
}

fn missing(binary: &Path) -> io::Error {
    io::Error::other(format!(
        "there is no {}: `cargo build --release -p skyhaul-cli` makes it",
        binary.display()
    ))
}

/// Builds it in the profile that this program was built in.
fn build(mut cargo: Command, folder: &Path) -> io::Result<()> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    cargo.args(["build", "--quiet", "--manifest-path", manifest, "--bin", "skyhaul"]);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    match cargo.status()? {
        status if status.success() => Ok(()),
        status => Err(io::Error::other(format!("cargo build: {status}"))),
    }
}
