//! A result as it was asked for. It is written when its turn comes, piece by piece: the text of one that
//! lists tens of thousands of files takes far more room than the result.

use std::io::{self, Write};

use crate::failure::Failure;
use crate::output;
use crate::result::TransferResult;
use crate::seen::write_seen;
use crate::table::write_table;
use crate::verbosity::Form;

/// A result and its form.
#[derive(Debug)]
pub(crate) struct Shown {
    result: TransferResult,
    form: Form,
}

impl Shown {
    pub(crate) fn new(result: TransferResult, form: Form) -> Self {
        Self { result, form }
    }

    /// Prints it, in the end.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn print(self) -> Result<(), Failure> {
        if self.form == Form::Nothing {
            return Ok(());
        }
        let held_bytes = size_of::<Self>() + self.result.files.held_bytes();
        output::print_later(held_bytes, move |out| self.write(out))
    }

    /// Bytes that are printed.
    pub(crate) fn bytes(&self) -> u64 {
        let mut count = Count(0);
        // Counting does not fail.
        let _ = self.write(&mut count);
        count.0
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            Form::Json | Form::FullJson => {
                write_seen(out, &self.result)?;
                out.write_all(b"\n")
            }
            Form::Table | Form::FullTable => write_table(out, &self.result, self.form == Form::FullTable),
            Form::Nothing => Ok(()),
        }
    }
}

/// Counts what is written.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_results::FileResults;
    use skyhaul_files::SessionReport;
    use skyhaul_lab::transfer::Traffic;

    /// Keeps the longest piece.
    struct Longest(usize);

    impl Write for Longest {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.max(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_result_of_many_files_is_written_in_short_pieces_and_held_in_little_memory() {
        let name = "\u{202e}".repeat(85);
        let files = FileResults::of((0..2_000).map(|_| (&name[..], false)));
        let forward = Traffic { packets: 1, bytes: 60 };
        let nothing = TransferResult::new(&SessionReport::default(), None);
        let result = TransferResult { forward, files, ..nothing };
        for (form, piece_bytes) in [(Form::Json, 2_000), (Form::FullTable, 2_000)] {
            let shown = Shown::new(result.clone(), form);
            let mut longest = Longest(0);
            shown.write(&mut longest).unwrap();
            assert!(longest.0 < piece_bytes, "{form:?}: {}", longest.0);
            let held_bytes = shown.result.files.held_bytes() as u64;
            assert!(shown.bytes() > 2_000 * 500, "{form:?}: {}", shown.bytes());
            assert!(held_bytes < 2_000 * 400, "{held_bytes}");
        }
    }
}
