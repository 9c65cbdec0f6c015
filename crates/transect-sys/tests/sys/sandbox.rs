//! Sandboxes without newer system calls: the reader falls back to older ones and finds the same
//! entries.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::linux::{GetdentsReader, StatCall, has_openat2, has_statx};
use transect_sys::residency;
use transect_sys::{
    Batch, FieldMask, FileType, ListStatus, Reader, ReaderKind, ReaderSettings, Want,
};
use transect_testkit::{TempDir, rerun};

/// Some versions of libc lack the constant.
const SYS_CACHESTAT: libc::c_long = 451;

/// Makes the kernel return an error for `statx`, `openat2`, `cachestat` and `io_uring_setup` on
/// this thread, as the filters of containers do: `EPERM` in older ones, `ENOSYS` in newer ones.
fn refuse(errno: i32) {
    const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // `struct seccomp_data` begins with the number. The architecture is not checked: this process
    // makes calls of one architecture only.
    let mut steps = [
        step(LOAD_NUMBER, 0, 0, 0),
        step(EQUAL, 4, 0, libc::SYS_statx as u32),
        step(EQUAL, 3, 0, libc::SYS_openat2 as u32),
        step(EQUAL, 2, 0, SYS_CACHESTAT as u32),
        step(EQUAL, 1, 0, libc::SYS_io_uring_setup as u32),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY:
    // - PR_SET_NO_NEW_PRIVS takes plain numbers;
    // - PR_SET_SECCOMP reads `program` and the steps it points to during the call only, and both
    //   live until the end of this function;
    // - the filter allows all calls but four, and those only fail.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        let answer = libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program);
        assert_eq!(answer, 0, "{}", io::Error::last_os_error());
    }
}

/// Returns the error number with which the kernel refuses a call with invalid arguments.
fn answer_to(number: libc::c_long) -> Option<i32> {
    // SAFETY: null pointers make all three calls fail before anything is written.
    let answer =
        unsafe { libc::syscall(number, libc::AT_FDCWD, 0_usize, 0_usize, 0_usize, 0_usize) };
    assert_eq!(answer, -1);
    io::Error::last_os_error().raw_os_error()
}

fn build(root: &Path) {
    std::fs::create_dir_all(root.join("a/b/c/d")).unwrap();
    for (path, size) in [("one", 1), ("two", 22), ("a/three", 333), ("a/b/c/d/deep", 4444)] {
        std::fs::write(root.join(path), vec![b'x'; size]).unwrap();
    }
    std::os::unix::fs::symlink("a/b", root.join("link")).unwrap();
}

/// Returns the name, type and size of every entry of a directory.
fn read<R: Reader>(reader: &mut R, handle: &R::Handle) -> BTreeMap<String, (FileType, u64, u64)> {
    let sizes = FieldMask::SIZE | FieldMask::ALLOCATED;
    let want = Want::default().entries(sizes).directories(sizes);
    let mut batch = Batch::new();
    let mut found = BTreeMap::new();
    loop {
        let listing = reader.list(handle, &mut batch, &want).unwrap();
        reader.fill(handle, &mut batch, &want);
        batch.drain_faults(|name, _, fault| panic!("{name:?}: {fault:?}"));
        for entry in batch.iter() {
            let size = entry.attributes.size().expect("sizes were wanted");
            let allocated = entry.attributes.allocated().expect("sizes were wanted");
            let name = entry.name.to_str().unwrap().to_owned();
            found.insert(name, (entry.file_type(), size, allocated));
        }
        if listing == ListStatus::End {
            return found;
        }
    }
}

