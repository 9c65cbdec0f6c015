//! The parser of `/proc/self/mountinfo`.
//!
//! With arbitrary bytes, it never panics, and returns at most one mount per line, none longer than
//! its line. From a line written as the kernel writes it, it returns the mount point, whatever
//! bytes that contains.

#![no_main]

use std::os::unix::ffi::OsStrExt;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use transect_sys::linux::parse_mountinfo;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Bytes(&'a [u8]),
    Points(Vec<&'a [u8]>),
}

fuzz_target!(|input: Input<'_>| match input {
    Input::Bytes(content) => any_bytes(content),
    Input::Points(points) => round_trip(&points),
});

fn any_bytes(content: &[u8]) {
    let lines = content.split(|&byte| byte == b'\n');
    let mounts = parse_mountinfo(content);
    assert!(mounts.len() <= lines.clone().count());
    let longest = lines.map(<[u8]>::len).max().unwrap_or_default();
    for mount in mounts {
        assert!(mount.point.as_os_str().len() <= longest);
    }
}

fn round_trip(points: &[&[u8]]) {
    let mut content = Vec::new();
    for point in points {
        content.extend_from_slice(b"36 35 98:0 / ");
        content.extend(escape(point));
        content.extend_from_slice(b" rw,noatime master:1 - ext4 /dev/root rw\n");
    }
    let mounts = parse_mountinfo(&content);
    assert_eq!(mounts.len(), points.len());
    for (mount, point) in mounts.iter().zip(points) {
        assert_eq!(mount.point.as_os_str().as_bytes(), *point);
        assert_eq!(mount.file_system, "ext4");
    }
}

/// Writes a path as the kernel does (`mangle_path`): space, tab, newline and backslash in octal.
fn escape(path: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(path.len());
    for &byte in path {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => escaped.extend(format!("\\{byte:03o}").bytes()),
            _ => escaped.push(byte),
        }
    }
    escaped
}
