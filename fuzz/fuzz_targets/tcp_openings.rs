#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skyhaul_fuzz_harness::tcp_openings(bytes));
