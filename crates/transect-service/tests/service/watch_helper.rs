//! The helper, and clients that do not believe it or do not keep to its protocol.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Gid, Uid};
use transect::Cancel;
use transect_service::{HelperLimits, WatchHelper};
use transect_sys::dir_handle::DirHandle;
use transect_sys::watch::{Notification, Watcher};
use transect_testkit::{Mount, TempDir, skip};

/// A helper, and a file system to watch: `open`, which all users may list; `closed`, which only root may enter; and `hidden`,
/// which all may enter but not list.
struct Setup {
    mount: Option<Mount>,
    temp: TempDir,
    helper: WatchHelper,
}

impl Setup {
    fn new(test: &str, limits: HelperLimits) -> Option<Self> {
        let temp = TempDir::new();
        fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
        let mount = Mount::tmpfs("64M", &temp.join("mount"));
        let mount = mount.map_or_else(|why| skip(test, why), Some)?;
        let watcher = Watcher::of_file_system(mount.path());
        watcher.map_or_else(|why| skip(test, why), Some)?;
        fs::set_permissions(mount.path(), Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("open", 0o755), ("closed", 0o700), ("hidden", 0o711)] {
            fs::create_dir(mount.path().join(name)).unwrap();
            fs::set_permissions(mount.path().join(name), Permissions::from_mode(mode)).unwrap();
        }
        let helper = WatchHelper::bind(&temp.join("socket"), limits).unwrap();
        Some(Self { mount: Some(mount), temp, helper })
    }

    fn at(&self, path: &str) -> PathBuf {
        self.temp.join("mount").join(path)
    }

    fn socket(&self) -> PathBuf {
        self.temp.join("socket")
    }

    /// Runs `test` while the helper serves.
    fn run(&self, test: impl FnOnce()) {
        /// Ends the helper even if the test panics.
        struct End<'a>(Cancel, &'a WatchHelper);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.cancel();
                self.1.waker().wake();
            }
        }
        let end = End(Cancel::new(), &self.helper);
        let cancel = end.0.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || self.helper.run(&cancel).unwrap());
            let _end = end;
            test();
        });
    }

    fn watcher(&self) -> std::io::Result<Watcher> {
        Watcher::through_helper(&self.socket(), &self.at("open"))
    }
}

/// Runs a closure as a user without any rights.
fn as_nobody<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let run = || {
        rustix::thread::set_thread_groups(&[]).unwrap();
        let (user, group) = (Uid::from_raw(65534), Gid::from_raw(65534));
        rustix::thread::set_thread_res_gid(group, group, group).unwrap();
        rustix::thread::set_thread_res_uid(user, user, user).unwrap();
        act()
    };
    // The ids of a thread are its own.
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// Returns the names that were reported, after all earlier changes.
fn names(watcher: &Watcher) -> Vec<OsString> {
    assert!(watcher.settle());
    let mut names = Vec::new();
    watcher.read(&mut |notification| match notification {
        Notification::Entry { name, .. } => names.push(name.to_owned()),
        Notification::Lost => names.push("(lost)".into()),
        _ => {}
    });
    names
}

/// A client that sends what it wants.
struct RawClient {
    control: UnixStream,
    records: OwnedFd,
}

impl RawClient {
    fn connect(setup: &Setup) -> Self {
        let control = UnixStream::connect(setup.socket()).unwrap();
        send(&control, b'r', Some(&File::open(setup.at("open")).unwrap()));
        let (_, records) = receive(control.as_fd());
        Self { control, records: records.expect("the helper accepts this client") }
    }

    fn watch(&self, directory: impl AsFd) {
        send(&self.control, b'w', Some(&directory));
    }

    /// Returns the records of all earlier changes, or `None` if the helper closed the connection.
    fn settle(&self) -> Option<Vec<u8>> {
        send(&self.control, b's', None::<&File>);
        let is_answered = matches!((&self.control).read(&mut [0]), Ok(1));
        let (mut all, mut flags) = (Vec::new(), RecvFlags::empty());
        flags.set(RecvFlags::DONTWAIT, is_answered);
        loop {
            let mut buffer = vec![0; 1 << 16];
            match rustix::net::recv(&self.records, &mut buffer[..], flags) {
                Ok((0, _)) => return None,
                Ok((length, _)) => all.extend_from_slice(&buffer[..length]),
                Err(_) => return is_answered.then_some(all),
            }
        }
    }
}

