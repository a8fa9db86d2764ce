//! Codes beside the guide's table.

use std::collections::BTreeSet;

use super::ErrorCode;

const BEGIN: &str = "<!-- codes of errors: made by UPDATE_DOCS=1 -->\n\n";
const END: &str = "\n<!-- end of codes -->";

fn table() -> String {
    let rows = ErrorCode::ALL.iter().map(|code| {
        format!("| `{}` | {} | {} | {} |\n", code.name(), code.exit_code(), code.meaning(), code.advice())
    });
    format!("| code | exit code | meaning | what to do |\n|---|---|---|---|\n{}", rows.collect::<String>())
}

#[test]
fn the_guides_table_of_codes_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the table's beginning");
    let (there, after) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, [before, BEGIN, &table(), END, after].concat()).unwrap();
        return;
    }
    assert_eq!(there, table(), "UPDATE_DOCS=1 makes it anew");
}

#[test]
fn codes_are_words_of_one_kind_and_none_is_there_twice() {
    let names: BTreeSet<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), ErrorCode::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')), "{names:?}");
}
