#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| towline_fuzz_checks::options(data));