fn send(control: &UnixStream, letter: u8, descriptor: Option<&impl AsFd>) {
    let descriptors: Vec<_> = descriptor.iter().map(|it| it.as_fd()).collect();
    send_all(control, letter, &descriptors);
}

fn send_all(control: &UnixStream, letter: u8, descriptors: &[BorrowedFd<'_>]) {
    let mut message = [0; 25];
    message[0] = letter;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(9))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    // The helper may have closed the connection.
    let _ = sendmsg(control, &[IoSlice::new(&message)], &mut ancillary, SendFlags::NOSIGNAL);
}

fn receive(control: impl AsFd) -> (usize, Option<OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let (mut ancillary, mut answer) = (RecvAncillaryBuffer::new(&mut space), [0; 12]);
    let room = &mut [IoSliceMut::new(&mut answer)];
    let received = recvmsg(control, room, &mut ancillary, RecvFlags::CMSG_CLOEXEC);
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut all) => all.next(),
        _ => None,
    });
    (received.map_or(0, |received| received.bytes), descriptor)
}

fn path_only(path: &Path) -> OwnedFd {
    rustix::fs::openat(CWD, path, OFlags::PATH, Mode::empty()).unwrap()
}

fn contains(bytes: &[u8], name: &str) -> bool {
    bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

#[test]
fn helper_reports_names_only_where_the_user_may_list_them() {
    let test = "helper_reports_names_only_where_the_user_may_list_them";
    let Some(setup) = Setup::new(test, HelperLimits::default()) else { return };
    setup.run(|| {
        let watcher = as_nobody(|| {
            assert!(Watcher::of_file_system(&setup.at("open")).is_err(), "not permitted");
            let watcher = setup.watcher().unwrap();
            watcher.watch(&setup.at("open")).unwrap();
            assert!(watcher.watch(&setup.at("closed")).is_err());
            let hidden = DirHandle::open(&setup.at("hidden")).unwrap();
            assert!(hidden.watch(&watcher).is_err());
            watcher
        });
        let raw = as_nobody(|| {
            let raw = RawClient::connect(&setup);
            raw.watch(File::open(setup.at("open")).unwrap());
            raw
        });
        let change = || {
            for (directory, name) in
                [("closed", "secret-1"), ("hidden", "secret-2"), ("", "secret-3"), ("open", "name")]
            {
                fs::write(setup.at(directory).join(name), "1").unwrap();
            }
            fs::create_dir_all(setup.at("closed/secret-4/secret-5")).unwrap();
            fs::rename(setup.at("closed/secret-4"), setup.at("closed/secret-6")).unwrap();
            fs::remove_dir_all(setup.at("closed/secret-6")).unwrap();
            fs::rename(setup.at("open/name"), setup.at("closed/secret-7")).unwrap();
        };
        change();
        let reported = names(&watcher);
        assert!(!reported.is_empty() && reported.iter().all(|it| it == "name"), "{reported:?}");
        let records = raw.settle().unwrap();
        assert!(contains(&records, "name") && !contains(&records, "secret"));
        let process = std::process::id().to_ne_bytes();
        assert!(records.chunks(4).all(|word| word != process), "reports a process id");
        // What a client must not send ends its connection.
        let forbidden: [(&str, &dyn Fn() -> OwnedFd); 4] = [
            ("not open for reading", &|| path_only(&setup.at("hidden"))),
            ("another file system", &|| File::open("/").unwrap().into()),
            ("a file", &|| File::open(setup.at("closed/secret-1")).unwrap().into()),
            ("a pipe", &|| rustix::pipe::pipe().unwrap().0),
        ];
        for (what, descriptor) in forbidden {
            let raw = RawClient::connect(&setup);
            raw.watch(descriptor());
            change();
            assert_eq!(raw.settle(), None, "{what}");
        }
        for letter in *b"wrx\0" {
            let raw = RawClient::connect(&setup);
            send(&raw.control, letter, None::<&File>);
            assert_eq!(raw.settle(), None, "{letter}");
        }
        // The same holds for the root of a client.
        let control = UnixStream::connect(setup.socket()).unwrap();
        send(&control, b'r', Some(&path_only(&setup.at("hidden"))));
        assert!(receive(&control).1.is_none());
        // The others are still served.
        fs::write(setup.at("open/last"), "1").unwrap();
        let reported = names(&watcher);
        assert!(reported.contains(&"last".into()), "{reported:?}");
        assert!(reported.iter().all(|it| it == "name" || it == "last"), "{reported:?}");
    });
}

#[test]
fn helper_limits_directories_and_connections_of_a_user() {
    let test = "helper_limits_directories_and_connections_of_a_user";
    let mut limits = HelperLimits::default();
    (limits.directories, limits.user_connections, limits.connections) = (2, 2, 3);
    let Some(setup) = Setup::new(test, limits) else { return };
    setup.run(|| {
        for name in ["open/a", "open/b", "open/c"] {
            fs::create_dir(setup.at(name)).unwrap();
        }
        let first = setup.watcher().unwrap();
        let a = first.watch(&setup.at("open/a")).unwrap();
        first.watch(&setup.at("open/b")).unwrap();
        let refused = first.watch(&setup.at("open/c")).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::StorageFull);
        first.unwatch(a);
        first.watch(&setup.at("open/c")).unwrap();
        fs::write(setup.at("open/c/name"), "1").unwrap();
        fs::write(setup.at("open/a/other"), "1").unwrap();
        assert!(names(&first).iter().all(|name| name == "name"));
        let raw = RawClient::connect(&setup);
        for name in ["open/a", "open/b", "open/c"] {
            raw.watch(File::open(setup.at(name)).unwrap());
        }
        assert_eq!(raw.settle(), None);
        drop(raw);
        // The place of a connection is free when its thread has ended.
        let second = transect_testkit::wait_for("a second connection", || setup.watcher().ok());
        assert!(setup.watcher().is_err(), "two of this user");
        let _other = as_nobody(|| setup.watcher().unwrap());
        assert!(as_nobody(|| setup.watcher().is_err()), "three in all");
        drop((first, second));
    });
}

