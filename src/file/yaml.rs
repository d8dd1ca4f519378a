//! How YAML is read.

/// The defaults stop at about 365 pods; a cluster has more.
pub(super) fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! {
            max_nodes: 500_000_000,
            max_events: 1_000_000_000,
            max_total_scalar_bytes: 8 << 30,
            max_documents: 10_000_000,
            max_reader_input_bytes: None,
        },
    }
}
