//! What a program does that gets no more memory, played by this test in a process of its own.

#![cfg(target_os = "linux")]

use std::process::Command;

use transect_sys::memory::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator { program: "hungry" };

/// What the child process is to do.
const TASK: &str = "TRANSECT_TEST_MEMORY";

/// Leaves this process 64 MiB more of address space than it has.
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

/// A program whose memory was limited ended with an abort.
#[test]
fn program_without_memory_ends_with_exit_code_and_message() {
    let (code, text) = run("many");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("hungry: cannot allocate 1048576 bytes: not enough memory"), "{text}");
}

#[test]
fn program_refused_a_huge_request_goes_on() {
    let (code, text) = run("large");
    assert_eq!((code, text.contains("went on")), (Some(0), true), "{text}");
}
