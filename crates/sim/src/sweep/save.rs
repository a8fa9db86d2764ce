//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::SweepError;

/// Writes a file under another name, makes sure that it is on the disk, then gives it its own name. What
/// stood there before is there until then.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    let draft = draft_of(path);
    write(&draft, bytes).and_then(|()| fs::rename(&draft, path)).map_err(|error| {
        let _ = fs::remove_file(&draft);
        SweepError::system("write", path, &error)
    })?;
    sync_folder(path.parent().unwrap_or(Path::new(".")));
    Ok(())
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".draft");
    path.with_file_name(name)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// So that a new name outlives a power failure. Some file systems cannot; then that is all that can be done.
fn sync_folder(path: &Path) {
    let folder = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// A value and the end of the line.
pub(super) fn json_line(value: &impl Serialize) -> String {
    // What is written here has text for keys, and a number that is not finite becomes null: JSON can say all
    // of it.
    serde_json::to_string(value).expect("the value can be written") + "\n"
}
