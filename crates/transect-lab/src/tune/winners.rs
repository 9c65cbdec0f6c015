//! Picks the settings that win from the rankings of a session.

use transect::internal::WalkSettings;

use super::candidates::Candidate;
use crate::experiments::walk::variant::Variant;
use crate::ranking::{Metric, Ranking};
use transect_program::profile::Evidence;
use transect_stats::Verdict;

/// Returns the winning settings and all evidence. A candidate wins if it is faster in one cache state and
/// slower in none; among several values of a setting, the one with the smallest ratio.
pub(super) fn pick_winners(
    candidates: &[Candidate],
    rankings: &[Ranking],
) -> (WalkSettings, Vec<Evidence>) {
    let mut evidence = Vec::new();
    let mut winners: Vec<(&Candidate, f64)> = Vec::new();
    for candidate in candidates {
        let cell = Variant::from(candidate.settings).to_string();
        let of_it: Vec<Evidence> =
            rankings.iter().map(|ranking| evidence_of(candidate, &cell, ranking)).collect();
        let any = |verdict: Verdict| of_it.iter().any(|seen| seen.verdict == verdict.as_str());
        let ratios = of_it.iter().filter_map(|seen| Some(seen.ratios?.median));
        let ratio = ratios.fold(f64::INFINITY, f64::min);
        if any(Verdict::Faster) && !any(Verdict::Slower) {
            winners.push((candidate, ratio));
        }
        evidence.extend(of_it);
    }
    winners.sort_by(|a, b| a.1.total_cmp(&b.1));
    // The fastest value of a setting is applied last.
    let settings = winners
        .iter()
        .rev()
        .fold(WalkSettings::default(), |settings, (winner, _)| winner.settings.or(settings));
    // The winning reader may not support the other winning settings.
    let reader_alone = WalkSettings { buffer_size: None, stat_order: None, ..settings };
    (if settings.supported() == settings { settings } else { reader_alone }, evidence)
}

