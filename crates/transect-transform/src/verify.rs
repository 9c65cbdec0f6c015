//! Compares files with the digests in a manifest.

use std::collections::BTreeMap;

use crate::chain::Chain;
use crate::error::Error;
use crate::manifest::{Algorithm, Line};
use crate::pass::PassOptions;
use crate::step::Finding;
use crate::tree::{Input, Job, OutputTarget};

/// Reads the files of a manifest, several at once, and calls `each` for every line with whether the
/// file has its digest. Lines of the same algorithm are reported in order. After a cancellation
/// ([`PassOptions::cancel`]), the remaining lines are not reported.
///
/// A plain line matches if any digest of its length does.
pub fn verify(
    lines: &[Line],
    passes: &PassOptions,
    threads: usize,
    each: &mut dyn FnMut(&Line, Result<bool, Error>),
) {
    let mut kinds: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        kinds.entry(steps_for(line)).or_default().push(line);
    }
    let job = Job::new(OutputTarget::Discard).passes(passes.clone()).threads(threads);
    for (steps, lines) in kinds {
        let chain: Chain = steps.parse().expect("BUG: digests are steps");
        let inputs: Vec<Input> = lines.iter().map(|line| Input::new(&line.name)).collect();
        let mut of_input = lines.iter();
        job.run(&chain, &inputs, &mut |_, done| {
            let line = of_input.next().expect("BUG: each input is reported once, in order");
            let has = |finding: &Finding| finding.value == line.digest;
            let passed = done.pass.as_ref();
            let matches = passed.is_some_and(|passed| passed.findings.iter().any(has));
            each(line, done.status.map(|_| matches));
        });
    }
}

/// Returns the steps that compute the digests that a line may contain.
fn steps_for(line: &Line) -> String {
    let may_be = |algorithm: &&Algorithm| match line.algorithm {
        Some(known) => **algorithm == known,
        None => algorithm.digits() == line.digest.len(),
    };
    let steps: Vec<_> =
        Algorithm::ALL.iter().filter(may_be).map(|algorithm| algorithm.as_str()).collect();
    steps.join(" ")
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;
    use crate::manifest;

    #[test]
    fn verify_all_algorithms() {
        let temp = TempDir::new();
        let [same, other, gone] = ["same", "other", "gone"].map(|name| temp.join(name));
        std::fs::write(&same, "123456789").unwrap();
        std::fs::write(&other, "something else").unwrap();
        let sha256 = "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225";
        let mut text = String::new();
        for path in [&same, &other, &gone].map(|path| path.display()) {
            text += &format!("{sha256}  {path}\nSHA256 ({path}) = {sha256}\n");
            text += &format!("BLAKE3 ({path}) = {sha256}\nCRC32C ({path}) = e3069283\n");
        }
        let lines = manifest::Reader::new(text.as_bytes())
            .flatten()
            .collect::<Result<Vec<_>, _>>()
            .unwrap();
        for threads in [1, 3] {
            let mut verdicts: Vec<(String, Option<bool>)> = Vec::new();
            verify(&lines, &PassOptions::default(), threads, &mut |line, verdict| {
                let name = line.name.file_name().unwrap().to_str().unwrap();
                verdicts.push((name.to_owned(), verdict.ok()));
            });
            verdicts.sort();
            let of = |name: &str, verdict| (name.to_owned(), verdict);
            let expected = [
                [None; 4].map(|verdict| of("gone", verdict)),
                [Some(false); 4].map(|verdict| of("other", verdict)),
                [false, true, true, true].map(|verdict| of("same", Some(verdict))),
            ];
            assert_eq!(verdicts, expected.concat());
        }
    }
}
