//! Transforms one file in one pass, to be measured from outside and compared with a floor that only
//! reads and writes:
//!
//! ```sh
//! cargo run --release -p transect-transform --example once -- floor|copy|STEP,STEP… IN OUT [METHOD] [BLOCK]
//! ```
//!
//! If IN is OUT, the file is changed in place, unless nothing would change.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a program that measures")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use transect_transform::chain::Chain;
use transect_transform::pass::{IoMethod, PassOptions, PassRunner};
use transect_transform::publish::{Existing, ReplaceOptions};
use transect_transform::step::Step;
use transect_transform::transform;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, input, output, rest @ ..] = &arguments[..] else {
        eprintln!("once floor|copy|STEP,STEP… IN OUT [METHOD] [BLOCK]");
        return;
    };
    let (input, output) = (Path::new(input), Path::new(output));
    let method = rest
        .first()
        .and_then(|name| IoMethod::ALL.iter().copied().find(|method| method.as_str() == name));
    let block = rest.get(1).map(|size| size.parse().unwrap());
    let words: Vec<&str> = match kind.as_str() {
        "floor" => return floor(input, output, block.unwrap_or(256 << 10)),
        "copy" => Vec::new(),
        steps => steps.split(',').collect(),
    };
    let mut chain = Chain::parse(&words).unwrap();
    let step = (!words.is_empty()).then_some(&mut chain as &mut dyn Step);
    let existing = if output == input { Existing::InPlace } else { Existing::Replace };
    let mut passes = PassRunner::new(PassOptions::default().method(method).block(block));
    let options = ReplaceOptions::default().existing(existing);
    transform(input, Some(output), step, &mut passes, options).unwrap();
}

/// The minimum amount of work: reads and writes.
fn floor(input: &Path, output: &Path, size: usize) {
    let mut block = vec![0; size];
    let (mut from, mut to) = (File::open(input).unwrap(), File::create(output).unwrap());
    loop {
        let read = from.read(&mut block).unwrap();
        if read == 0 {
            return;
        }
        to.write_all(&block[..read]).unwrap();
    }
}
