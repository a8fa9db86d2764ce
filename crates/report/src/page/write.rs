//! Writes a report's files.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ReportPage, html, markdown};
use crate::ReportError;
use crate::table::Table;

/// Dots of a PNG to a pixel of its SVG: 192 to the inch.
const PNG_SCALE: f64 = 2.0;

/// Writes `report.html`, `report.md`, `claims.csv` and `figures/ID.svg|pdf|png|csv` into `folder` and
/// returns the path of the HTML page. What stood there under these names is replaced, file by file, each in
/// one step.
///
/// # Errors
/// A file that cannot be written; a figure that cannot be drawn.
pub fn write_report(folder: &Path, report: &ReportPage) -> Result<PathBuf, ReportError> {
    let figures = folder.join("figures");
    fs::create_dir_all(&figures).map_err(|source| ReportError::write(&figures, source))?;
    for figure in &report.figures {
        let id = &figure.definition.id;
        crate::figure::file_name(id)?;
        let scene = figure.scene()?;
        put(&figures.join(format!("{id}.svg")), scene.to_svg().as_bytes())?;
        put(&figures.join(format!("{id}.pdf")), &scene.to_pdf())?;
        put(&figures.join(format!("{id}.png")), &scene.to_png(PNG_SCALE)?)?;
        if !figure.panels.is_empty() {
            put(&figures.join(format!("{id}.csv")), Table::of_figure(figure).to_csv().as_bytes())?;
        }
    }
    if !report.claims.is_empty() {
        put(&folder.join("claims.csv"), report.claims_table().to_csv().as_bytes())?;
    }
    put(&folder.join("report.md"), markdown::page(report).as_bytes())?;
    let page = folder.join("report.html");
    put(&page, html::page(report)?.as_bytes())?;
    Ok(page)
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