#[test]
fn helper_closes_descriptors_that_it_does_not_expect() {
    let test = "helper_closes_descriptors_that_it_does_not_expect";
    let Some(setup) = Setup::new(test, HelperLimits::default()) else { return };
    setup.run(|| {
        let open = File::open(setup.at("open")).unwrap();
        for (letter, count, is_refused) in [(b'w', 1, false), (b'w', 8, false), (b's', 8, true)] {
            let raw = RawClient::connect(&setup);
            let (read, write) = rustix::pipe::pipe().unwrap();
            let mut all = vec![write.as_fd(); count];
            if letter == b'w' {
                all.insert(0, open.as_fd());
            }
            send_all(&raw.control, letter, &all);
            drop(write);
            assert_eq!(raw.settle().is_none(), is_refused, "{count}");
            // This waits as long as a process has the other end.
            let rest = transect_testkit::within("the end of the pipe", move || {
                File::from(read).read_to_end(&mut Vec::new()).unwrap()
            });
            assert_eq!(rest, 0);
        }
    });
}

#[test]
fn helper_slow_client_loses_notifications_and_delays_no_other() {
    let test = "helper_slow_client_loses_notifications_and_delays_no_other";
    let Some(setup) = Setup::new(test, HelperLimits::default()) else { return };
    setup.run(|| {
        let (slow, other) = (setup.watcher().unwrap(), setup.watcher().unwrap());
        slow.watch(&setup.at("open")).unwrap();
        other.watch(&setup.at("hidden")).unwrap();
        for number in 0..40_000 {
            let path = setup.at("open").join(number.to_string());
            File::create(&path).unwrap();
            fs::remove_file(&path).unwrap();
        }
        fs::write(setup.at("hidden/name"), "1").unwrap();
        assert!(names(&other).iter().any(|name| name == "name"));
        // What the sockets hold comes before the loss.
        let mut is_lost = false;
        transect_testkit::wait_until("the loss", || {
            slow.read(&mut |notification| is_lost |= notification == Notification::Lost);
            is_lost
        });
    });
}

#[test]
fn helper_does_not_keep_a_file_system_mounted() {
    let test = "helper_does_not_keep_a_file_system_mounted";
    let Some(mut setup) = Setup::new(test, HelperLimits::default()) else { return };
    let mount = setup.mount.take();
    setup.run(|| {
        let watcher = setup.watcher().unwrap();
        watcher.watch(&setup.at("open")).unwrap();
        assert!(names(&watcher).is_empty());
        // Not lazily: this fails if a file is open.
        rustix::mount::unmount(setup.at(""), rustix::mount::UnmountFlags::empty()).unwrap();
        std::mem::forget(mount);
        assert!(watcher.wait());
        let mut is_lost = false;
        watcher.read(&mut |notification| is_lost |= notification == Notification::Lost);
        assert!(is_lost);
        assert!(watcher.watch(&setup.at("")).is_err());
    });
}
