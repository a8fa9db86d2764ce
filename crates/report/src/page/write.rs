//! Writes a report's files.

use std::fs;
use std::io::Read as _;
use std::iter;
use std::path::{Path, PathBuf};

use super::{ReportPage, html, markdown};
use crate::ReportError;
use crate::table::Table;

/// Dots of a PNG to a pixel of its SVG: 192 to the inch.
const PNG_SCALE: f64 = 2.0;

/// Octets of a page in which its mark stands.
const HEAD_BYTES: u64 = 1024;
/// The page; a folder that has one of these is a report's.
const PAGE: &str = "report.html";
/// Other files that a report may have, beside its figures.
const OTHERS: [&str; 2] = ["report.md", "claims.csv"];

/// Check that a report may be written into `folder`: nobody else's `report.html`, `report.md` or
/// `claims.csv` stands there. To be asked before anything is measured for it.
///
/// # Errors
/// [`ReportError::Foreign`].
pub fn check_report_folder(folder: &Path) -> Result<(), ReportError> {
    check(folder, OTHERS.map(|name| folder.join(name)))
}

/// Check of a folder for a report that has these files beside its page: whose they are shows by that.
fn check(folder: &Path, others: impl IntoIterator<Item = PathBuf>) -> Result<(), ReportError> {
    let page = folder.join(PAGE);
    if is_ours(&page) {
        return Ok(());
    }
    let foreign = iter::once(page).chain(others).find(|path| path.is_file());
    foreign.map_or(Ok(()), |path| Err(ReportError::Foreign { path }))
}

/// True if that is a page of a report; what cannot be read is none.
fn is_ours(page: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(page).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(html::MARK)
}

/// Writes `report.html`, `report.md`, `claims.csv` and `figures/ID.svg|pdf|png|csv` into `folder` and
/// returns the path of the HTML page. What stood there of another report is replaced, file by file, each in
/// one step.
///
/// # Errors
/// A file that cannot be written, or is nobody's report; a figure that cannot be drawn.
pub fn write_report(folder: &Path, report: &ReportPage) -> Result<PathBuf, ReportError> {
    let mut files = vec![(PAGE.to_owned(), html::page(report)?.into_bytes())]; // whose the others are shows by it
    for figure in &report.figures {
        let id = &figure.definition.id;
        crate::figure::file_name(id)?;
        let scene = figure.scene()?;
        files.push((format!("figures/{id}.svg"), scene.to_svg().into_bytes()));
        files.push((format!("figures/{id}.pdf"), scene.to_pdf()));
        files.push((format!("figures/{id}.png"), scene.to_png(PNG_SCALE)?));
        if !figure.panels.is_empty() {
            files.push((format!("figures/{id}.csv"), Table::of_figure(figure).to_csv().into_bytes()));
        }
    }
    if !report.claims.is_empty() {
        files.push(("claims.csv".to_owned(), report.claims_table().to_csv().into_bytes()));
    }
    files.push(("report.md".to_owned(), markdown::page(report).into_bytes()));
    check(folder, files.iter().map(|(name, _)| folder.join(name)))?;
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).map_err(|source| ReportError::write(&figures, source))?;
    files.iter().try_for_each(|(name, bytes)| put(&folder.join(name), bytes))?;
    Ok(folder.join(PAGE))
}

/// A reader sees the old file or the new one, never a part: a full disk leaves the old one.
fn put(path: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    written.map_err(|source| {
        // What is left of a failed attempt helps nobody; that it cannot be removed is no second error.
        let _ = fs::remove_file(&part);
        ReportError::write(path, source)
    })
}
