//! Panics do not leave the library, wherever they occur.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::path::Path;

use transect_c::boundary::Text;
use transect_c::failure::{CallError, status};
use transect_c::options::{
    option, transect_options_free, transect_options_new, transect_options_set,
};
use transect_c::walk::{Entry, WalkCounts, transect_walk};
use transect_testkit::TempDir;

/// Stands for a defect anywhere below a call.
extern "C-unwind" fn panics(_: *mut c_void, entry: &Entry<'_>) -> i32 {
    // Deep in the tree, so that on several threads any of them may meet it.
    assert!(entry.depth < 3, "BUG: on purpose");
    0
}

#[test]
fn panic_in_walk_becomes_status_on_any_number_of_threads() {
    let temp = TempDir::new();
    for number in 0..200 {
        std::fs::create_dir_all(temp.join(format!("{}/{number}/deep", number % 20))).unwrap();
    }
    let path = std::ffi::CString::new(temp.path().as_os_str().as_encoded_bytes()).unwrap();
    for threads in [1, 2, 8] {
        let mut options = transect_options_new();
        for (option, value) in [(option::THREADS, threads), (option::CONCURRENT, 1)] {
            let set = transect_options_set(options.as_deref_mut(), option, value, None);
            assert_eq!(set, status::OK);
        }
        let mut error: MaybeUninit<CallError> = MaybeUninit::uninit();
        let mut counts: MaybeUninit<WalkCounts> = MaybeUninit::uninit();
        let status = transect_walk(
            Text::new(&path),
            options.as_deref(),
            Some(panics),
            None,
            std::ptr::null_mut(),
            Some(&mut counts),
            Some(&mut error),
        );
        assert_eq!(status, status::BUG);
        // SAFETY: a failed call writes it.
        let error = unsafe { error.assume_init() };
        assert_eq!(error.text(), "BUG in transect: on purpose");
        transect_options_free(options);
    }
}

/// Every exported function runs in `guard` or `guard_or`, itself or in one of these helpers.
#[test]
#[expect(clippy::disallowed_methods, reason = "the sources of this crate")]
fn every_function_catches_panics() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut functions = 0;
    for file in std::fs::read_dir(src).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for function in text.split("#[unsafe(no_mangle)]\n").skip(1) {
            let function = function.split("\n}\n").next().unwrap();
            let helpers = ["with_cache", "look_up", "look_up_many", "row_number", "write_path"];
            let mut names = ["guard", "guard_or"].into_iter().chain(helpers);
            let name = function.split(['(', ' ']).nth(4).unwrap();
            // These two return constants.
            let constant = ["transect_version", "transect_status_name"].contains(&name);
            let guarded = names.any(|name| function.contains(&format!(" {name}(")));
            assert!(guarded != constant, "{name} lets panics out");
            functions += 1;
        }
    }
    assert!(functions > 30);
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
}
