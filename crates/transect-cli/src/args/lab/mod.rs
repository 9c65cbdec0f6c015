//! Arguments of `lab`.

mod attributes;
mod common;
mod corpus;
mod list;
mod report;
mod self_test;
mod transform;
mod tune;
mod values;
mod walk;

use clap::Subcommand;

use attributes::RUN_ATTRIBUTES_NOTES;
pub(crate) use attributes::{LabAttributesArgs, LabAttributesMethodArgs};
pub(crate) use common::{LabMethodsArgs, LabSessionArgs};
pub(crate) use corpus::{CorpusCommand, CorpusFileArgs};
use list::LIST_NOTES;
pub(crate) use list::LabListArgs;
use report::{COMPARE_NOTES, EXPLAIN_NOTES, IMPORT_NOTES, MERGE_NOTES, REPORT_NOTES};
pub(crate) use report::{
    LabCompareArgs, LabExplainArgs, LabImportArgs, LabMergeArgs, LabReportArgs,
};
pub(crate) use self_test::LabSelfTestArgs;
use self_test::SELF_TEST_NOTES;
use transform::RUN_TRANSFORM_NOTES;
pub(crate) use transform::{LabPassArgs, LabTransformArgs};
pub(crate) use tune::LabTuneArgs;
use tune::TUNE_NOTES;
use walk::RUN_WALK_NOTES;
pub(crate) use walk::{LabMethodArgs, LabRunArgs};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
#[allow(
    clippy::large_enum_variant,
    reason = "one value is parsed for each process; on Linux it is not large"
)]
pub(crate) enum LabCommand {
    /// List all methods: those of transect, contenders in other languages, and unavailable ones
    #[command(after_long_help = LIST_NOTES)]
    List(LabListArgs),
    /// Run a session: in each round, every method does the same work once
    #[command(subcommand)]
    Run(LabRunCommand),
    /// Report the results of a session
    #[command(after_long_help = REPORT_NOTES)]
    Report(LabReportArgs),
    /// Compare two sessions: which cells became faster or slower
    #[command(after_long_help = COMPARE_NOTES)]
    Compare(LabCompareArgs),
    /// Merge sessions of several machines into one table, each with its own ratios
    #[command(after_long_help = MERGE_NOTES)]
    Merge(LabMergeArgs),
    /// Explain what limits the fastest method of a transform session, and store it as a setting
    #[command(after_long_help = EXPLAIN_NOTES)]
    Explain(LabExplainArgs),
    /// Import the listings of a file transform article, and test its differences
    #[command(after_long_help = IMPORT_NOTES)]
    Import(LabImportArgs),
    /// Find the fastest settings for a file system, and store them for `transect scan` and `list`
    #[command(after_long_help = TUNE_NOTES)]
    Tune(LabTuneArgs),
    /// Test the lab itself: how often its verdicts are false, and whether it catches wrong contenders
    #[command(after_long_help = SELF_TEST_NOTES)]
    SelfTest(LabSelfTestArgs),
    /// Create and check trees and files with fixed content, to measure on
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// Walk a tree with one method, for a session
    #[command(hide = true)]
    Method(LabMethodArgs),
    /// Transform a file with one method, for a session
    #[command(hide = true)]
    Pass(LabPassArgs),
    /// Query attributes with one method, for a session
    #[command(hide = true)]
    AttributesMethod(LabAttributesMethodArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LabRunCommand {
    /// Measure which way of walking trees is fastest
    #[command(after_long_help = RUN_WALK_NOTES)]
    Enumerate(LabRunArgs),
    /// Measure which way of reading and writing files is fastest
    #[command(after_long_help = RUN_TRANSFORM_NOTES)]
    Transform(LabTransformArgs),
    /// Measure which way of querying attributes is fastest, and what a cache saves
    #[command(after_long_help = RUN_ATTRIBUTES_NOTES)]
    Attributes(LabAttributesArgs),
}
