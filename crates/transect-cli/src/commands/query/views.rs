//! The views that a statement can use, as SQL.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use transect_sys::private_dir::PrivateTempDir;

use transect_program::CliError;

/// The times of DuckDB have microseconds, and its operators for them know no others.
const TIMES: [&str; 5] = ["mtime", "ctime", "atime", "btime", "newest_mtime"];

/// Differences of unsigned numbers are errors in DuckDB if they are negative, and its functions take signed ones.
const NUMBERS: [&str; 7] =
    ["size", "allocated", "entries", "files", "directories", "total_size", "total_allocated"];

/// The attributes by which entries of two snapshots differ: those of digests.
const COMPARED: [&str; 7] = ["type", "size", "mtime", "mode", "uid", "gid", "nlink"];

pub(super) struct Views {
    /// The files as users know them, absolute, and as DuckDB gets them.
    files: Vec<(PathBuf, String)>,
    /// Holds links to files whose names DuckDB would not take literally.
    _links: Option<PrivateTempDir>,
}

impl Views {
    pub(super) fn new(files: &[PathBuf]) -> Result<Self, CliError> {
        let mut links = None;
        let mut named = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let file = std::path::absolute(file)?;
            let name = match file.to_str().filter(|name| is_literal(name)) {
                Some(name) => name.to_owned(),
                None => link_to(&file, number, &mut links)?,
            };
            named.push((file, name));
        }
        Ok(Self { files: named, _links: links })
    }

    pub(super) fn sql(&self) -> String {
        sql(&self.files.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>())
    }

    /// Returns the same statements with the names of the files themselves.
    pub(super) fn printed(&self) -> String {
        let names = self.files.iter().map(|(file, _)| file.to_string_lossy().into_owned());
        sql(&names.collect::<Vec<_>>())
    }
}

/// Returns whether DuckDB takes a name in quotes as that of the file. It expands `*`, `?`, brackets and braces,
/// and a colon may make a name an address.
fn is_literal(name: &str) -> bool {
    let has_drive = cfg!(windows) && name.get(1..2) == Some(":");
    let drive = if has_drive { 2 } else { 0 };
    let is_harmless =
        |letter: char| letter.is_alphanumeric() || " /\\._-+=,@%#~()'".contains(letter);
    name.chars().skip(drive).all(is_harmless)
}

/// Makes a link with a harmless name, and returns its path.
fn link_to(
    file: &Path,
    number: usize,
    links: &mut Option<PrivateTempDir>,
) -> Result<String, CliError> {
    let cannot = |reason: String| {
        CliError::Failed(format!("cannot pass '{}' to DuckDB: {reason}", file.display()))
    };
    if links.is_none() {
        *links = Some(PrivateTempDir::new("query").map_err(|error| cannot(error.to_string()))?);
    }
    let directory = links.as_ref().expect("BUG: it was just made").path();
    let link = directory.join(format!("{number}.parquet"));
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(file, &link);
    #[cfg(windows)]
    let linked = std::os::windows::fs::symlink_file(file, &link);
    #[cfg(not(any(unix, windows)))]
    let linked = Err(std::io::Error::from(std::io::ErrorKind::Unsupported));
    linked.map_err(|error| cannot(transect::reason(&error)))?;
    let name = link.to_str().filter(|name| is_literal(name));
    name.map(str::to_owned)
        .ok_or_else(|| cannot("the temporary directory has an odd name".to_owned()))
}

fn sql(names: &[String]) -> String {
    let mut sql = String::new();
    match names {
        [before, after] => {
            view(&mut sql, "a", before);
            view(&mut sql, "b", after);
            changes(&mut sql);
            entries(&mut sql, &["a", "b"]);
        }
        [name] => view(&mut sql, "entries", name),
        names => {
            let views: Vec<String> =
                (1..=names.len()).map(|number| format!("file_{number}")).collect();
            for (view_name, name) in views.iter().zip(names) {
                view(&mut sql, view_name, name);
            }
            entries(&mut sql, &views.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    sql
}

/// Appends a view of a file. A root is its own path; `relative` needs the length of the root's path, which
/// is in the first row.
fn view(sql: &mut String, view: &str, name: &str) {
    let file = format!("'{}'", name.replace('\'', "''"));
    let times = TIMES.map(|time| format!("{time}::TIMESTAMPTZ AS {time}")).join(", ");
    let numbers = NUMBERS.map(|number| format!("TRY_CAST({number} AS BIGINT) AS {number}"));
    let numbers = numbers.join(", ");
    let _ = write!(
        sql,
        "CREATE TEMP VIEW {view} AS
WITH stored AS (
  SELECT * REPLACE ({times},
    {numbers}),
    CASE WHEN depth = 0 THEN name WHEN ends_with(dir, '/') THEN dir || name ELSE dir || '/' || name END AS path
  FROM read_parquet({file})),
roots AS (SELECT count(*) AS number, any_value(length(name)) AS length FROM stored WHERE depth = 0)
SELECT stored.*, {file} AS file,
  CASE WHEN number > 1 THEN path ELSE ltrim(substr(path, length + 1), '/') END AS relative
FROM stored, roots;
"
    );
}

fn entries(sql: &mut String, views: &[&str]) {
    let all: Vec<String> = views.iter().map(|view| format!("SELECT * FROM {view}")).collect();
    let _ = writeln!(sql, "CREATE TEMP VIEW entries AS {};", all.join(" UNION ALL "));
}

fn changes(sql: &mut String) {
    let row = |view: &str| COMPARED.map(|column| format!("{view}.{column}")).join(", ");
    let _ = write!(
        sql,
        "CREATE TEMP VIEW changes AS
SELECT
  CASE WHEN a.path IS NULL THEN 'added' WHEN b.path IS NULL THEN 'removed'
    WHEN a.type <> b.type THEN 'type_changed' ELSE 'modified' END AS change,
  coalesce(b.path, a.path) AS path, coalesce(b.relative, a.relative) AS relative,
  coalesce(b.type, a.type) AS type,
  a.size AS size_before, b.size AS size_after, a.mtime AS mtime_before, b.mtime AS mtime_after,
  coalesce(a.total_allocated, a.allocated) AS allocated_before,
  coalesce(b.total_allocated, b.allocated) AS allocated_after,
  coalesce(b.total_allocated, b.allocated, 0) - coalesce(a.total_allocated, a.allocated, 0) AS growth
FROM a FULL JOIN b ON a.relative = b.relative AND a.name_raw IS NOT DISTINCT FROM b.name_raw
WHERE a.digest IS DISTINCT FROM b.digest OR ({}) IS DISTINCT FROM ({});
",
        row("a"),
        row("b")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_duckdb_would_interpret_are_not_literal() {
        for name in ["/a/b.parquet", "/it's/ä b.parquet", "/x_(1)~.parquet"] {
            assert!(is_literal(name), "{name}");
        }
        for name in
            ["/*.parquet", "/a?b", "/[ab]", "/{a,b}", "/a\nb", "/s3://x", "/a\u{1b}[m", "/$x"]
        {
            assert!(!is_literal(name), "{name}");
        }
    }

    #[test]
    fn quotes_in_names_end_no_literal() {
        let sql = sql(&["/'; DROP TABLE x; --".to_owned()]);
        assert!(sql.contains("read_parquet('/''; DROP TABLE x; --')"), "{sql}");
    }
}
