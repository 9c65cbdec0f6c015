//! A callback that decides which entries a walk leaves out.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use crate::boundary::{OutArray, write_path};
use crate::path;

/// `transect_candidate`.
#[repr(C)]
#[derive(Debug)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Candidate<'a> {
    pub entry: &'a transect::Candidate<'a>,
    pub name: *const c_char,
    pub name_length: usize,
    pub depth: u32,
    pub type_: u32,
}

/// `transect_filter`. `C-unwind` as [`OnEntry`](crate::walk::OnEntry).
pub type Filter =
    unsafe extern "C-unwind" fn(context: *mut c_void, candidate: &Candidate<'_>) -> bool;

pub(crate) struct FilterCall {
    pub(crate) filter: Filter,
    pub(crate) context: *mut c_void,
}

// SAFETY: the context is only passed to the filter, which the header requires to be callable on any
// thread and on several at once.
unsafe impl Send for FilterCall {}
// SAFETY: as above.
unsafe impl Sync for FilterCall {}

thread_local! {
    /// Memory for a name with a NUL.
    static NAME: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl FilterCall {
    pub(crate) fn keeps(&self, entry: &transect::Candidate<'_>) -> bool {
        // Taken out: a filter may walk, too.
        let mut text = NAME.take();
        let name_length = path::write_with_nul(entry.file_name(), &mut text);
        let candidate = Candidate {
            entry,
            name: text.as_ptr().cast(),
            name_length,
            depth: entry.depth(),
            type_: entry.file_type() as u32,
        };
        // SAFETY: the header requires a function with these parameters; the candidate is valid during
        // the call.
        let keeps = unsafe { (self.filter)(self.context, &candidate) };
        NAME.set(text);
        keeps
    }
}

/// Returns the path of a candidate.
#[unsafe(no_mangle)]
pub extern "C" fn transect_candidate_path(
    candidate: Option<&Candidate<'_>>,
    buffer: OutArray<'_, u8>,
    capacity: usize,
) -> usize {
    write_path(buffer, capacity, || candidate.map(|candidate| candidate.entry.path()))
}
