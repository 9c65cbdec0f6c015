//! Reads a tree into a table with a reader that waits before each call, as one of a network file system does.
//!
//! `cargo run --release -p transect-snapshot --example delayed TREE MICROSECONDS THREADS` prints the numbers of rows
//! and of calls, and the time in seconds. `bench/distributed/latency` compares numbers of threads.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use transect::table::TableBuilder;
use transect::{FieldMask, ReaderKind, ScanOptions, Want};
use transect_snapshot::tasks::DEFAULT_FIELDS;
use transect_sys::{
    Attributes, Batch, Fault, ListStatus, Reader, ReaderSettings, SystemHandle, SystemReader,
    Volume,
};

struct Delayed {
    reader: SystemReader,
    delay: Duration,
    calls: Arc<AtomicU64>,
}

impl Delayed {
    /// Waits as long as this number of calls takes that follow each other.
    fn wait(&self, calls: usize) -> &SystemReader {
        self.calls.fetch_add(calls as u64, Ordering::Relaxed);
        std::thread::sleep(self.delay * calls as u32);
        &self.reader
    }

    fn call(&mut self) -> &mut SystemReader {
        self.wait(1);
        &mut self.reader
    }
}

impl Reader for Delayed {
    type Handle = SystemHandle;

    fn prepare(&mut self, want: &Want) {
        self.reader.prepare(want);
    }

    fn stat_root(
        &mut self,
        path: &Path,
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        self.call().stat_root(path, want, follow)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<Self::Handle, Fault> {
        self.call().open_root(path, follow)
    }

    fn open(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<Self::Handle, Fault> {
        self.call().open(anchor, steps, follow)
    }

    fn stat_open(
        &mut self,
        handle: &mut Self::Handle,
        want: FieldMask,
    ) -> Result<Attributes, Fault> {
        self.call().stat_open(handle, want)
    }

    fn stat(
        &mut self,
        anchor: &Self::Handle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes, Fault> {
        self.call().stat(anchor, steps, want, follow)
    }

    fn list(
        &mut self,
        handle: &Self::Handle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus, Fault> {
        self.call().list(handle, batch, want)
    }

    /// The reader queries one entry after the other.
    fn fill(&mut self, handle: &Self::Handle, batch: &mut Batch, want: &Want) {
        self.wait(batch.len());
        self.reader.fill(handle, batch, want);
    }

    fn shares_queries(handle: &Self::Handle) -> bool {
        SystemReader::shares_queries(handle)
    }

    fn volume(handle: &Self::Handle) -> Volume {
        SystemReader::volume(handle)
    }

    fn may_be_mount_point(handle: &Self::Handle) -> bool {
        SystemReader::may_be_mount_point(handle)
    }
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let tree = PathBuf::from(arguments.next().ok_or("a TREE is missing")?);
    let mut number = || arguments.next().and_then(|it| it.to_str()?.parse().ok());
    let delay = Duration::from_micros(number().ok_or("MICROSECONDS are missing")?);
    let threads = number().ok_or("THREADS are missing")? as usize;
    let calls = Arc::new(AtomicU64::new(0));
    let reader = || Delayed {
        reader: SystemReader::new(ReaderKind::best(), ReaderSettings::default()),
        delay,
        calls: Arc::clone(&calls),
    };
    transect_sys::host::raise_handle_limit();
    let plan = ScanOptions::new([tree]).threads(threads).plan()?;
    let builder = TableBuilder::new(DEFAULT_FIELDS);
    let outcome = plan.run_with(|| builder.sink(), reader)?;
    let (elapsed, threads) = (outcome.elapsed.as_secs_f64(), outcome.threads);
    let rows = outcome.sink.into_table()?.len();
    let calls = calls.load(Ordering::Relaxed);
    println!(
        "{{\"rows\":{rows},\"calls\":{calls},\"threads\":{threads},\"seconds\":{elapsed:.3}}}"
    );
    Ok(())
}
