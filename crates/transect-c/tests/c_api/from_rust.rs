//! Calls from Rust, for what programs in C cannot easily cause or count: panics, and callbacks on
//! several threads at once.

use std::ffi::{CString, c_void};
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use transect_c::boundary::Text;
use transect_c::failure::{CallError, status};
use transect_c::options::{
    transect_options_free, transect_options_new, transect_options_set_concurrent,
    transect_options_set_threads,
};
use transect_c::walk::{Entry, OnEntry, WalkCounts, flow, transect_walk};
use transect_testkit::TempDir;

/// Creates directories in three levels: 221 entries, the root included.
fn tree() -> TempDir {
    let temp = TempDir::new();
    for number in 0..200 {
        fs::create_dir_all(temp.join(format!("{}/{}/deep", number % 20, number % 100))).unwrap();
    }
    temp
}

/// Walks a tree, and returns the status with counts and error.
fn walk(
    tree: &TempDir,
    threads: u32,
    concurrent: bool,
    on_entry: OnEntry,
    context: *mut c_void,
) -> (i32, WalkCounts, Option<CallError>) {
    let path = CString::new(tree.path().as_os_str().as_encoded_bytes()).unwrap();
    let mut options = transect_options_new();
    let set = transect_options_set_threads(options.as_deref_mut(), threads, None);
    assert_eq!(set, status::OK);
    let set = transect_options_set_concurrent(options.as_deref_mut(), concurrent, None);
    assert_eq!(set, status::OK);
    let mut error = MaybeUninit::uninit();
    let mut counts = MaybeUninit::uninit();
    let options_ref = options.as_deref();
    let text = Text::new(&path);
    let out = (Some(&mut counts), Some(&mut error));
    let status = transect_walk(text, options_ref, Some(on_entry), None, context, out.0, out.1);
    transect_options_free(options);
    // SAFETY: a walk always writes the counts, and a failed one the error.
    let found = unsafe { (counts.assume_init(), (status != 0).then(|| error.assume_init())) };
    (status, found.0, found.1)
}

/// Counts calls, and those that run at once.
#[derive(Default)]
struct Calls {
    all: AtomicU64,
    running: AtomicU64,
    most: AtomicU64,
}

extern "C-unwind" fn counts(context: *mut c_void, _: &Entry<'_>) -> i32 {
    // SAFETY: the tests pass a `Calls` that outlives the walk.
    let calls = unsafe { &*context.cast::<Calls>() };
    let running = calls.running.fetch_add(1, Ordering::SeqCst) + 1;
    calls.most.fetch_max(running, Ordering::SeqCst);
    std::thread::yield_now();
    calls.all.fetch_add(1, Ordering::SeqCst);
    calls.running.fetch_sub(1, Ordering::SeqCst);
    flow::CONTINUE
}

#[test]
fn callbacks_overlap_only_if_requested() {
    let tree = tree();
    for concurrent in [false, true] {
        let calls = Calls::default();
        let context = (&raw const calls).cast_mut().cast();
        let (status, counts, _) = walk(&tree, 8, concurrent, counts, context);
        assert_eq!(status, status::OK);
        assert_eq!((counts.entries, calls.all.into_inner()), (221, 221));
        // Whether they overlap if they may is chance.
        assert!(concurrent || calls.most.into_inner() == 1);
    }
}

/// Stands for a defect anywhere below a call.
extern "C-unwind" fn panics(_: *mut c_void, entry: &Entry<'_>) -> i32 {
    // Deep in the tree, so that on several threads any of them may meet it.
    assert!(entry.depth < 3, "BUG: on purpose");
    0
}

#[test]
fn panic_in_walk_becomes_status_on_any_number_of_threads() {
    let tree = tree();
    for threads in [1, 2, 8] {
        let (status, _, error) = walk(&tree, threads, true, panics, std::ptr::null_mut());
        assert_eq!(status, status::BUG);
        assert_eq!(error.unwrap().text(), "BUG in transect: on purpose");
    }
}

/// Every exported function runs in `guard` or `guard_or`, itself or in one of these helpers. The macros `functions` and
/// `objects` count once.
#[test]
#[expect(clippy::disallowed_methods, reason = "the sources of this crate")]
fn every_function_catches_panics() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut functions = 0;
    for file in fs::read_dir(src).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for function in text.split("#[unsafe(no_mangle)]\n").skip(1) {
            let function = function.split("\n}\n").next().unwrap();
            let helpers = ["row_number", "write_path"];
            let mut names = ["guard", "guard_or"].into_iter().chain(helpers);
            let name = function.split(['(', ' ']).nth(4).unwrap();
            // These two return constants.
            let constant = ["transect_version", "transect_status_name"].contains(&name);
            let calls = |name| [" ", "::"].map(|before| format!("{before}{name}("));
            let guarded = names.any(|name| calls(name).iter().any(|call| function.contains(call)));
            assert!(guarded != constant, "{name} lets panics out");
            functions += 1;
        }
    }
    assert!(functions > 15, "{functions}");
}

/// Handles are used by several threads at once, as the header allows.
#[test]
fn objects_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<transect_c::options::WalkOptions>();
    shared::<transect::table::Table>();
    shared::<transect_cache::CacheOptions>();
    shared::<transect_c::cache::Cache>();
    shared::<transect_c::search::Search>();
    fn sent<T: Send>() {}
    sent::<transect_c::pull::Walker>();
}
