//! Git's question what changed in a working tree: what its hook `fsmonitor` prints, and the same on the socket at which git
//! expects its own daemon (`core.fsmonitor=true`), as `docs/LIVE.md` describes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use transect::{FieldMask, FileType};
use transect_live::{Change, ChangeKind, ChangesSince, Cursor};
use transect_sys::file::query_attributes;
use transect_sys::name_from_bytes;

use crate::error::Error;
use crate::open_connections::OpenConnection;
use crate::protocol::ProtocolError;
use crate::service::Service;

/// The name of the socket in the git directory.
const SOCKET: &str = "fsmonitor--daemon.ipc";

/// Stands for all paths.
const EVERYTHING: &[u8] = b"/\0";

/// The token of an answer without a cursor.
const NO_TOKEN: &[u8] = b"transect\0";

/// Git's limit of a packet line, with its length.
const MAX_LINE: usize = 65_520;

/// A token is shorter.
const MAX_REQUEST: usize = 64 << 10;

/// Bytes of the length of a packet line: hexadecimal digits, which count themselves.
const LENGTH: usize = 4;

/// Ends a message.
const FLUSH: &[u8] = b"0000";

/// Returns the answer for the working tree `top` in the followed tree `root`: a token, and the paths that changed since the last
/// one, each ended with NUL (githooks(5), "fsmonitor-watchman"). A directory ends with a slash and stands for all below it; a
/// slash alone for everything, also without `changes`.
pub fn answer<'c>(
    top: &Path,
    root: &Path,
    cursor: Cursor,
    changes: Option<impl Iterator<Item = &'c Change>>,
) -> Vec<u8> {
    let mut out = format!("{cursor}\0").into_bytes();
    let start = out.len();
    let mut is_known = !has_mount(top, root);
    match changes {
        Some(mut changes) if is_known => {
            is_known = changes.all(|change| append_paths(&mut out, change, top));
        }
        _ => is_known = false,
    }
    if !is_known {
        // Git looks for it at the beginning only.
        out.truncate(start);
        out.extend_from_slice(EVERYTHING);
    }
    out
}

/// Appends the paths of a change. Returns false if everything in the working tree may be another.
fn append_paths(out: &mut Vec<u8>, change: &Change, top: &Path) -> bool {
    for path in [Some(&change.path), change.from.as_ref()].into_iter().flatten() {
        // Of a directory above that was renamed, only its path is known.
        if top.starts_with(path) && change.kind != ChangeKind::Modified {
            return false;
        }
        let Ok(below) = path.strip_prefix(top) else { continue };
        if below.as_os_str().is_empty() || below.starts_with(".git") {
            continue;
        }
        out.extend_from_slice(below.as_os_str().as_encoded_bytes());
        let is_whole = change.file_type.is_dir() && change.kind != ChangeKind::Modified;
        out.extend_from_slice(if is_whole { b"/\0" } else { b"\0" });
    }
    true
}

/// Returns whether a part of the working tree is on another file system than the followed tree, which lacks it then.
fn has_mount(top: &Path, root: &Path) -> bool {
    let mounts = transect_sys::host::mount_points().unwrap_or_default();
    let hides = |mount: &PathBuf| mount != root && mount.starts_with(root);
    mounts.iter().any(|mount| hides(mount) && (mount.starts_with(top) || top.starts_with(mount)))
}

/// Returns the socket at which git expects its daemon for a working tree.
///
/// # Errors
/// The directory is not the top of a working tree.
pub(crate) fn socket_of(top: &Path) -> Result<PathBuf, Error> {
    let dot_git = top.join(".git");
    let failed = |error| Error::Path("answer git in", top.to_owned(), error);
    let directory = match query_attributes(&dot_git, FieldMask::empty(), true) {
        Ok(found) if found.file_type() == FileType::File => {
            linked_directory(&dot_git).map_err(|error| Error::Path("read", dot_git, error))?
        }
        _ => Some(dot_git),
    };
    let directory = directory.map(|directory| top.join(directory));
    let is_one =
        |it: &PathBuf| query_attributes(&it.join("HEAD"), FieldMask::empty(), false).is_ok();
    let directory = directory.filter(is_one);
    let none = || failed(io::Error::other("it is not the top of a working tree"));
    Ok(directory.ok_or_else(none)?.join(SOCKET))
}

