//! Memory that idle connections cost the engine, both ends apart, as the allocator sees it and as the
//! operating system does:
//!
//! `cargo bench -p skyhaul-tcp --bench idle_memory [-- CONNECTIONS]` (10,000 unless told).
//!
//! It measures as STP's does, with its files.
#![allow(missing_docs, reason = "a program")]

#[path = "../../../stp/benches/idle_memory/ends.rs"]
mod ends;
#[path = "../../../stp/benches/idle_memory/heap.rs"]
mod heap;
#[path = "../../../stp/benches/idle_memory/measure.rs"]
mod measure;
mod protocol;

use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting;

fn main() -> ExitCode {
    measure::main()
}
