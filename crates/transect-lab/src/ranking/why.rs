//! Why one method needs more time than another: where the difference of their times comes from.

use serde::Serialize;
use transect_text::units::time;

use crate::ranking::row::Row;
use crate::spec::SessionSpec;

/// The difference of two methods' times and its parts, in nanoseconds; negative where the first method takes less. Of
/// methods on several threads, it is the difference of their CPU times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Why {
    pub difference_ns: f64,
    /// System calls, and their difference; each costs as much as one of the floor.
    pub calls: Option<(f64, f64)>,
    /// Page faults, and their difference: memory that is touched for the first time. Each costs what this machine needs
    /// for one. `None` for different programs, whose starts differ.
    pub faults: Option<(f64, f64)>,
    /// Time without a processor; `None` for methods on several threads.
    pub waiting_ns: Option<f64>,
    pub rest_ns: f64,
}

impl Why {
    /// Returns why a method differs from another; `None` if the CPU time of one is unknown. `rows` are those of their
    /// ranking.
    pub(super) fn of(
        spec: &SessionSpec,
        rows: &[Row],
        entries: u64,
        pair: [&Row; 2],
    ) -> Option<Self> {
        let difference = |of: &dyn Fn(&Row) -> Option<f64>| Some(of(pair[0])? - of(pair[1])?);
        let cpu = difference(&|row| row.run_cpu_ns)?;
        // A runtime may have threads of its own.
        let has_threads =
            |row: &&Row| row.cell.parallel || row.cores.is_some_and(|cores| cores > 1.05);
        let is_parallel = pair.iter().any(has_threads);
        let waiting_ns = difference(&|row| Some(row.time.median - row.run_cpu_ns?));
        let waiting_ns = waiting_ns.filter(|_| !is_parallel);
        let calls_of = |row: &Row| row.accesses.map(|it| it.each(it.calls) * entries as f64);
        let floor = rows.iter().find(|row| Some(&row.cell.name) == spec.floor.as_ref());
        let of_one_call = floor.and_then(|floor| Some(floor.run_cpu_ns? / calls_of(floor)?));
        let calls = difference(&calls_of).zip(of_one_call).map(|(more, each)| (more * each, more));
        let is_same_program = pair[0].cell.kind == pair[1].cell.kind
            && pair[0].cell.language == pair[1].cell.language;
        let more_faults = difference(&|row| Some(row.faults? / spec.runs as f64));
        let of_one_fault = spec.environment.fault_ns.map(|ns| ns as f64);
        let faults = more_faults.filter(|_| is_same_program).zip(of_one_fault);
        let faults = faults.map(|(more, each)| (more * each, more));
        let difference_ns = cpu + waiting_ns.unwrap_or(0.0);
        let known = [calls, faults].into_iter().flatten().map(|(ns, _)| ns).sum::<f64>();
        Some(Self { difference_ns, calls, faults, waiting_ns, rest_ns: cpu - known })
    }

    /// Returns it in words: `+85 µs: system calls +1 µs (+2), page faults +50 µs (+63), waiting -3 µs, its own code
    /// +37 µs`.
    pub fn line(&self) -> String {
        let counted = |part: Option<(f64, f64)>, what: &str| {
            part.map(|(ns, number)| format!("{what} {} ({number:+.0})", signed(ns)))
        };
        let timed = |ns: f64, what: &str| format!("{what} {}", signed(ns));
        let parts = [
            counted(self.calls, "system calls"),
            counted(self.faults, "page faults"),
            self.waiting_ns.map(|ns| timed(ns, "waiting")),
            Some(timed(self.rest_ns, "its own code")),
        ];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let of_cpu = if self.waiting_ns.is_none() { " of CPU time" } else { "" };
        format!("{}{of_cpu}: {parts}", signed(self.difference_ns))
    }
}

/// Returns a difference of times: `+85 µs`.
fn signed(ns: f64) -> String {
    let sign = if ns < 0.0 { '-' } else { '+' };
    format!("{sign}{}", time(ns.abs()))
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{change, report_cpu, with};
    use crate::harness::accesses::Accesses;
    use crate::harness::account::Account;
    use crate::harness::log::{Counted, SessionData};
    use crate::ranking::rank;

    /// Returns a session on a tree of four entries: a method with 400 calls and 30 faults more than the base.
    fn session() -> SessionData {
        let cells = [
            ("base", 1_000_000),
            ("base (again)", 1_000_000),
            ("a", 1_200_000),
            ("floor", 900_000),
        ];
        let mut data = with(&cells, 12);
        data.spec.environment.fault_ns = Some(500);
        for (name, cpu, calls, faults) in [
            ("base", 900_000, 1000, 20),
            ("base (again)", 900_000, 1000, 20),
            ("a", 950_000, 1400, 50),
            ("floor", 800_000, 1000, 20),
        ] {
            report_cpu(&mut data, name, cpu);
            change(&mut data, name, |_, usage| {
                usage.account = Some(Account { minor_faults: faults, ..Account::default() });
            });
            let accesses = Accesses { entries: 4, calls, ..Accesses::default() };
            data.counted.push(Counted { dataset: 0, cell: name.to_owned(), accesses });
        }
        data.spec.add_pair("a:base").unwrap();
        data
    }

    #[test]
    fn difference_split_into_calls_faults_waiting_and_rest() {
        let ranking = &rank(&session())[0];
        let why = ranking.pairs[0].why.unwrap();
        // A call of the floor takes 800 ns.
        assert_eq!(why.calls, Some((320_000.0, 400.0)));
        assert_eq!(why.faults, Some((15_000.0, 30.0)));
        assert_eq!((why.waiting_ns, why.difference_ns), (Some(150_000.0), 200_000.0));
        assert_eq!(why.rest_ns, 50_000.0 - 335_000.0);
        let line = ranking.pairs[0].line(ranking.by, ranking.noisy);
        let expected = "a against base: 1.20 (1.20 to 1.20), slower; +200 µs: system calls +320 µs (+400), page faults \
                        +15 µs (+30), waiting +150 µs, its own code -285 µs";
        assert_eq!(line, expected);
    }

    #[test]
    fn parts_that_cannot_be_known_are_missing() {
        let mut data = session();
        data.counted.clear();
        data.spec.cells[2].language = "Java".to_owned();
        data.spec.cells[2].parallel = true;
        let ranking = &rank(&data)[0];
        let why = ranking.pairs[0].why.unwrap();
        assert_eq!((why.calls, why.faults, why.waiting_ns), (None, None, None));
        assert_eq!((why.difference_ns, why.rest_ns), (50_000.0, 50_000.0));
    }
}
