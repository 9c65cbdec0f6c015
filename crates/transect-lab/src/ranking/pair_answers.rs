//! Answers to the pairs of a session, beside the comparisons with its base.

use serde::Serialize;

use crate::ranking::besides::Beside;
use crate::ranking::metric::Metric;
use crate::ranking::row::Row;
use crate::ranking::why::Why;
use crate::spec::Pair;
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use transect_stats::{Judgement, Ratios, Verdict, judge, judge_all};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairAnswer {
    pub question: String,
    pub cell: String,
    pub against: String,
    /// Ratio of the first to the second; `None` if they cannot be compared.
    pub ratios: Option<Ratios>,
    /// The verdict on that ratio, corrected for the other comparisons.
    pub judgement: Option<Judgement>,
    pub alone: Option<Judgement>,
    pub besides: Vec<Beside>,
    pub why: Option<Why>,
    /// Why they cannot be compared, if so.
    pub reason: Option<String>,
}

impl PairAnswer {
    /// Returns the ratios of a pair, not judged yet. `rows` and `apart` are the ranked cells.
    pub(super) fn of(
        pair: &Pair,
        [rows, apart]: [&[Row]; 2],
        against: impl Fn(&str, &str) -> Option<Ratios>,
    ) -> Self {
        let Pair { cell, against: other, .. } = pair;
        let has = |rows: &[Row], name: &str| rows.iter().any(|row| row.cell.name == name);
        let together = |rows: &[Row]| has(rows, cell) && has(rows, other);
        let ranked = |name: &str| has(rows, name) || has(apart, name);
        let ratios = (together(rows) || together(apart)).then(|| against(other, cell)).flatten();
        let reason = match [cell, other].into_iter().find(|name| !ranked(name)) {
            _ if ratios.is_some() => None,
            Some(name) => Some(format!("{name} is not ranked")),
            None if together(rows) || together(apart) => Some("they share no round".to_owned()),
            None => Some("only one of them flushes its output".to_owned()),
        };
        let (cell, against) = (cell.clone(), other.clone());
        let question = pair.question();
        Self { question, cell, against, ratios, reason, ..Self::default() }
    }

    pub(crate) fn of_row(row: &Row, base: &str, why: Option<Why>) -> Self {
        let cell = row.cell.name.clone();
        Self {
            question: format!("{cell} against {base}"),
            cell,
            against: base.to_owned(),
            ratios: row.to_base,
            judgement: row.judgement,
            alone: row.alone,
            why,
            ..Self::default()
        }
    }

    pub(super) fn refuse(&mut self, reason: &str) {
        (self.ratios, self.judgement, self.alone, self.why) = (None, None, None, None);
        self.besides.clear();
        self.reason = Some(reason.to_owned());
    }

    /// Returns the answer in one line: `recursion against queue: 1.02 (1.00 to 1.04), no difference`. What else differs
    /// follows, and the reasons of a difference in time.
    pub fn line(&self, by: Metric, noisy: bool) -> String {
        let Self { question, ratios, judgement, alone, besides, why, reason, .. } = self;
        let of = if by == Metric::Processor { " of CPU time" } else { "" };
        match (ratios, judgement) {
            (Some(ratios), _) if noisy => format!("{question}: {ratios}{of}, not judged"),
            (Some(ratios), Some(judgement)) => {
                let verdict = in_words(judgement, *alone, ratios.n);
                let differs = alone.is_some_and(|alone| alone.verdict.is_difference());
                let why = why
                    .filter(|_| differs)
                    .map_or(String::new(), |why| format!("; {}", why.line()));
                let besides = besides.iter().filter(|beside| beside.differs);
                let besides: String = besides.map(|beside| format!("; {beside}")).collect();
                format!("{question}: {ratios}{of}, {verdict}{besides}{why}")
            }
            _ => format!("{question}: not compared, {}", reason.as_deref().unwrap_or("no ratio")),
        }
    }
}

/// Returns a verdict as people read it. One that is undecided only because of the other comparisons is
/// given as if it were asked alone.
pub fn in_words(judgement: &Judgement, alone: Option<Judgement>, rounds: usize) -> String {
    match (judgement.verdict, alone.map(|it| it.verdict)) {
        (Verdict::Undecided, Some(alone)) if alone.is_difference() => {
            format!("{alone}, if asked alone")
        }
        (Verdict::Undecided, _) if rounds < MIN_ROUNDS => "too few rounds".to_owned(),
        (verdict, _) => verdict.label().to_owned(),
    }
}

