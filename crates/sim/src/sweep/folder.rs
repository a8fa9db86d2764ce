//! The folder that a sweep writes to, and goes on in after an interruption.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::runs::{Stored, read};
use super::{Batch, Header, Runs, SweepError, save, side_files};

/// The results of a sweep that is complete, or of a shard that is: a header, then the runs in order.
pub const RESULTS: &str = "results.jsonl";
/// File of results while a sweep runs, in the order in which runs finish.
pub const PARTIAL: &str = "results.partial.jsonl";

/// A folder of results. While it exists, no other process can open the same one.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    header: Header,
    /// Runs on the disk.
    runs: Runs,
    /// Where further runs are appended, once there are some.
    partial: Option<File>,
    /// Holds the lock.
    _lock: File,
}

impl Folder {
    /// Makes the folder, or takes up the sweep that is in it.
    ///
    /// # Errors
    /// The folder cannot be made or is in use; the files in it cannot be read, are damaged, or belong to
    /// another sweep.
    pub fn open(path: &Path, header: &Header) -> Result<Self, SweepError> {
        let lock = lock(path)?;
        let mut runs = Runs::default();
        let mut is_extended = false;
        for name in [RESULTS, PARTIAL] {
            let file = path.join(name);
            let Some(stored) = read(&file)? else { continue };
            check_same(&file, header, &stored)?;
            // A line is appended behind whole lines under this very header only.
            is_extended |= name == PARTIAL && (stored.is_torn || stored.header != header.line());
            runs.0.extend(stored.runs.0);
        }
        let folder =
            Self { path: path.to_path_buf(), header: header.clone(), runs, partial: None, _lock: lock };
        if is_extended {
            save(&folder.partial_path(), folder.runs.text(header).as_bytes())?;
        }
        Ok(folder)
    }

    /// Runs that are finished.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds runs and makes sure that they are on the disk.
    pub fn add(&mut self, batch: Batch) -> Result<(), SweepError> {
        for finished in &batch {
            for file in &finished.files {
                self.add_file(file.folder, &side_files::file_name(finished.id), &file.text)?;
            }
        }
        let text: String = batch.iter().map(|finished| finished.line.as_str()).collect();
        self.append(&text)?;
        for finished in batch {
            self.runs.add(finished);
        }
        Ok(())
    }

    /// The runs that were to be done are done: writes them down in order.
    pub fn complete(&mut self) -> Result<(), SweepError> {
        let text = self.runs.text(&self.header);
        let results = self.path.join(RESULTS);
        if fs::read(&results).is_ok_and(|old| old == text.as_bytes()) && !self.partial_path().exists() {
            return Ok(());
        }
        save(&results, text.as_bytes()).map_err(|error| self.unharmed(error))?;
        self.partial = None;
        // It holds nothing that does not stand in the other file now; with both, a resumed sweep takes each
        // run once.
        let _ = fs::remove_file(self.partial_path());
        Ok(())
    }

    fn add_file(&self, folder: &str, name: &str, text: &str) -> Result<(), SweepError> {
        let folder = self.path.join(folder);
        fs::create_dir_all(&folder)
            .map_err(|error| SweepError::system("make the folder", &folder, &error))
            .and_then(|()| {
                let path = folder.join(name);
                fs::write(&path, text).map_err(|error| SweepError::system("write", &path, &error))
            })
            .map_err(|error| self.unharmed(error))
    }

    fn append(&mut self, text: &str) -> Result<(), SweepError> {
        let path = self.partial_path();
        let result = self.partial().and_then(|file| {
            file.write_all(text.as_bytes())?;
            file.sync_data()
        });
        result.map_err(|error| self.unharmed(SweepError::system("write", &path, &error)))
    }

    fn partial(&mut self) -> std::io::Result<&mut File> {
        if self.partial.is_none() {
            let mut file = File::options().append(true).create(true).open(self.partial_path())?;
            if file.metadata()?.len() == 0 {
                file.write_all(self.header.line().as_bytes())?;
            }
            self.partial = Some(file);
        }
        // It was put there just now, if it was not there before.
        Ok(self.partial.as_mut().expect("the file is open"))
    }

    fn partial_path(&self) -> PathBuf {
        self.path.join(PARTIAL)
    }

    fn unharmed(&self, error: SweepError) -> SweepError {
        error.so(&format!(
            "the {} runs that were finished before are kept: when the cause is gone, the same command goes on",
            self.runs.len()
        ))
    }
}

/// Makes the folder if need be, and keeps others out.
fn lock(path: &Path) -> Result<File, SweepError> {
    fs::create_dir_all(path).map_err(|error| SweepError::system("make the folder", path, &error))?;
    let folder = File::open(path).map_err(|error| SweepError::system("open the folder", path, &error))?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
        if error == rustix::io::Errno::WOULDBLOCK {
            let what = "another sweep is writing to this folder; wait for it, or choose another --out";
            return SweepError(format!("'{}': {what}", path.display()));
        }
        SweepError::system("lock the folder", path, &error.into())
    })?;
    Ok(folder)
}

fn check_same(path: &Path, own: &Header, stored: &Stored) -> Result<(), SweepError> {
    let advice = "choose another --out, or remove the folder to begin anew";
    let wrong = |what: String| SweepError(format!("'{}': {what}; {advice}", path.display()));
    // It was parsed when it was read.
    let Some(other) = Header::parse(&stored.header) else { return Err(wrong("no header".into())) };
    if !own.shares_runs_with(&stored.header) {
        let differences = own.differences(&other).join(", ");
        return Err(wrong(format!("results of another sweep: {differences}")));
    }
    if other.replications > own.replications {
        return Err(wrong(format!(
            "it has {} replications, {} are asked for; ask for at least as many",
            other.replications, own.replications
        )));
    }
    match stored.runs.0.keys().find(|id| !other.has(**id)) {
        Some(id) => Err(wrong(format!("{id} is no run of this sweep"))),
        None => Ok(()),
    }
}
