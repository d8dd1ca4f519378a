//! `fuzz/run file`; what it feeds is in `src/fuzz.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kubectl_pdb::fuzz::file_of_any_kind(input));