/// Judges the rows and the pairs of a ranking together, corrected for their number. A pair with the base
/// is a row's comparison once more, and adds none.
pub(super) fn judge_together(rows: &mut [Row], pairs: &mut [PairAnswer], base: &str, by: Metric) {
    let mut ratios: Vec<Ratios> = rows.iter().filter_map(|row| row.to_base).collect();
    ratios.extend(pairs.iter().filter(|pair| pair.against != base).filter_map(|pair| pair.ratios));
    let judged = judge_all(&ratios, DEFAULT_THRESHOLD).into_iter();
    let mut judged = judged.map(|judgement| by.judgement(judgement));
    let alone = |ratios: Ratios| by.judgement(judge(&ratios, ratios.p, DEFAULT_THRESHOLD));
    for row in rows.iter_mut().filter(|row| row.to_base.is_some()) {
        row.judgement = judged.next();
        row.alone = row.to_base.map(alone);
    }
    for pair in pairs.iter_mut().filter(|pair| pair.ratios.is_some()) {
        pair.alone = pair.ratios.map(alone);
        pair.judgement = match pair.against == base {
            true => rows.iter().find(|row| row.cell.name == pair.cell).and_then(|it| it.judgement),
            false => judged.next(),
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{change, disturb, with};
    use crate::harness::log::SessionData;
    use crate::ranking::{Ranking, rank};
    use transect_stats::Verdict;

    fn session(pairs: &str) -> SessionData {
        let times = ["base", "base (again)", "a", "b", "c"];
        let of = |cell| {
            (
                cell,
                match cell {
                    "a" | "c" => 2_000_000,
                    "b" => 4_000_000,
                    _ => 1_000_000,
                },
            )
        };
        let mut data = with(&times.map(of), 12);
        pairs.split(',').for_each(|pair| data.spec.add_pair(pair).unwrap());
        data
    }

    fn lines(ranking: &Ranking) -> Vec<String> {
        ranking.pairs.iter().map(|pair| pair.line(ranking.by, ranking.noisy)).collect()
    }

    #[test]
    fn pairs_answered_in_one_line_each() {
        let ranking = &rank(&session("a:b,a:c,b:base"))[0];
        let expected = [
            "a against b: 0.50 (0.50 to 0.50), faster",
            "a against c: 1.00 (1.00 to 1.00), no difference",
            "b against base: 4.00 (4.00 to 4.00), slower",
        ];
        let rounded = lines(ranking);
        assert_eq!(rounded, expected);
    }

    #[test]
    fn pairs_corrected_together_with_the_base() {
        let adjusted = |pairs: &str| {
            let ranking = rank(&session(pairs)).remove(0);
            let row = ranking.rows.iter().find(|row| row.cell.name == "a").unwrap();
            (row.judgement.unwrap().adjusted_p, ranking.pairs[0].judgement.unwrap().adjusted_p)
        };
        let p = 2.0 / 4096.0;
        assert_eq!(adjusted("b:base"), (3.0 * p, 3.0 * p), "a pair with the base adds no test");
        assert_eq!(adjusted("a:b"), (4.0 * p, 4.0 * p));
        assert_eq!(adjusted("a:b,b:c"), (5.0 * p, 5.0 * p));
    }

    #[test]
    fn pair_without_two_times_reports_reason() {
        let mut data = session("a:b,a:c");
        data.samples.retain(|sample| sample.cell != "b");
        let ranking = &rank(&data)[0];
        assert_eq!(lines(ranking)[0], "a against b: not compared, b is not ranked");
        let samples = data.samples.len();
        disturb(&mut data, samples);
        let busy = &rank(&data)[0];
        assert_eq!(lines(busy)[1], "a against c: not compared, nothing is compared");
    }

    #[test]
    fn pairs_of_noisy_session_not_judged() {
        let mut data = session("a:b");
        change(&mut data, "base (again)", |runs, _| runs[0].elapsed_ns *= 3);
        assert_eq!(lines(&rank(&data)[0]), ["a against b: 0.50 (0.50 to 0.50), not judged"]);
    }

    #[test]
    fn other_base_keeps_the_noise_of_the_repeated_cell() {
        let mut data = session("a:b");
        data.spec.compare_with("a").unwrap();
        let ranking = &rank(&data)[0];
        assert_eq!(ranking.noise.unwrap().median, 1.0);
        let row = |name: &str| ranking.rows.iter().find(|row| row.cell.name == name).unwrap();
        assert_eq!(row("base").judgement.unwrap().verdict, Verdict::Faster);
        assert!(row("a").to_base.is_none() && row("base (again)").to_base.is_none());
    }
}
