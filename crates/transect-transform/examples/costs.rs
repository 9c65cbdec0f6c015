//! Measures the cost of each step in nanoseconds per byte of input, to decide which steps are heavy
//! (`step::Cost`).
//!
//! ```sh
//! cargo run --release -p transect-transform --example costs
//! ```
//!
//! Feeds 8 MiB to each step in blocks of 256 KiB, repeatedly, and reports the fastest time, as
//! interference only makes runs longer. Text steps get text that needs no change, and text that
//! does.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program that measures")]

use std::time::{Duration, Instant};

use transect_transform::chain::Chain;
use transect_transform::output::OutputBuffer;
use transect_transform::step::Step;

const SIZE: usize = 8 << 20;
const ROUNDS: usize = 3;

fn main() {
    let clean = text("", "\n");
    let dirty = text("\t", "  \r\n");
    let bytes = noise(SIZE);
    let words = [
        "blake3",
        "sha256",
        "xxh3",
        "crc32c",
        "case=upper",
        "decode=utf-8",
        "decode=latin1",
        "encode=utf-16le",
        "bom=remove",
        "eol=lf",
        "eol=crlf",
        "eol=report",
        "trim",
        "final-newline",
        "replace=lazy/eager",
        "replace=e/E",
        "zstd=1",
        "zstd",
        "zstd=19",
        "gzip=1",
        "gzip",
        "gzip=9",
    ];
    for word in words {
        let noise = if word.contains("code") { None } else { Some(cost(word, &bytes)) };
        row(word, cost(word, clean.as_bytes()), cost(word, dirty.as_bytes()), noise);
    }
    for (word, back) in
        [("zstd", "unzstd"), ("gzip", "gunzip"), ("encode=utf-16le", "decode=utf-16le")]
    {
        let of = |input: &[u8]| cost(back, &result(word, input));
        let noise = if word.contains("code") { None } else { Some(of(&bytes)) };
        row(back, of(clean.as_bytes()), of(dirty.as_bytes()), noise);
    }
}

fn row(word: &str, clean: f64, dirty: f64, noise: Option<f64>) {
    let noise = noise.map_or(String::new(), |noise| format!("{noise:8.2}"));
    println!("{word:20} clean text {clean:8.2}  other text {dirty:8.2}  noise {noise}");
}

/// Returns pseudorandom numbers, always the same.
fn numbers() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1_u64), |&last| {
        let mut next = last ^ (last << 13);
        next ^= next >> 7;
        Some(next ^ (next << 17))
    })
}

fn noise(size: usize) -> Vec<u8> {
    numbers().take(size / 8).flat_map(u64::to_le_bytes).collect()
}

/// Returns lines of words, some of them frequent, so that they compress like text.
fn text(before: &str, behind: &str) -> String {
    let letters = b"etaoinshrdlucmfwypvbgkjqxz";
    let mut of = numbers().skip(100);
    let mut below = |end: u64| (of.next().unwrap() >> 11) % end;
    let words: Vec<String> = (0..4096)
        .map(|_| {
            let length = 2 + below(4) + below(5);
            let mut letter = || {
                let most = 1 + below(26);
                letters[below(most) as usize] as char
            };
            (0..length).map(|_| letter()).collect()
        })
        .collect();
    let mut text = String::with_capacity(SIZE);
    while text.len() < SIZE {
        text.push_str(before);
        for _ in 0..6 + below(8) {
            let most = 1 + below(4096);
            text.push_str(&words[below(most) as usize]);
            text.push(' ');
        }
        text.pop();
        text.push_str(behind);
    }
    // Whole words, for steps that require them.
    text.truncate(SIZE);
    text
}

fn cost(word: &str, input: &[u8]) -> f64 {
    let best = (0..ROUNDS).map(|_| run(word, input, |_| ())).min().unwrap();
    best.as_secs_f64() * 1e9 / input.len() as f64
}

fn result(word: &str, input: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    run(word, input, |block| result.extend_from_slice(block));
    result
}

fn run(word: &str, input: &[u8], mut take: impl FnMut(&[u8])) -> Duration {
    let mut step: Chain = word.parse().unwrap();
    let mut gathered = Vec::new();
    let mut next = |block: &[u8]| {
        take(block);
        Ok(())
    };
    let mut out = OutputBuffer::new(&mut gathered, &mut next);
    let start = Instant::now();
    for block in input.chunks(256 << 10) {
        step.feed(block, &mut out).unwrap();
    }
    step.finish(&mut out).unwrap();
    out.flush().unwrap();
    start.elapsed()
}
