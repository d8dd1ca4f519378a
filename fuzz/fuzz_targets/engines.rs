//! `fuzz/run engines`; what it feeds is in `src/fuzz.rs`. Inputs are changed as JSON, so that most of them are still
//! clusters.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| kubectl_pdb::fuzz::engines(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    match fuzz::mutated(&data[..size], seed).filter(|changed| changed.len() <= max_size) {
        Some(changed) => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});
