//! Imported listings as comma-separated values.

use super::csv::quoted;
use crate::published::import::listing::Sample;

/// Writes every run as a line of comma-separated values, with the name of the file it is from.
pub fn csv<'a>(listings: impl Iterator<Item = (&'a str, &'a [Sample])>) -> String {
    let mut text = "file,api,block,size,sequential,real_ns,user_ns,system_ns\n".to_owned();
    for (file, samples) in listings {
        for sample in samples {
            let Sample { api, block, size, sequential, real_ns, user_ns, system_ns } = sample;
            let (file, api) = (quoted(file), quoted(api));
            let what = format!("{file},{api},{block},{size},{sequential}");
            text.push_str(&format!("{what},{real_ns},{user_ns},{system_ns}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_a_line_of_csv() {
        let run = |percent: u64| Sample {
            api: "CRT".to_owned(),
            block: 1024,
            size: 1 << 30,
            sequential: true,
            real_ns: percent * 1_000_000,
            user_ns: 0,
            system_ns: percent,
        };
        let samples = [102, 98, 100, 97, 104].map(run);
        let text = csv([("a,b", samples.as_slice())].into_iter());
        assert_eq!(text.lines().count(), 6);
        let second = "\"a,b\",CRT,1024,1073741824,true,98000000,0,98";
        assert_eq!(text.lines().nth(2), Some(second));
    }
}
