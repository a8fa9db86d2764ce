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
