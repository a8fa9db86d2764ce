//! Which names pass, and how they print.

use proptest::prelude::*;

use super::*;

#[test]
fn odd_but_honest_names_pass() {
    for name in [
        "a",
        "two words",
        "line\nbreak",
        "-rf",
        "--",
        "...",
        ".hidden",
        "ümläut",
        "🛰️",
        "a\\b",
        "skyhaul-part",
    ] {
        assert!(FileName::new(name).is_ok(), "{name:?}");
    }
    assert!(FileName::new(vec![0xff, 0xfe]).is_ok());
    assert!(FileName::new(vec![b'x'; 255]).is_ok());
}

#[test]
fn names_of_strangers_are_neither_hidden_nor_disguised() {
    let judged = |name: &str| FileName::new(name).unwrap().check_plain();
    for name in ["a", "two words", "-rf", "a.b.", "ümläut", "🛰️", "שלום", "a\\b", "‘quoted’"] {
        assert_eq!(judged(name), Ok(()), "{name:?}");
    }
    for name in [".bashrc", "...", ".hidden"] {
        assert_eq!(judged(name), Err(NameError::Hidden), "{name:?}");
    }
    for (name, c) in [
        ("line\nbreak", 0x0a),
        ("\x1b[2J", 0x1b),
        ("a\u{7f}", 0x7f),
        ("a\u{9b}2J", 0x9b),
        ("photo\u{202e}gpj.exe", 0x202e),
        ("a\u{2067}b", 0x2067),
        ("a\u{200f}", 0x200f),
        ("a\u{2028}b", 0x2028),
    ] {
        assert_eq!(judged(name), Err(NameError::Invisible(c)), "{name:?}");
    }
    assert_eq!(FileName::new(b"a\xff\n".to_vec()).unwrap().check_plain(), Err(NameError::Invisible(0x0a)));
    assert_eq!(FileName::new(vec![b'a', 0xff]).unwrap().check_plain(), Ok(()), "any encoding");
}

#[test]
fn names_that_lead_elsewhere_do_not() {
    let refused = |name: &[u8]| FileName::new(name).expect_err("must be refused");
    assert_eq!(refused(b""), NameError::Empty);
    assert_eq!(refused(b"."), NameError::Dots);
    assert_eq!(refused(b".."), NameError::Dots);
    assert_eq!(refused(b"/etc/passwd"), NameError::Slash);
    assert_eq!(refused(b"../x"), NameError::Slash);
    assert_eq!(refused(b"a\0b"), NameError::Zero);
    assert_eq!(refused(&[b'x'; 256]), NameError::TooLong(256));
    assert_eq!(refused(b".x.skyhaul-part"), NameError::Unfinished);
}

#[test]
fn printing_is_safe_and_keeps_what_is_readable() {
    let shown = |bytes: &[u8]| RawName::new(bytes).to_string();
    assert_eq!(shown("it's \"ümläut\" 🛰".as_bytes()), "it's \"ümläut\" 🛰");
    assert_eq!(shown(b"a\nb\x1b[2J"), "a\\nb\\u{1b}[2J");
    assert_eq!(shown("exe\u{202e}txt".as_bytes()), "exe\\u{202e}txt");
    assert_eq!(shown(b"\xff-\\x"), "\\xff-\\\\x");
}

proptest! {
    #[test]
    fn what_is_printed_has_no_control_characters(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(!escaped(&bytes).chars().any(char::is_control));
    }

    #[test]
    fn a_name_that_passes_is_one_component(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(name) = FileName::new(bytes) {
            let path = std::path::Path::new(name.as_os_str());
            prop_assert_eq!(path.file_name(), Some(name.as_os_str()));
            prop_assert_eq!(path.components().count(), 1);
        }
    }
}