fn falls_back(root: &Path, errno: i32) {
    refuse(errno);
    for call in [libc::SYS_statx, libc::SYS_openat2, SYS_CACHESTAT] {
        assert_eq!(answer_to(call), Some(errno), "the sandbox holds");
    }
    assert!(!has_statx() && !has_openat2());
    #[cfg(feature = "ring")]
    assert!(!transect_sys::linux::has_io_uring());
    assert!(ReaderKind::GetdentsStatx.unavailable_reason().is_some());
    assert_eq!(ReaderKind::best(), ReaderKind::GetdentsFstatat);

    let settings = ReaderSettings::default();
    let mut reader = GetdentsReader::new(StatCall::Statx, settings);
    let mut handle = reader.open_root(root, false).unwrap();
    let found = read(&mut reader, &handle);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "link", "one", "two"]);
    assert_eq!(found["a"].0, FileType::Directory);
    assert_eq!((found["link"].0, found["link"].1), (FileType::Symlink, 3));
    assert_eq!((found["one"].0, found["one"].1), (FileType::File, 1));
    assert_eq!((found["two"].1, found["two"].2 % 512), (22, 0));

    let own = reader.stat_open(&mut handle, FieldMask::FILE_ID).unwrap();
    assert_eq!(own.file_type(), FileType::Directory);
    assert!(own.file_id().is_some());

    // The whole path in one call is refused, so the reader resolves it step by step.
    let steps = ["a", "b", "c", "d"].map(OsStr::new);
    let deep = reader.open(&handle, &steps, false).unwrap();
    let found = read(&mut reader, &deep);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["deep"]);
    assert_eq!(found["deep"].1, 4444);
    let steps = ["a", "b", "c", "d", "deep"].map(OsStr::new);
    let file = reader.stat(&handle, &steps, FieldMask::SIZE, false).unwrap();
    assert_eq!(file.size(), Some(4444));

    // Falls back to `mincore`, which does not report dirty pages.
    let pages = residency::residency(&residency::open(&root.join("two")).unwrap()).unwrap();
    assert_eq!((pages.bytes, pages.resident, pages.dirty), (22, 22, None));

    // Directory handles still refuse links and mount points.
    let dir = DirHandle::open(root).unwrap();
    let kind = |entered: io::Result<DirHandle>| entered.unwrap_err().kind();
    let link = dir.open_dir("link".as_ref(), MountPolicy::Refuse);
    assert_eq!(kind(link), io::ErrorKind::NotADirectory);
    let inside = dir.open_dir("a".as_ref(), MountPolicy::Refuse).unwrap();
    let above = inside.open_parent().unwrap().attributes().unwrap();
    assert_eq!(above.file_id(), own.file_id());
    let slash = DirHandle::open(Path::new("/")).unwrap();
    let mount = slash.open_dir("proc".as_ref(), MountPolicy::Refuse);
    assert_eq!(kind(mount), io::ErrorKind::CrossesDevices);
    slash.open_dir("proc".as_ref(), MountPolicy::Cross).unwrap();

    // Links in the middle of a path are still refused.
    let steps = ["link", "c", "d"].map(OsStr::new);
    let through_a_link = reader.open(&handle, &steps, false);
    assert!(matches!(through_a_link, Err(transect_sys::Fault::Vanished)), "{through_a_link:?}");
}

fn in_a_sandbox(test: &str, role: &str, errno: i32) {
    const ROOT: &str = "TRANSECT_TEST_ROOT";
    let temp = TempDir::new();
    build(temp.path());
    let root = temp.path().to_str().unwrap();
    let ran = rerun(&format!("sandbox::{test}"), role, &[(ROOT, root)], || {
        let root = std::env::var_os(ROOT).expect("set by in_a_sandbox");
        falls_back(root.as_ref(), errno);
    });
    assert!(ran, "the role {role} is known");
}

#[test]
fn sandbox_unknown_calls_fall_back() {
    let test = "sandbox_unknown_calls_fall_back";
    in_a_sandbox(test, "ENOSYS", libc::ENOSYS);
}

#[test]
fn sandbox_forbidden_calls_fall_back() {
    let test = "sandbox_forbidden_calls_fall_back";
    in_a_sandbox(test, "EPERM", libc::EPERM);
}

/// The same reading without a sandbox, with every reader: all find the same.
#[test]
fn readers_without_sandbox_agree() {
    let temp = TempDir::new();
    build(temp.path());
    fn all<R: Reader>(mut reader: R, root: &Path) -> Vec<BTreeMap<String, (FileType, u64, u64)>> {
        let handle = reader.open_root(root, false).unwrap();
        let top = read(&mut reader, &handle);
        let steps = ["a", "b", "c", "d"].map(OsStr::new);
        let deep = reader.open(&handle, &steps, false).unwrap();
        vec![top, read(&mut reader, &deep)]
    }
    let settings = ReaderSettings::default();
    let statx = all(GetdentsReader::new(StatCall::Statx, settings), temp.path());
    let fstatat = all(GetdentsReader::new(StatCall::Fstatat, settings), temp.path());
    let portable = all(transect_sys::PortableReader::new(), temp.path());
    assert_eq!(statx[1]["deep"].1, 4444);
    assert_eq!(statx, fstatat);
    assert_eq!(statx, portable);
}
