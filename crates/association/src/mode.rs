//! Words for the modes of protection, in files and to people.

use skyhaul_core::envelope::Mode;

/// Word for a mode.
pub fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => "plain",
        Mode::Encrypted => "encrypted",
        Mode::Authenticated => "authenticated",
    }
}

/// Mode that protects, by its word.
pub fn mode_of(word: &str) -> Option<Mode> {
    [Mode::Encrypted, Mode::Authenticated].into_iter().find(|&mode| mode_word(mode) == word)
}