fn evidence_of(candidate: &Candidate, cell: &str, ranking: &Ranking) -> Evidence {
    let row = ranking.row(cell);
    let verdict = row.and_then(|row| row.judgement).map(|judgement| judgement.verdict);
    Evidence {
        setting: candidate.setting.to_owned(),
        value: candidate.value.clone(),
        state: ranking.state,
        ratios: row.and_then(|row| row.to_base),
        by: Some(ranking.by.as_str().to_owned()).filter(|_| ranking.by != Metric::Time),
        // No verdict counts if the default differs from itself. CPU times have no verdict "faster", so
        // they never change a setting.
        verdict: verdict
            .filter(|_| !ranking.noisy)
            .unwrap_or(Verdict::Undecided)
            .as_str()
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::walk::measure::dataset;
    use crate::experiments::walk::method::{Method, cells};
    use crate::harness::cache_state::State;
    use crate::harness::inventory::Inventory;
    use crate::harness::launch::Usage;
    use crate::harness::log::{Outcome, Sample, SessionData};
    use crate::harness::protocol::RunLine;
    use crate::ranking::{Metric, rank};
    use crate::spec::SessionSpec;
    use transect::ReaderKind;
    use transect_testkit::TempDir;

    /// Returns rankings of twenty rounds: the default twice, and settings with these ratios to it.
    fn measured(states: &[State], settings: &[(WalkSettings, f64)]) -> Vec<Ranking> {
        let default = WalkSettings::default();
        let methods: Vec<Method> = std::iter::once(&default)
            .chain(settings.iter().map(|(settings, _)| settings))
            .map(|settings| Method::variant(&Variant::from(*settings)))
            .collect();
        let base = methods[0].name.as_str();
        let cells = cells(&methods.iter().collect::<Vec<_>>(), base);
        let work = Inventory::default().work();
        let mut samples = Vec::new();
        for round in 0..20 {
            for cache_state in 0..states.len() {
                for (at, cell) in cells.iter().enumerate() {
                    let factor = at.checked_sub(1).and_then(|at| settings.get(at));
                    let factor = factor.map_or(1.0, |(_, factor)| *factor);
                    // A little noise, different in each cell, without bias.
                    let noise = 1.0 + 0.004 * ((round * 7 + at * 3) % 5) as f64;
                    let elapsed_ns = (1e6 * factor * noise) as u64;
                    let usage = Usage { wall_ns: elapsed_ns, ..Usage::default() };
                    let runs = vec![RunLine::new(work, elapsed_ns)];
                    let outcome =
                        Outcome::Right { runs, usage, read_kib: None, beside: None, files: None };
                    let cell = cell.name.clone();
                    samples.push(Sample {
                        round,
                        dataset: 0,
                        cache_state,
                        cell,
                        took_ns: None,
                        repeated: 0,
                        outcome,
                    });
                }
            }
        }
        let temp = TempDir::new();
        let datasets = vec![dataset("here".to_owned(), temp.path().to_owned())];
        let spec = SessionSpec {
            cache_states: states.to_vec(),
            rounds: 20,
            ..SessionSpec::new("tune", datasets, cells, base)
        };
        rank(&SessionData { samples, ..SessionData::begin(spec) })
    }

    fn threads(busy: usize) -> Candidate {
        let settings = WalkSettings { busy_threads: Some(busy), ..Default::default() };
        Candidate { setting: "busy_threads", value: busy.to_string(), settings }
    }

    fn reader(reader: ReaderKind) -> Candidate {
        let settings = WalkSettings { reader: Some(reader), ..Default::default() };
        Candidate { setting: "reader", value: reader.as_str().to_owned(), settings }
    }

    fn settled(states: &[State], tried: &[(Candidate, f64)]) -> (WalkSettings, Vec<Evidence>) {
        let settings: Vec<(WalkSettings, f64)> =
            tried.iter().map(|(candidate, factor)| (candidate.settings, *factor)).collect();
        let candidates: Vec<Candidate> = tried.iter().map(|(it, _)| it.clone()).collect();
        pick_winners(&candidates, &measured(states, &settings))
    }

    #[test]
    fn fastest_value_with_faster_verdict_wins() {
        let tried = [
            (threads(1), 1.4),
            (threads(4), 0.8),
            (threads(8), 0.7),
            (reader(ReaderKind::Portable), 1.01),
        ];
        let (settings, evidence) = settled(&[State::Warm], &tried);
        let expected = WalkSettings { busy_threads: Some(8), ..Default::default() };
        assert_eq!(settings, expected);
        let verdicts: Vec<&str> = evidence.iter().map(|seen| seen.verdict.as_str()).collect();
        assert_eq!(verdicts, ["slower", "faster", "faster", "no_difference"]);

        // Two percent is below the threshold.
        let (settings, _) = settled(&[State::Warm], &[(threads(4), 0.98)]);
        assert!(settings.is_default());
    }

    #[test]
    fn compatible_settings_win_together() {
        let tried = [(threads(8), 0.7), (reader(ReaderKind::Portable), 0.9)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(Variant::from(settings).to_string(), "portable/work-stealing,busy=8");
        if !ReaderKind::best().takes_buffer_size() {
            return;
        }
        let buffer = WalkSettings { buffer_size: Some(16 << 10), ..Default::default() };
        let buffer =
            Candidate { setting: "buffer_size", value: "16K".to_owned(), settings: buffer };
        let tried = [(buffer, 0.8), (reader(ReaderKind::Portable), 0.5)];
        let (settings, _) = settled(&[State::Warm], &tried);
        assert_eq!(Variant::from(settings).to_string(), "portable/work-stealing");
    }

    #[test]
    fn noisy_default_gives_no_winner() {
        let candidates = [threads(4)];
        let mut rankings = measured(&[State::Warm], &[(threads(4).settings, 0.5)]);
        rankings[0].noisy = true;
        let (settings, evidence) = pick_winners(&candidates, &rankings);
        assert!(settings.is_default());
        assert_eq!(evidence[0].verdict, "undecided");
    }

    #[test]
    fn cpu_times_give_no_winner() {
        let mut rankings = measured(&[State::Warm], &[(threads(4).settings, 0.5)]);
        rankings[0].by = Metric::Processor;
        for row in &mut rankings[0].rows {
            row.judgement = row.judgement.map(|judgement| Metric::Processor.judgement(judgement));
        }
        let (settings, evidence) = pick_winners(&[threads(4)], &rankings);
        assert!(settings.is_default());
        assert_eq!(evidence[0].by.as_deref(), Some("processor"));
        assert_eq!(evidence[0].verdict, "less_cpu");
    }
}
