//! The system calls that touch files: the file of each, and its possible faults.

use nix::errno::Errno;

use Fault::{Error, Short, Torn};
use Subject::{At, Descriptor, Mapping, Path};

/// A fault in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call reports this error and does nothing; `close` reports it and still closes.
    Error(Errno),
    /// The call does less than requested, and reports how much.
    Short,
    /// The same, but the next write fails with `ENOSPC`, as on the last block of a device.
    Torn,
}

impl Fault {
    /// Returns a short name, such as `EIO`.
    pub fn name(self) -> String {
        match self {
            Error(errno) => format!("{errno:?}"),
            Short => "short".to_owned(),
            Torn => "short, then ENOSPC".to_owned(),
        }
    }
}

/// A call that touched a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the call.
    pub name: &'static str,
    /// How many calls of this name preceded it.
    pub nth: usize,
    /// The path of the file, or the target of the descriptor.
    pub subject: String,
    /// The faults that this call can report.
    pub faults: Vec<Fault>,
    /// Whether the caller must call again after an interruption by a signal.
    pub is_restartable: bool,
}

/// Where to inject a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPoint {
    /// The name of the call.
    pub name: &'static str,
    /// How many calls of this name succeed before.
    pub nth: usize,
    /// What the call reports.
    pub fault: Fault,
    /// Inject the fault into every later call that can report it, too: a full or broken device.
    pub persists: bool,
}

/// The arguments of a call that identify its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The number of the argument that is a path.
    Path(usize),
    /// A directory's descriptor, and a path relative to it.
    At(usize, usize),
    /// The number of the argument that is a descriptor.
    Descriptor(usize),
    /// The same, but the descriptor may be missing.
    Mapping(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shorten {
    Not,
    /// The argument with the number of bytes.
    Length(usize),
    /// The argument that points to buffers with their lengths; the next argument is their number.
    Vector(usize),
    /// The argument with the size of a buffer for records, of which one must fit.
    Records(usize),
}

/// A system call that touches files.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallKind {
    pub(super) name: &'static str,
    pub(super) subject: Subject,
    pub(super) shorten: Shorten,
    errors: &'static [Errno],
    /// A signal can interrupt it, by its manual page or by the kernel on some file system, so the
    /// caller must call again.
    pub(super) is_restartable: bool,
}

impl CallKind {
    pub(super) fn faults(&self) -> impl Iterator<Item = Fault> {
        let short = (self.shorten != Shorten::Not).then_some(Short);
        let torn = self.writes().then_some(Torn);
        self.errors.iter().copied().map(Error).chain(short).chain(torn)
    }

    pub(super) fn writes(&self) -> bool {
        self.shorten != Shorten::Not && self.errors.contains(&Errno::ENOSPC)
    }

    pub(super) fn closes(&self) -> bool {
        self.name == "close"
    }
}

const READ: &[Errno] = &[Errno::EINTR, Errno::EIO, Errno::ESTALE];
const ASK: &[Errno] = READ;
const OPEN: &[Errno] = &[Errno::EINTR, Errno::EIO, Errno::EMFILE, Errno::ESTALE];
const CREATE: &[Errno] =
    &[Errno::EINTR, Errno::EIO, Errno::EMFILE, Errno::ESTALE, Errno::ENOSPC, Errno::EDQUOT];
const WRITE: &[Errno] = &[Errno::EINTR, Errno::EIO, Errno::ENOSPC, Errno::EDQUOT, Errno::ESTALE];
const NAMES: &[Errno] = WRITE;
const REMOVE: &[Errno] = &[Errno::EINTR, Errno::EIO, Errno::ESTALE];

/// Flags of `open`, as in `fcntl.h`.
const CREATES: u64 = 0o100;
const UNNAMED: u64 = 0o20_000_000;