/// Returns the git directory that the file `.git` of a submodule or a linked working tree names.
fn linked_directory(file: &Path) -> io::Result<Option<PathBuf>> {
    let mut text = Vec::new();
    File::open(file)?.take(MAX_REQUEST as u64).read_to_end(&mut text)?;
    let path = text.strip_prefix(b"gitdir: ").map(<[u8]>::trim_ascii_end);
    Ok(path.map(|path| name_from_bytes(path.to_vec()).into()))
}

/// Answers the only request of a connection about a working tree. Returns the number of requests.
///
/// # Errors
/// The connection broke off, or the request is malformed: the reason. It was not answered, so git looks itself.
pub(crate) fn serve(service: &Service, open: &OpenConnection, top: &Path) -> Result<u64, String> {
    let failed = |error: io::Error| transect::reason(&error);
    let (mut input, mut block) = (Vec::new(), [0; 4096]);
    let request = loop {
        if let Some(request) = take_request(&input).map_err(|error| error.to_string())? {
            break request;
        }
        match (&open.stream).read(&mut block) {
            // `git fsmonitor--daemon status` only connects.
            Ok(0) if input.is_empty() => return Ok(0),
            Ok(0) => return Err("it was gone before it was answered".to_owned()),
            Ok(read) => input.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    };
    open.end_wait();
    service.count_request(1);
    if request == b"quit" {
        return Err("git cannot end the service".to_owned());
    }
    open.send(&message(&answer_to(service, top, &request))).map_err(failed)?;
    Ok(1)
}

/// Answers with everything if the token is not a cursor, as the first one of git and `flush`, or the tree was not read yet.
fn answer_to(service: &Service, top: &Path, token: &[u8]) -> Vec<u8> {
    let cursor = str::from_utf8(token).ok().and_then(|token| token.parse().ok());
    let tree = service.trees.with(top).ok();
    let found = tree.and_then(|tree| Some((tree.changes_since(cursor).ok()?, tree)));
    let Some((since, tree)) = found else { return [NO_TOKEN, EVERYTHING].concat() };
    let ChangesSince { changes, is_root_gone, cursor: now, .. } = since;
    let changes = changes.filter(|_| cursor.is_some() && !is_root_gone);
    answer(top, tree.root(), now, changes.as_ref().map(|it| it.iter().map(|change| &**change)))
}

/// Returns the content of the packet lines up to the end of the message; `None` if more of it is still to come.
fn take_request(input: &[u8]) -> Result<Option<Vec<u8>>, ProtocolError> {
    if input.len() > MAX_REQUEST {
        return Err(ProtocolError("the request is too long"));
    }
    let (mut request, mut rest) = (Vec::new(), input);
    while let Some((length, after)) = rest.split_first_chunk::<LENGTH>() {
        let is_hexadecimal = length.iter().all(u8::is_ascii_hexdigit);
        let length = str::from_utf8(length).ok().filter(|_| is_hexadecimal);
        match length.and_then(|digits| usize::from_str_radix(digits, 16).ok()) {
            Some(0) => return Ok(Some(request)),
            Some(length @ LENGTH..=MAX_LINE) => {
                let Some((line, after)) = after.split_at_checked(length - LENGTH) else { break };
                request.extend_from_slice(line);
                rest = after;
            }
            _ => return Err(ProtocolError("invalid length of a packet line")),
        }
    }
    Ok(None)
}

/// Returns the packet lines with this content.
fn message(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in content.chunks(MAX_LINE - LENGTH) {
        out.extend_from_slice(format!("{:04x}", line.len() + LENGTH).as_bytes());
        out.extend_from_slice(line);
    }
    out.extend_from_slice(FLUSH);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn request_malformed_refused() {
        for bad in [&b"0003"[..], b"0001", b"fff1", b"-001", b"+004", b"000x", b"0006abGET / "] {
            assert!(take_request(bad).is_err(), "{bad:?}");
        }
        assert!(take_request(&b"0006ab".repeat(20_000)).is_err(), "it does not end");
        for part in [&b""[..], b"000", b"0006a", b"0006ab", b"0006ab000"] {
            assert_eq!(take_request(part), Ok(None), "{part:?}");
        }
        assert_eq!(take_request(b"0006ab0005c0000"), Ok(Some(b"abc".to_vec())));
    }

    proptest! {
        #[test]
        fn message_round_trip(content in prop::collection::vec(any::<u8>(), 0..40_000)) {
            let message = message(&content);
            prop_assert_eq!(take_request(&message), Ok(Some(content)));
        }

        #[test]
        fn parser_random_bytes_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            let _ = take_request(&bytes);
        }
    }

    #[test]
    fn message_long_split_into_lines() {
        let message = message(&vec![b'a'; MAX_LINE]);
        assert!(message.starts_with(b"fff0aaa"));
        assert!(message.ends_with(b"0008aaaa0000"));
    }

    fn answer_of(changes: &[Change]) -> String {
        let cursor = Cursor { instance: 1, updates: 2 };
        let answer = answer(Path::new("/t/top"), Path::new("/t"), cursor, Some(changes.iter()));
        String::from_utf8(answer).unwrap().replace('\0', " ")
    }

    fn change(kind: ChangeKind, path: &str, from: Option<&str>, file_type: FileType) -> Change {
        Change::new(kind, path.into(), from.map(PathBuf::from), file_type)
    }

    #[test]
    fn answer_paths_below_top_directories_with_slash() {
        let changes = [
            change(ChangeKind::Modified, "/t/top/a", None, FileType::File),
            change(ChangeKind::Modified, "/t/top/d", None, FileType::Directory),
            change(ChangeKind::Added, "/t/top/n", None, FileType::Directory),
            change(ChangeKind::Renamed, "/t/top/y", Some("/t/top/x"), FileType::Directory),
            change(ChangeKind::Renamed, "/t/top/z", Some("/t/z"), FileType::Directory),
            change(ChangeKind::Modified, "/t/top/.git/index", None, FileType::File),
            change(ChangeKind::Modified, "/t/top/.gitignore", None, FileType::File),
            change(ChangeKind::Modified, "/t/top", None, FileType::Directory),
            change(ChangeKind::Removed, "/t/topmost", None, FileType::File),
        ];
        let expected = "0000000000000001:2 a d n/ y/ x/ z/ .gitignore ";
        assert_eq!(answer_of(&changes), expected);
    }

    /// Regression: after other paths, the slash had no effect.
    #[test]
    fn answer_everything_if_a_directory_above_was_renamed() {
        let changes = [
            change(ChangeKind::Modified, "/t/top/a", None, FileType::File),
            change(ChangeKind::Renamed, "/t/top", Some("/t/other"), FileType::Directory),
            change(ChangeKind::Modified, "/t/top/b", None, FileType::File),
        ];
        assert_eq!(answer_of(&changes), "0000000000000001:2 / ");
    }

    #[test]
    fn socket_in_git_directory_also_of_linked_working_tree() {
        let temp = TempDir::new();
        let fails = |name: &str| socket_of(&temp.join(name)).unwrap_err().to_string();
        let write = |name: &str, text: &str| std::fs::write(temp.join(name), text).unwrap();
        for name in ["main", "main/.git", "linked", "linked/git"] {
            std::fs::create_dir(temp.join(name)).unwrap();
        }
        assert!(fails("main").ends_with("main': it is not the top of a working tree"));
        assert!(fails("missing").ends_with("it is not the top of a working tree"));
        write("main/.git/HEAD", "");
        assert_eq!(socket_of(&temp.join("main")).unwrap(), temp.join("main/.git").join(SOCKET));
        write("linked/git/HEAD", "");
        for (text, is_one) in [("gitdir: git\n", true), ("gitdir: gone\n", false), ("git", false)] {
            write("linked/.git", text);
            let socket = socket_of(&temp.join("linked")).ok();
            assert_eq!(socket, is_one.then(|| temp.join("linked/git").join(SOCKET)), "{text}");
        }
        let directory = temp.join("main/.git");
        write("linked/.git", &format!("gitdir: {}\n", directory.display()));
        assert_eq!(socket_of(&temp.join("linked")).unwrap(), directory.join(SOCKET));
    }
}
