//! A terminal of 80 columns, as far as a progress line needs one.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::common::{Kept, unprotected};

/// A command of the built binary on a pseudo terminal of `script`, and the file with what it wrote.
pub struct Shown {
    child: Kept,
    written: PathBuf,
    pid: PathBuf,
    _folder: TempDir,
}

/// Starts the built binary on a terminal; `None` where there is no `script`.
pub fn on_a_terminal(args: &[&str]) -> Option<Shown> {
    let folder = tempfile::tempdir().unwrap();
    let (written, pid) = (folder.path().join("written"), folder.path().join("pid"));
    let quoted: Vec<String> = unprotected(args).iter().map(|arg| format!("'{arg}'")).collect();
    let line = format!(
        "stty cols 80 rows 24; echo $$ >'{}'; exec '{}' {}",
        pid.display(),
        env!("CARGO_BIN_EXE_skyhaul"),
        quoted.join(" ")
    );
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-f", "-c", &line]).arg(&written);
    script.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = Kept::new(script.spawn().ok()?);
    Some(Shown { child, written, pid, _folder: folder })
}

impl Shown {
    /// What it wrote until it ended by itself.
    pub fn wait(self) -> String {
        self.child.wait_with_output();
        let written = String::from_utf8_lossy(&std::fs::read(&self.written).unwrap()).into_owned();
        // The first line and the last are those of `script`.
        let (_, rest) = written.split_once('\n').unwrap();
        rest.rsplit_once("\nScript done").map_or(rest, |(before, _)| before).to_owned()
    }

    /// Sends SIGINT, and waits.
    pub fn interrupt(self) -> String {
        let pid = std::fs::read_to_string(&self.pid).unwrap();
        Command::new("kill").args(["-INT", pid.trim()]).status().unwrap();
        self.wait()
    }
}

/// Lines that a terminal shows.
#[derive(Debug, Default)]
pub struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Writes all of `text`, and lets `look` look after each character.
    pub fn show(&mut self, text: &str, mut look: impl FnMut(&Self)) {
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\x1b' => self.control(&mut rest),
                '\r' => self.column = 0,
                '\n' => self.row += 1,
                c => self.put(c),
            }
            look(self);
        }
    }

    /// Lines from above.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned())
    }

    fn put(&mut self, c: char) {
        if self.column == 80 {
            (self.row, self.column) = (self.row + 1, 0);
        }
        let line = self.line();
        line.1.resize(line.1.len().max(line.0 + 1), ' ');
        line.1[line.0] = c;
        self.column += 1;
    }

    fn line(&mut self) -> (usize, &mut Vec<char>) {
        self.lines.resize_with(self.lines.len().max(self.row + 1), Vec::new);
        (self.column, &mut self.lines[self.row])
    }

    /// Obeys what stands behind an escape: moves up and down, and erases.
    fn control(&mut self, rest: &mut std::str::Chars<'_>) {
        let mut number = String::new();
        for c in rest.by_ref().skip_while(|&c| c == '[') {
            match (c, number.parse::<usize>()) {
                ('0'..='9' | ';' | '?', _) => {
                    number.push(c);
                    continue;
                }
                ('A', by) => self.row = self.row.saturating_sub(by.unwrap_or(1)),
                ('B', by) => self.row += by.unwrap_or(1),
                ('K', Ok(2)) => self.line().1.clear(),
                ('K', _) => {
                    let (column, line) = self.line();
                    line.truncate(column);
                }
                ('J', _) => {
                    let (column, line) = self.line();
                    line.truncate(column);
                    self.lines.truncate(self.row + 1);
                }
                _ => {}
            }
            return;
        }
    }
}
