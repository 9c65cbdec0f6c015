//! The part of a session's file that belongs to walks. The payload of a dataset is its
//! [`Inventory`](crate::harness::inventory::Inventory), so only the words of reports are here.

use crate::spec::words::Words;

pub const WORDS: Words = Words {
    command: "enumerate",
    plural: "walks",
    kind: "walk",
    states: [
        "caches warm",
        "caches cold",
        "caches cold",
        "caches dropped, unproved",
        "caches as they are",
    ],
    state_was: "caches were",
    as_it: "Caches were as they",
    dataset: ["tree", "trees"],
    is_path: true,
    item: "entry",
    has_rates: false,
};
