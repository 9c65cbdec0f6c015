//! Floors: each does one part of the work, to measure the time that this part takes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use transect_transform::output::OutputBuffer;
use transect_transform::step::{Step, StepError};

use super::SyncRule;
use crate::harness::stopwatch::{RunTime, Stopwatch};
use crate::spec::transform::{Kind, Rules};

/// The maximum size of one copy in memory, in bytes: far larger than the processor's caches.
const LARGEST_COPY: u64 = 64 << 20;

const PAGE: usize = 4096;

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Floor {
        Read = "floor-read" => "the input is read, and forgotten",
        Write = "floor-write" => "as much as the input holds is written",
        ReadWrite = "floor-read-write" => "the input is read and written, and nothing else",
        Step = "floor-step" => "the step alone, from memory to nowhere",
        Memory = "floor-memory" => "as much as the input holds is copied in memory",
    }
}

impl Floor {
    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|floor| floor.as_str() == name)
    }

    pub(super) fn unavailable_reason(self, kind: Kind) -> Option<&'static str> {
        (self == Self::Step && kind == Kind::Copy).then_some("a copy has no step")
    }

    pub(super) fn copies(self) -> bool {
        self == Self::ReadWrite
    }

    /// Returns whether it writes an output, which is as long as the input.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    /// Runs it; returns the number of input bytes processed, and the time.
    pub(super) fn run(
        self,
        rules: Rules,
        block: usize,
        input: &Path,
        output: &Path,
    ) -> io::Result<(u64, RunTime)> {
        let mut memory = vec![0; block + PAGE];
        // Copies between page-aligned memory are the fastest.
        let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
        let block = &mut memory[start..start + block];
        match self {
            Self::Read => {
                let watch = Stopwatch::start();
                let bytes = each(&mut File::open(input)?, block, |_| Ok(()))?;
                Ok((bytes, watch.stop()))
            }
            Self::Write => {
                let size = File::open(input)?.metadata()?.len();
                let filled = File::open(input)?.read(block)?;
                let watch = Stopwatch::start();
                let mut file = File::create(output)?;
                reserve(&file, size);
                let mut left = size;
                while left > 0 {
                    let length = left.min(filled.max(1) as u64);
                    file.write_all(&block[..length as usize])?;
                    left -= length;
                }
                finish(file, rules)?;
                Ok((size, watch.stop()))
            }
            Self::ReadWrite => {
                let watch = Stopwatch::start();
                let (mut from, mut to) = (File::open(input)?, File::create(output)?);
                reserve(&to, from.metadata()?.len());
                let bytes = each(&mut from, block, |bytes| to.write_all(bytes))?;
                finish(to, rules)?;
                Ok((bytes, watch.stop()))
            }
            Self::Step => step(rules, &std::fs::read(input)?, block.len()),
            Self::Memory => Ok(copy_in_memory(File::open(input)?.metadata()?.len())),
        }
    }
}

/// Reads a file to its end, and calls `then` with every block.
fn each(
    file: &mut File,
    block: &mut [u8],
    mut then: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut bytes = 0;
    loop {
        let read = file.read(block)?;
        if read == 0 {
            return Ok(bytes);
        }
        then(&block[..read])?;
        bytes += read as u64;
    }
}

/// Allocates the whole output at once, which costs less than allocating it block by block. Errors do not
/// matter: writing then allocates.
fn reserve(file: &File, size: u64) {
    #[cfg(target_os = "linux")]
    if size > 0 {
        let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, size);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, size);
}

/// Syncs an output if the rules require it, and closes it.
fn finish(file: File, rules: Rules) -> io::Result<()> {
    match rules.sync {
        SyncRule::None => Ok(()),
        SyncRule::Inside => file.sync_all(),
    }
}

fn step(rules: Rules, input: &[u8], block: usize) -> io::Result<(u64, RunTime)> {
    let mut chain = rules.kind.step().ok_or(io::ErrorKind::Unsupported)?;
    let (mut gathered, mut nowhere) = (Vec::new(), |made: &[u8]| {
        std::hint::black_box(made);
        Ok::<(), StepError>(())
    });
    let watch = Stopwatch::start();
    let mut out = OutputBuffer::new(&mut gathered, &mut nowhere);
    let mut fed = input.chunks(block).try_for_each(|block| chain.feed(block, &mut out));
    fed = fed.and_then(|()| chain.finish(&mut out)).and_then(|()| out.flush());
    fed.map_err(|stop| io::Error::other(stop.to_string()))?;
    Ok((input.len() as u64, watch.stop()))
}

/// Copies `size` bytes in memory. Both buffers are initialized before the clock starts, so page faults do not
/// count.
fn copy_in_memory(size: u64) -> (u64, RunTime) {
    let piece = size.clamp(1, LARGEST_COPY) as usize;
    let (from, mut to) = (vec![1_u8; piece], vec![2_u8; piece]);
    let watch = Stopwatch::start();
    let mut left = size;
    while left > 0 {
        let length = left.min(piece as u64) as usize;
        to[..length].copy_from_slice(&from[..length]);
        std::hint::black_box(&mut to);
        left -= length as u64;
    }
    (size, watch.stop())
}
