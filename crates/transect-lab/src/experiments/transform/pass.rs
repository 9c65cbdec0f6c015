//! One run of a method of this program, timed by its own clock.

use std::path::Path;

use transect_transform::pass::{IoMethod, PassOptions, PassRunner};
use transect_transform::publish::{Durability, ReplaceOptions};
use transect_transform::step::{Finding, Step};

use super::SyncRule;
use super::floor::Floor;
use super::variant::Variant;
use crate::harness::protocol::RunLine;
use crate::harness::stopwatch::Stopwatch;
use crate::harness::work::Work;
use crate::spec::transform::{Kind, Rules};

/// The default block of floors, in bytes.
pub(super) const FLOOR_BLOCK: usize = 256 << 10;

/// Transforms a file once. The clock runs from opening the input until the output has its final name.
pub fn run(
    variant: &Variant,
    rules: Rules,
    input: &Path,
    output: &Path,
) -> Result<RunLine, String> {
    let Variant { method, block, hint } = variant;
    let (bytes, time, digest) = if let Some(floor) = Floor::find(method) {
        let ran = floor.run(rules, block.unwrap_or(FLOOR_BLOCK), input, output);
        let (bytes, time) = ran.map_err(|error| transect::reason(&error))?;
        (bytes, time, None)
    } else {
        let known = IoMethod::ALL.iter().find(|known| known.as_str() == method);
        let method = *known.ok_or_else(|| format!("no method is called '{method}'"))?;
        let mut chain = rules.kind.step();
        let step = chain.as_mut().map(|chain| chain as &mut dyn Step);
        let durability = match rules.sync {
            SyncRule::None => Durability::None,
            SyncRule::Inside => Durability::File,
        };
        let options = ReplaceOptions::default().durability(durability);
        let watch = Stopwatch::start();
        let mut passes = PassRunner::new(
            PassOptions::default().method(Some(method)).block(*block).sequential(*hint),
        );
        let report = transect_transform::transform(input, Some(output), step, &mut passes, options)
            .map_err(|error| error.to_string())?;
        let time = watch.stop();
        let is_it = |finding: &Finding| rules.kind == Kind::Blake3 && finding.name == "blake3";
        let digest = report.pass.findings.into_iter().find(is_it);
        (report.pass.bytes_in, time, digest.map(|finding| finding.value))
    };
    let work = Work { files: 1, directories: 0, bytes, errors: 0 };
    Ok(RunLine { digest, ..RunLine::measured(work, time) })
}

#[cfg(test)]
mod tests {
    use super::super::create;
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn every_floor_does_its_part_and_reports_bytes() {
        let temp = TempDir::new();
        let size = 300_000;
        create(&temp.join("input"), size).unwrap();
        let content = std::fs::read(temp.join("input")).unwrap();
        for &floor in Floor::ALL {
            let rules = Rules { kind: Kind::Case, sync: SyncRule::Inside };
            let output = temp.join(floor.as_str());
            let variant = Variant { block: Some(4096), ..Variant::plain(floor.as_str()) };
            let line = run(&variant, rules, &temp.join("input"), &output).unwrap();
            assert_eq!(line.work.bytes, size);
            assert_eq!(output.exists(), floor.writes(), "{floor:?}");
            if floor.writes() {
                let written = std::fs::read(output).unwrap();
                assert_eq!(written.len() as u64, size);
                assert_eq!(written == content, floor.copies(), "{floor:?}");
            }
        }
    }

    #[test]
    fn engine_method_does_the_work() {
        let temp = TempDir::new();
        create(&temp.join("input"), 5000).unwrap();
        let rules = Rules { kind: Kind::Case, sync: SyncRule::None };
        let variant = Variant { block: Some(1024), ..Variant::plain("buffered") };
        let line = run(&variant, rules, &temp.join("input"), &temp.join("output")).unwrap();
        assert_eq!((line.work.files, line.work.bytes), (1, 5000));
        let content = std::fs::read(temp.join("input")).unwrap();
        assert_eq!(std::fs::read(temp.join("output")).unwrap(), content.to_ascii_uppercase());
        assert_eq!(line.digest, None, "it was not asked for");
        let digests = Rules { kind: Kind::Blake3, ..rules };
        let copy = temp.join("copy");
        let line = run(&variant, digests, &temp.join("input"), &copy).unwrap();
        let expected = super::super::Digests::expected(5000, Kind::Blake3).input;
        assert_eq!(line.digest, Some(expected));
        let unknown = run(&Variant::plain("none"), rules, &temp.join("input"), &temp.join("o"));
        assert_eq!(unknown.unwrap_err(), "no method is called 'none'");
    }
}
