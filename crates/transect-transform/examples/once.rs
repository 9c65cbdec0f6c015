//! Passes over one file once, to be measured from outside, beside a floor that does no more than
//! read and write:
//!
//! ```sh
//! cargo run --release -p transect-transform --example once -- floor|same|upper|resize|copy|look IN OUT [METHOD] [BLOCK]
//! ```
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a program that measures")]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use transect_transform::pass::{IoMethod, PassOptions, Passes};
use transect_transform::publish::{Existing, ReplaceOptions};
use transect_transform::step::{Refusal, Shape, Step};
use transect_transform::transform;

/// What a step costs, but for its work: every byte stays, or becomes a capital, or goes through a
/// buffer.
struct Plain {
    shape: Shape,
    upper: bool,
}

impl Step for Plain {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        out.extend_from_slice(input);
        Ok(())
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), Refusal> {
        Ok(())
    }

    fn change(&mut self, block: &mut [u8]) {
        if self.upper {
            block.make_ascii_uppercase();
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, input, output, rest @ ..] = &arguments[..] else {
        eprintln!("once floor|same|upper|resize|copy|look IN OUT [METHOD] [BLOCK]");
        return;
    };
    let (input, output) = (Path::new(input), Path::new(output));
    let method = rest
        .first()
        .and_then(|name| IoMethod::ALL.iter().copied().find(|method| method.as_str() == name));
    let block = rest.get(1).map(|size| size.parse().unwrap());
    let mut same = Plain { shape: Shape::SameSize, upper: false };
    let mut upper = Plain { shape: Shape::SameSize, upper: true };
    let mut resize = Plain { shape: Shape::Resizing, upper: false };
    let (target, step): (_, Option<&mut dyn Step>) = match kind.as_str() {
        "floor" => return floor(input, output, block.unwrap_or(256 << 10)),
        "same" => (output, Some(&mut same)),
        "upper" => (output, Some(&mut upper)),
        "resize" => (output, Some(&mut resize)),
        "copy" => (output, None),
        "look" => (input, Some(&mut same)),
        other => unreachable!("no kind '{other}'"),
    };
    let existing = if target == input { Existing::InPlace } else { Existing::Replace };
    let mut passes = Passes::new(PassOptions { method, block, ..PassOptions::default() });
    let options = ReplaceOptions { existing, ..ReplaceOptions::default() };
    transform(input, Some(target), step, &mut passes, options).unwrap();
}

/// The least that anybody has to do.
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
