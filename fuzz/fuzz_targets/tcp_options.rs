#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skyhaul_sim::fuzz::tcp_options(bytes));
