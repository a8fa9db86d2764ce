//! Folders of the user's, by the XDG base directory specification.

use std::path::PathBuf;

/// Kind of folder: the variable that names it, and where it is in the user's home without that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Variable of the environment.
    pub variable: &'static str,
    /// Place in `$HOME` otherwise.
    otherwise: &'static str,
}

/// Folder of what a user decides.
pub const CONFIG: Folder = Folder { variable: "XDG_CONFIG_HOME", otherwise: ".config" };
/// Folder of what programs keep between runs.
pub const STATE: Folder = Folder { variable: "XDG_STATE_HOME", otherwise: ".local/state" };

impl Folder {
    /// `skyhaul` in this folder of the user that runs this; `None` if the environment names neither it nor a
    /// home.
    pub fn of_user(self) -> Option<PathBuf> {
        self.by(|name| std::env::var_os(name).map(PathBuf::from))
    }

    fn by(self, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let folder = absolute(self.variable).or_else(|| Some(absolute("HOME")?.join(self.otherwise)))?;
        Some(folder.join("skyhaul"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_user() {
        let place = |folder: Folder, named: Option<&str>, home: Option<&str>| {
            folder.by(|name| if name == "HOME" { home } else { named }.map(PathBuf::from))
        };
        for (folder, at_home) in [(STATE, "/h/.local/state/skyhaul"), (CONFIG, "/h/.config/skyhaul")] {
            assert_eq!(place(folder, Some("/s"), Some("/h")), Some("/s/skyhaul".into()));
            assert_eq!(place(folder, None, Some("/h")), Some(at_home.into()));
            assert_eq!(place(folder, Some("relative"), Some("/h")), Some(at_home.into()));
            assert_eq!(place(folder, Some(""), None), None);
        }
    }
}
