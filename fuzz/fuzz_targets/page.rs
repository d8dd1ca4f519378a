//! Feeds the decoder of pages: the first byte of the input says which kind and which encoding, the rest is the page.
//! `cargo +nightly fuzz run page`

#![no_main]

use kubectl_pdb::cluster::{Encoding, Page, each_item};
use kubectl_pdb::snapshot::builder::Builder;
use kubectl_pdb::snapshot::{Kind, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, body)) = input.split_first() else { return };
    let encoding = if first & 1 == 0 { Encoding::Json } else { Encoding::Protobuf };
    let kind = Kind::ALL[usize::from(first >> 1) % Kind::ALL.len()];
    let page = Page { encoding, body: body.to_vec().into() };
    let mut builder = Builder::default();
    let _ = each_item(&page, |item| drop(builder.add(kind, item)));
    builder.finish(Source::default(), None);
});
