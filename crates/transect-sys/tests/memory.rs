//! Programs that run out of memory: each test runs in a child process.
//!
//! This is a separate test program, because its allocator would apply to all tests.

#![cfg(target_os = "linux")]

use std::process::Command;

use transect_sys::memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "hungry" };

/// The environment variable with the child's task.
const TASK: &str = "TRANSECT_TEST_MEMORY";

/// Limits this process to 64 MiB of address space beyond its current size.
fn limit_memory() {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("/proc is mounted");
    let pages = statm.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.expect("the first number is the size");
    // SAFETY: `sysconf` takes any number; `setrlimit` reads the structure and nothing else.
    unsafe {
        let size = pages * libc::sysconf(libc::_SC_PAGESIZE) as u64 + (64 << 20);
        let limit = libc::rlimit { rlim_cur: size, rlim_max: size };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
    }
}

fn run(task: &str) -> (Option<i32>, String) {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child", "--nocapture"])
        .env(TASK, task)
        .output()
        .expect("this program starts");
    (child.status.code(), String::from_utf8_lossy(&child.stderr).into_owned())
}

#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    limit_memory();
    match task.as_str() {
        "many" => {
            let mut all = Vec::new();
            loop {
                all.push(std::hint::black_box(vec![1_u8; 1 << 20]));
            }
        }
        _ => {
            let mut large = Vec::<u8>::new();
            assert!(large.try_reserve(1 << 40).is_err());
            eprintln!("went on");
        }
    }
}

/// Regression: a program with limited memory ended with an abort.
#[test]
fn allocator_out_of_memory_exit_code_and_message() {
    let (code, text) = run("many");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("hungry: cannot allocate 1048576 bytes: not enough memory"), "{text}");
}

#[test]
fn allocator_huge_request_returned_to_caller() {
    let (code, text) = run("large");
    assert_eq!((code, text.contains("went on")), (Some(0), true), "{text}");
}
