//! Counts the files of a tree with a length, with the iterator, and prints the seconds: `count PATH [THREADS]`.
//! Zero threads, or none given, are the default.

use std::env;
use std::time::Instant;

use transect::FieldMask;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let began = Instant::now();
    let mut options = transect::walk(&args[0]).want(FieldMask::SIZE);
    let threads = args.get(1).map_or(0, |text| text.parse().expect("a number of threads"));
    if threads > 0 {
        options = options.threads(threads);
    }
    let sized = options
        .into_iter()
        .filter(|entry| entry.as_ref().expect("an entry").attributes().size().is_some());
    let count = sized.count();
    println!("{}", began.elapsed().as_secs_f64());
    assert!(count > 0, "nothing has a length");
}
