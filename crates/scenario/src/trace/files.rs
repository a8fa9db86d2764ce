//! The files that traces come from.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{MAX_TRACE_BYTES, Trace};
use crate::error::{Place, ScenarioError, SourceText};

/// Traces of a scenario file at most, over all points of its sweep.
const MAX_TRACES: usize = 64;

/// The traces that a scenario file names. Each is read once, so that all points and runs see the same
/// content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    folder: PathBuf,
    /// Traces that need no file, by name.
    texts: &'static [(&'static str, &'static str)],
    read: Arc<Mutex<BTreeMap<String, Arc<Trace>>>>,
}

impl Traces {
    /// Those that the scenario file at `path` names; `texts` are there without a file.
    pub(crate) fn of_file(path: &str, texts: &'static [(&'static str, &'static str)]) -> Self {
        let folder = Path::new(path).parent().unwrap_or(Path::new("")).to_path_buf();
        Self { folder, texts, read: Arc::default() }
    }

    /// Traces that need no file.
    pub(crate) fn texts(&self) -> &'static [(&'static str, &'static str)] {
        self.texts
    }

    /// The trace that `key` names at `place`.
    pub(crate) fn get(&self, name: &str, place: &Place, key: &str) -> Result<Arc<Trace>, ScenarioError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(trace) = read.get(name) {
            return Ok(trace.clone());
        }
        if read.len() == MAX_TRACES {
            let found = format!("{name:?}, one more trace");
            return Err(place.refuse(key, &found, &format!("at most {MAX_TRACES} in a file"), ""));
        }
        let path = self.folder.join(name);
        let known = self.texts.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_string());
        let text = known.map_or_else(|| text_of(&path), Ok).map_err(|problem| {
            let found = format!("{name:?}: '{}': {problem}", path.display());
            let allowed = "a file of comma-separated values, seen from the folder of the scenario";
            place.refuse(key, &found, allowed, "docs/guide/links.md has an example")
        })?;
        let source = SourceText { label: path.display().to_string(), text, is_override: false };
        let trace = Arc::new(Trace::read(&Arc::new(source))?);
        read.insert(name.to_string(), trace.clone());
        Ok(trace)
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let is_file = std::fs::metadata(path).map_err(|error| error.to_string())?.is_file();
    if !is_file {
        return Err("this is no file".to_string());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_TRACE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > MAX_TRACE_BYTES {
        return Err(format!("larger than {MAX_TRACE_BYTES} bytes"));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    String::from_utf8(bytes.to_vec()).map_err(|error| {
        let text = String::from_utf8_lossy(&bytes[..error.utf8_error().valid_up_to()]);
        format!("line {} is no text", text.split('\n').count())
    })
}
