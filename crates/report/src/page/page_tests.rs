use super::*;
use crate::claims::claims_tests::{claims, figure};
use crate::claims::evaluate_claims;

fn report() -> ReportPage {
    let on: &[(f64, f64)] = &[(0.0, 100.0), (5.0, 90.0), (10.0, 60.0)];
    let off: &[(f64, f64)] = &[(0.0, 98.0), (5.0, 60.0), (10.0, 40.0)];
    let figures = vec![figure("A", &[("on", on), ("off", off)], 1.0)];
    let tests = [
        "{ kind = \"greater\", series = \"on\", than = \"off\" }",
        "{ kind = \"rises\", series = \"on\" }",
        "{ kind = \"not_testable\", reason = \"only <b>in</b> the thesis\" }",
    ];
    let mut table = Table::new(&["truth", "#right"]);
    table.push(vec!["<script>alert(1)</script>".to_owned(), "0.9".to_owned()]);
    ReportPage {
        title: "A <paper> & its claims".to_owned(),
        introduction: vec!["Made up for a test.".to_owned()],
        claims: evaluate_claims(&claims(&tests), &figures),
        figures,
        tables: vec![("Verdicts".to_owned(), table)],
        notes: vec!["34 % at the 50 % point: rates stop at 15 %.".to_owned()],
    }
}

#[test]
fn a_report_has_its_pages_pictures_and_data() {
    let folder = tempfile::tempdir().unwrap();
    let page = write_report(folder.path(), &report()).unwrap();
    assert_eq!(page, folder.path().join("report.html"));
    for name in ["report.html", "report.md", "claims.csv", "figures/A.svg", "figures/A.png", "figures/A.csv"]
    {
        assert!(folder.path().join(name).metadata().unwrap().len() > 100, "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "no part of a file is left");
    let first = std::fs::read(&page).unwrap();
    write_report(folder.path(), &report()).unwrap();
    assert_eq!(first, std::fs::read(&page).unwrap(), "equal results give equal bytes");
    let csv = std::fs::read_to_string(folder.path().join("figures/A.csv")).unwrap();
    assert!(csv.starts_with("panel,series,x,n,mean,sd,ci95,min,max,median\n1,on,0,3,100,1,"), "{csv}");
}

#[test]
fn the_html_is_escaped_and_loads_nothing() {
    let html = html::page(&report()).unwrap();
    assert!(!html.contains("<script") && !html.contains("<b>"));
    assert!(html.contains("A &lt;paper&gt; &amp; its claims"));
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http") && !outside.contains("src=") && !outside.contains("@import"));
    assert!(
        html.contains("<svg ")
            && html.contains("href=\"figures/A.csv\"")
            && html.contains("href=\"#figure-A\"")
    );
}

#[test]
fn both_pages_state_each_verdict() {
    let report = report();
    let (html, markdown) = (html::page(&report).unwrap(), markdown::page(&report));
    for page in [&html, &markdown] {
        assert!(page.contains("3 claims: 1 reproduced, 1 differs, 0 undecided, 1 not testable."));
    }
    assert!(markdown.contains("| X-6 | it holds \\[XSTP 6.1\\] | above at 3 of 3 places"));
    assert!(markdown.contains("| **differs** | on does not rise in rank (correlation below 0.9), or surely does not from the first place to the last | [A](figures/A.svg), [CSV](figures/A.csv) |"));
    assert!(markdown.contains("only &lt;b&gt;in&lt;/b&gt; the thesis"));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let message = write_report(&file, &report()).unwrap_err().to_string();
    assert!(message.contains("file/figures: cannot be written"), "{message}");
}

#[test]
fn a_page_of_somebody_else_is_kept_and_named() {
    for name in ["report.html", "report.md", "claims.csv", "figures/A.csv", "figures/A.svg"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("figures")).unwrap();
        let foreign = folder.path().join(name);
        std::fs::write(&foreign, "<html>my thesis</html>").unwrap();
        let message = write_report(folder.path(), &report()).unwrap_err().to_string();
        assert!(message.contains(&format!("{} is there", foreign.display())), "{message}");
        assert!(message.contains("another folder"), "{message}");
        let is_early = check_report_folder(folder.path()).is_err();
        assert_eq!(is_early, !name.contains('/'), "{name}: before anything is measured");
        assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "<html>my thesis</html>");
        let page = folder.path().join("report.html");
        assert!(page == foreign || !page.exists());
    }
}

#[test]
fn a_report_that_was_cut_short_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("figures/A.png")).unwrap();
    write_report(folder.path(), &report()).unwrap_err();
    std::fs::remove_dir(folder.path().join("figures/A.png")).unwrap();
    assert!(folder.path().join("figures/A.svg").exists(), "some of it was there");
    write_report(folder.path(), &report()).unwrap();
}

/// With `SKYHAUL_PICTURES=DIR`, leaves the page in a folder to be looked at.
#[test]
fn pictures_of_a_report_page() {
    if let Some(folder) = std::env::var_os("SKYHAUL_PICTURES") {
        write_report(&std::path::Path::new(&folder).join("report"), &report()).unwrap();
    }
}
