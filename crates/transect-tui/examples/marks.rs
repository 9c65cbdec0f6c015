//! Prints how long keys take in a directory with millions of entries, all of them marked:
//! `cargo run --release -p transect-tui --features measure --example marks -- 5000000`

#![expect(clippy::print_stdout, reason = "a program that prints")]

fn main() {
    let entries = std::env::args().nth(1).map_or(Ok(5_000_000), |text| text.parse());
    let Ok(entries) = entries else {
        println!("usage: marks [ENTRIES]");
        return;
    };
    println!("{entries} entries");
    for step in transect_tui::measure::time_marks(entries) {
        println!("{:>12.3} ms  {}", step.time.as_secs_f64() * 1e3, step.name);
    }
}
