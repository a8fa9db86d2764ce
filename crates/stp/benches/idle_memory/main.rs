//! Memory that idle connections cost the engine, both ends apart, as the allocator sees it and as the
//! operating system does:
//!
//! `cargo bench -p skyhaul-stp --bench idle_memory [-- CONNECTIONS]` (10,000 unless told).
//!
//! Two engines in one process open the connections, with 300 ms of virtual time between them; then each
//! connection carries a little both ways, then more. After each step virtual time runs on until the
//! connections rest, and the figures are printed.
#![allow(missing_docs, reason = "a program")]

mod ends;
mod heap;
mod measure;
mod protocol;

use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

fn main() -> ExitCode {
    measure::main()
}
