//! Words about a session of `receive`, whole before any of them is written: their number counts.

use std::cell::OnceCell;
use std::net::SocketAddr;

use crate::output::{self, note};
use crate::result::TransferResult;
use crate::shown::Shown;
use crate::verbosity::Form;

/// Words about a session.
#[derive(Debug)]
pub(crate) struct Told {
    /// Line above a table.
    head: Option<String>,
    /// For standard output.
    result: Shown,
    /// Behind it, for whoever wants to know more than errors.
    remark: Option<String>,
    error: Option<String>,
    /// [`Told::bytes`], once they are asked for: a result is written to count them.
    bytes: OnceCell<u64>,
}

impl Told {
    /// Words about what came from `peer`, in this form.
    pub(crate) fn new(peer: SocketAddr, result: TransferResult, form: Form) -> Self {
        let head = matches!(form, Form::Table | Form::FullTable).then(|| format!("from {peer}:"));
        let drops = result.socket_drops.filter(|&drops| drops > 0 && form != Form::Nothing);
        let remark = drops.map(|drops| {
            format!(
                "this machine was too slow for {drops} packets, which were sent again: leave it more processor \
                 time, raise net.core.rmem_max to 16777216, or give the sender a --rate"
            )
        });
        let error = result.error.as_ref().map(|error| format!("skyhaul: {}", error.message));
        Self { head, result: Shown::new(result, form), remark, error, bytes: OnceCell::new() }
    }

    /// Bytes that [`Told::write`] writes.
    pub(crate) fn bytes(&self) -> u64 {
        *self.bytes.get_or_init(|| {
            let lines = [&self.head, &self.remark, &self.error];
            let lines_bytes: usize = lines.into_iter().flatten().map(|line| line.len() + 1).sum();
            lines_bytes as u64 + self.result.bytes()
        })
    }

    /// Writes them; false if the result cannot be written.
    pub(crate) fn write(self) -> bool {
        self.head.iter().for_each(|line| note(line));
        let written = self.result.print();
        if let Err(failure) = &written {
            output::error(&format!("skyhaul: {failure}"));
        }
        self.remark.iter().for_each(|line| note(line));
        self.error.iter().for_each(|line| output::error(line));
        written.is_ok()
    }
}
