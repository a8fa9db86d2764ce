//! Shards become one result file again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::listed;
use super::runs::{Stored, read};
use super::{Folder, Header, LADDERS, PARTIAL, RESULTS, RunId, Runs, SERIES, SweepError, save};

/// Joins the shards in `folders` to the results of the whole sweep in `out`: the same bytes as if it had been
/// run at once. Gives these results.
///
/// # Errors
/// Shards of different sweeps, runs that are missing, that stand in two shards, or differ there; files that
/// cannot be read or written; an `out` that has results already. Nothing is written then.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<(Header, Runs), SweepError> {
    let shards = folders.iter().map(|folder| shard(folder)).collect::<Result<Vec<_>, _>>()?;
    let header = common_header(folders, &shards)?;
    let runs = joined(folders, &shards, &header)?;
    if out.join(RESULTS).exists() || out.join(PARTIAL).exists() {
        let what = "there are results already; choose another --out";
        return Err(SweepError(format!("'{}': {what}", out.display())));
    }
    // Its lock keeps others out.
    let folder = Folder::open(out, &header)?;
    for from in folders {
        for name in [SERIES, LADDERS] {
            copy(&from.join(name), &out.join(name))?;
        }
    }
    save(&folder.path().join(RESULTS), runs.text(&header).as_bytes())?;
    Ok((header, runs))
}

fn shard(folder: &Path) -> Result<Stored, SweepError> {
    let path = folder.join(RESULTS);
    match read(&path)? {
        Some(stored) if !stored.is_torn => Ok(stored),
        Some(_) => {
            Err(SweepError(format!("'{}' breaks off in its last line; run this shard again", path.display())))
        }
        None if folder.join(PARTIAL).exists() => Err(SweepError(format!(
            "the shard in '{}' is not complete; the command that began it goes on with it",
            folder.display()
        ))),
        None => Err(SweepError(format!("no {RESULTS} in '{}': no sweep was run to there", folder.display()))),
    }
}

fn common_header(folders: &[PathBuf], shards: &[Stored]) -> Result<Header, SweepError> {
    let parsed = |stored: &Stored| Header::parse(&stored.header);
    let Some(first) = shards.first().and_then(parsed) else {
        return Err(SweepError("nothing to merge: name the folders of the shards".to_string()));
    };
    for (folder, shard) in folders.iter().zip(shards) {
        if shard.header != shards[0].header {
            let differences = parsed(shard).map(|other| first.differences(&other)).unwrap_or_default();
            return Err(SweepError(format!(
                "'{}' and '{}' hold different sweeps: {}; run all shards of the same file with the same options",
                folders[0].display(),
                folder.display(),
                differences.join(", ")
            )));
        }
    }
    Ok(first)
}

fn joined(folders: &[PathBuf], shards: &[Stored], header: &Header) -> Result<Runs, SweepError> {
    let mut runs = Runs::default();
    let mut owners: BTreeMap<RunId, usize> = BTreeMap::new();
    let (mut twice, mut conflicts) = (Vec::new(), Vec::new());
    for (number, shard) in shards.iter().enumerate() {
        for (&id, line) in &shard.runs.0 {
            let Some(owner) = owners.insert(id, number) else {
                runs.0.insert(id, line.clone());
                continue;
            };
            let where_ = format!("{id} ('{}' and '{}')", folders[owner].display(), folders[number].display());
            if runs.0.get(&id) == Some(line) { &mut twice } else { &mut conflicts }.push(where_);
        }
    }
    let missing: Vec<String> =
        header.runs().filter(|id| !runs.contains(*id)).map(|id| id.to_string()).collect();
    let foreign: Vec<String> = runs.0.keys().filter(|id| !header.has(**id)).map(RunId::to_string).collect();
    refuse("runs with different results, which equal programs cannot have", &conflicts)?;
    refuse("runs in two shards", &twice)?;
    refuse("runs that the sweep does not have", &foreign)?;
    refuse("runs that no shard has", &missing)?;
    Ok(runs)
}

fn refuse(what: &str, runs: &[String]) -> Result<(), SweepError> {
    if runs.is_empty() { Ok(()) } else { Err(SweepError(format!("{what}: {}", listed(runs)))) }
}

/// Copies the files of a folder, if there is one.
fn copy(from: &Path, to: &Path) -> Result<(), SweepError> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    fs::create_dir_all(to).map_err(|error| SweepError::system("make the folder", to, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| SweepError::system("read", from, &error))?;
        let target = to.join(entry.file_name());
        fs::copy(entry.path(), &target).map_err(|error| SweepError::system("write", &target, &error))?;
    }
    Ok(())
}
