//! Arguments of `query`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const QUERY_NOTES: &str = "\
DuckDB runs the statement: the program duckdb, or the module duckdb of python3 (pip install duckdb), whichever is found \
first. It must be version 1.0 or later. Without it, the statement is printed with its views.

The view entries has the rows of all FILEs, which are snapshots (transect snapshot). Of two FILEs, the first is also \
a, the second b, and changes has what differs between them by path; transect diff knows moves, too. The \
columns are those of docs/FORMAT.md; path is added, and relative: the path below the root. docs/QUERIES.md has \
ready-made statements.

Examples:
  Count the entries of each type:
    transect query 'SELECT type, count(*) FROM entries GROUP BY ALL' a.parquet
  List directories by the time of the newest change in them:
    transect query 'FROM entries SELECT path ORDER BY newest_mtime' a.parquet
  Add up the bytes of each owner, for a program:
    transect query --json 'FROM entries SELECT sum(size) GROUP BY uid' a.parquet
  Print the paths of all empty files as comma-separated values:
    transect query --csv 'FROM entries SELECT path WHERE size = 0' a.parquet
  Show what grew between two snapshots:
    transect query 'FROM changes ORDER BY growth DESC' a.parquet b.parquet
  Print the statement with its views, for another program:
    transect query --print 'FROM entries' a.parquet

Exit codes: 0 complete; 2 wrong usage, a FILE is not a snapshot, or there is no DuckDB; \
130 interrupted; others are those of DuckDB, 1 if the statement failed.";

#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Run this statement of DuckDB's SQL
    #[arg(value_name = "SQL")]
    pub(crate) statement: String,
    /// Query these snapshots
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print the rows as JSON objects
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the rows as comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print the statement with its views, and do not run it
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) print: bool,
}