/// Returns the kind of a call that touches files; `None` for others.
pub(super) fn kind_of_call(number: u64, arguments: &[u64; 6]) -> Option<CallKind> {
    let new = |name, subject, errors| CallKind {
        name,
        subject,
        errors,
        shorten: Shorten::Not,
        is_restartable: false,
    };
    let again = |kind: CallKind| CallKind { is_restartable: true, ..kind };
    let short = |kind: CallKind, shorten| CallKind { shorten, is_restartable: true, ..kind };
    let open = |name, subject, flags: u64| {
        let makes = flags & CREATES != 0 || flags & UNNAMED == UNNAMED;
        again(new(name, subject, if makes { CREATE } else { OPEN }))
    };
    Some(match number {
        0 => short(new("read", Descriptor(0), READ), Shorten::Length(2)),
        1 => short(new("write", Descriptor(0), WRITE), Shorten::Length(2)),
        2 => open("open", Path(0), arguments[1]),
        3 => new("close", Descriptor(0), &[Errno::EINTR, Errno::EIO, Errno::ENOSPC, Errno::EDQUOT]),
        4 => new("stat", Path(0), ASK),
        5 => new("fstat", Descriptor(0), ASK),
        6 => new("lstat", Path(0), ASK),
        8 => new("lseek", Descriptor(0), &[Errno::EIO]),
        9 => new("mmap", Mapping(4), &[Errno::ENOMEM]),
        17 => short(new("pread64", Descriptor(0), READ), Shorten::Length(2)),
        18 => short(new("pwrite64", Descriptor(0), WRITE), Shorten::Length(2)),
        19 => short(new("readv", Descriptor(0), READ), Shorten::Vector(1)),
        20 => short(new("writev", Descriptor(0), WRITE), Shorten::Vector(1)),
        21 => new("access", Path(0), ASK),
        40 => short(new("sendfile", Descriptor(0), WRITE), Shorten::Length(3)),
        72 => return kind_of_fcntl(arguments[1]),
        73 => again(new("flock", Descriptor(0), READ)),
        74 => again(new("fsync", Descriptor(0), WRITE)),
        75 => again(new("fdatasync", Descriptor(0), WRITE)),
        76 => again(new("truncate", Path(0), WRITE)),
        77 => again(new("ftruncate", Descriptor(0), WRITE)),
        82 => new("rename", Path(1), NAMES),
        83 => new("mkdir", Path(0), NAMES),
        84 => new("rmdir", Path(0), REMOVE),
        85 => again(new("creat", Path(0), CREATE)),
        86 => new("link", Path(1), NAMES),
        87 => new("unlink", Path(0), REMOVE),
        88 => new("symlink", Path(1), NAMES),
        89 => new("readlink", Path(0), ASK),
        90 => new("chmod", Path(0), WRITE),
        91 => new("fchmod", Descriptor(0), WRITE),
        92 => new("chown", Path(0), WRITE),
        93 => new("fchown", Descriptor(0), WRITE),
        // FICLONE: copies that share blocks.
        16 if arguments[1] as u32 == 0x4004_9409 => new("ioctl", Descriptor(0), WRITE),
        137 => again(new("statfs", Path(0), ASK)),
        138 => again(new("fstatfs", Descriptor(0), ASK)),
        188 => new("setxattr", Path(0), WRITE),
        189 => new("lsetxattr", Path(0), WRITE),
        190 => new("fsetxattr", Descriptor(0), WRITE),
        191 => new("getxattr", Path(0), ASK),
        192 => new("lgetxattr", Path(0), ASK),
        193 => new("fgetxattr", Descriptor(0), ASK),
        194 => new("listxattr", Path(0), ASK),
        195 => new("llistxattr", Path(0), ASK),
        196 => new("flistxattr", Descriptor(0), ASK),
        197 => new("removexattr", Path(0), WRITE),
        199 => new("fremovexattr", Descriptor(0), WRITE),
        // No file system lets a signal interrupt it, and the standard library relies on that.
        217 => CallKind {
            is_restartable: false,
            ..short(new("getdents64", Descriptor(0), READ), Shorten::Records(2))
        },
        221 => new("fadvise64", Descriptor(0), &[Errno::EIO]),
        26 => new("msync", Mapping(6), &[Errno::EIO]),
        254 => new("inotify_add_watch", Path(1), &[Errno::ENOSPC, Errno::EIO]),
        257 => open("openat", At(0, 1), arguments[2]),
        258 => new("mkdirat", At(0, 1), NAMES),
        262 => new("newfstatat", At(0, 1), ASK),
        263 => new("unlinkat", At(0, 1), REMOVE),
        264 => new("renameat", At(2, 3), NAMES),
        265 => new("linkat", At(2, 3), NAMES),
        266 => new("symlinkat", At(1, 2), NAMES),
        267 => new("readlinkat", At(0, 1), ASK),
        268 => new("fchmodat", At(0, 1), WRITE),
        280 => new("utimensat", At(0, 1), WRITE),
        285 => again(new("fallocate", Descriptor(0), WRITE)),
        295 | 327 => short(new("preadv", Descriptor(0), READ), Shorten::Vector(1)),
        296 | 328 => short(new("pwritev", Descriptor(0), WRITE), Shorten::Vector(1)),
        306 => new("syncfs", Descriptor(0), WRITE),
        316 => new("renameat2", At(2, 3), NAMES),
        326 => short(new("copy_file_range", Descriptor(2), WRITE), Shorten::Length(4)),
        332 => new("statx", At(0, 1), ASK),
        425 => new("io_uring_setup", Mapping(6), &[Errno::EMFILE, Errno::ENOMEM]),
        426 => again(new("io_uring_enter", Descriptor(0), &[Errno::EINTR, Errno::EAGAIN])),
        // The flags are in memory. This program never creates files with it.
        437 => open("openat2", At(0, 1), 0),
        439 => new("faccessat2", At(0, 1), ASK),
        _ => return None,
    })
}

/// Returns the kind of an `fcntl` that locks a file, duplicates a descriptor or changes its flags.
fn kind_of_fcntl(command: u64) -> Option<CallKind> {
    let (name, errors, is_restartable): (_, &'static [Errno], _) = match command {
        0 | 1030 => ("fcntl(F_DUPFD)", &[Errno::EMFILE], false),
        4 => ("fcntl(F_SETFL)", &[Errno::EIO], false),
        6 | 37 => ("fcntl(F_SETLK)", &[Errno::EIO], false),
        7 | 38 => ("fcntl(F_SETLKW)", &[Errno::EINTR, Errno::EIO], true),
        _ => return None,
    };
    Some(CallKind { name, subject: Descriptor(0), shorten: Shorten::Not, errors, is_restartable })
}
