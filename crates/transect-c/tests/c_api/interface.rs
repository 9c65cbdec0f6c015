//! The header and the library agree: symbols, constants, layouts of structs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::mem::{offset_of, size_of};
use std::process::Command;

use transect::{FieldMask, FileType};
use transect_c::attributes::CAttributes;
use transect_c::cache::{Counts, Lookup, level};
use transect_c::control::ProgressCounts;
use transect_c::failure::{CallError, status};
use transect_c::filter::Candidate;
use transect_c::search::Found;
use transect_c::snapshot::CChange;
use transect_c::table::{NO_ROW, Totals};
use transect_c::walk::{Entry, WalkCounts, flow};
use transect_c::watch::WatchCounts;
use transect_snapshot::ChangeKind;
use transect_testkit::TempDir;

use crate::kit::{compiler, has, header, library, repository, run, source};

#[test]
fn header_compiles_without_warnings_as_c_and_cpp() {
    let test = "header_compiles_without_warnings_as_c_and_cpp";
    if !has(test, "cc") || !has(test, "g++") {
        return;
    }
    let temp = TempDir::new();
    for (program, standard, file) in [
        ("cc", "-std=c99", "alone.c"),
        ("g++", "-std=c++11", "alone.cpp"),
        ("g++", "-std=c++20", "alone.cpp"),
    ] {
        let file = temp.join(file);
        // Twice, and with nothing else.
        std::fs::write(&file, "#include <transect.h>\n#include <transect.h>\n").unwrap();
        let mut command = compiler(program, standard, library());
        run(command
            .args(["-Wstrict-prototypes", "-Wconversion"].iter().skip((program == "g++").into()))
            .arg("-fsyntax-only")
            .arg(file));
    }
}

/// Returns the words of the header that begin with `prefix` and end before `end`.
fn words(prefix: &str, end: &str) -> BTreeSet<String> {
    let header = header();
    let words = header.match_indices(prefix).filter_map(|(at, _)| {
        let rest = &header[at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        rest[length..].starts_with(end).then(|| rest[..length].to_owned())
    });
    words.collect()
}

#[test]
fn exported_symbols_are_those_of_the_header() {
    if !has("exported_symbols_are_those_of_the_header", "nm") {
        return;
    }
    let nm = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(library().join("lib/libtransect.so")));
    let text = String::from_utf8(nm.stdout).unwrap();
    let exported: BTreeSet<String> =
        text.lines().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect();
    let declared: BTreeSet<String> = header()
        .lines()
        .filter(|line| line.starts_with("TRANSECT_API "))
        .map(|line| {
            let name = line.split('(').next().unwrap();
            name.rsplit([' ', '*']).next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(exported, declared);
    assert!(declared.len() > 30, "{declared:?}");
    let check = std::fs::read_to_string(source("tests/c_api/programs/check.c")).unwrap();
    let untested: Vec<_> =
        declared.iter().filter(|name| !check.contains(&format!("{name}("))).collect();
    assert!(untested.is_empty(), "check.c does not call {untested:?}");
}

#[test]
fn library_is_loaded_by_name_with_interface_version() {
    if !has("library_is_loaded_by_name_with_interface_version", "readelf") {
        return;
    }
    let readelf = run(Command::new("readelf").arg("-d").arg(library().join("lib/libtransect.so")));
    let text = String::from_utf8(readelf.stdout).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let (interface, _) = version.rsplit_once('.').unwrap();
    assert!(text.contains(&format!("soname: [libtransect.so.{interface}]")), "{text}");
    assert!(library().join(format!("lib/libtransect.so.{interface}")).exists());
    assert!(header().contains(&format!("#define TRANSECT_VERSION \"{version}\"\n")));
    let described = std::fs::read_to_string(library().join("lib/pkgconfig/transect.pc")).unwrap();
    assert!(described.contains(&format!("Version: {version}\n")), "{described}");
}

/// Adds lines to a program that prints sizes and offsets of a struct, and to what it has to print.
macro_rules! layout {
    ($source:ident, $expected:ident, $c:literal, $rust:ty { $($field:ident),* }) => {
        writeln!($source, r#"printf("%s %zu\n", "{0}", sizeof({0}));"#, $c).unwrap();
        writeln!($expected, "{} {}", $c, size_of::<$rust>()).unwrap();
        $({
            // `type` is a keyword of Rust.
            let field = stringify!($field).trim_end_matches('_');
            writeln!($source, r#"printf("%s.%s %zu\n", "{0}", "{1}", offsetof({0}, {1}));"#, $c, field).unwrap();
            writeln!($expected, "{}.{} {}", $c, field, offset_of!($rust, $field)).unwrap();
        })*
    };
}

#[test]
fn layouts_and_constants_are_those_of_the_header() {
    if !has("layouts_and_constants_are_those_of_the_header", "cc") {
        return;
    }
    let (mut lines, mut expected) = (String::new(), String::new());
    layout!(lines, expected, "transect_error", CallError { status, os_error, message });
    layout!(
        lines,
        expected,
        "transect_attributes",
        CAttributes {
            type_,
            known,
            size,
            allocated,
            inode,
            device,
            mtime,
            ctime,
            atime,
            btime,
            mode,
            nlink,
            uid,
            gid,
            attribute_bits,
            reparse_tag,
            reserved
        }
    );
    layout!(lines, expected, "transect_entry", Entry<'_> {
        directory, name, name_length, depth, followed, attributes
    });
    layout!(
        lines,
        expected,
        "transect_counts",
        WalkCounts { entries, errors, vanished, skipped, stopped, compared, reserved }
    );
    layout!(
        lines,
        expected,
        "transect_totals",
        Totals {
            files,
            directories,
            others,
            apparent,
            disk_usage,
            exclusive,
            errors,
            newest,
            unread,
            reserved
        }
    );
    layout!(lines, expected, "transect_lookup", Lookup { status, os_error, attributes });
    layout!(
        lines,
        expected,
        "transect_cache_counts",
        Counts {
            hits,
            misses,
            listings,
            queries,
            checks,
            invalidations,
            evictions,
            directories,
            names,
            memory,
            reserved
        }
    );
    layout!(
        lines,
        expected,
        "transect_progress",
        ProgressCounts { entries, directories, bytes, errors, reserved }
    );
    layout!(
        lines,
        expected,
        "transect_watch_counts",
        WatchCounts { entries, unwatched, errors, gaps, reserved }
    );
    layout!(lines, expected, "transect_candidate", Candidate<'_> {
        entry, name, name_length, depth, type_
    });
    layout!(
        lines,
        expected,
        "transect_change",
        CChange { kind, consequence, path, path_length, from, from_length }
    );
    layout!(lines, expected, "transect_found", Found { index, path_length, attributes });
    // Every field has a line of its own in the header, and every struct ends with its name.
    let header = header();
    let structs = header.split("typedef struct transect_").skip(1).filter(|text| {
        text.split([';', '{']).next().is_some_and(|start| text[start.len()..].starts_with('{'))
    });
    let fields = structs.map(|text| {
        let body = text[..text.find("\n}").unwrap()].lines().skip(1);
        body.filter(|line| line.ends_with(';')).count() + 1
    });
    assert_eq!(
        fields.sum::<usize>(),
        expected.lines().count(),
        "a field is not compared:\n{expected}"
    );

    let mut constants: Vec<(String, i64)> = Vec::new();
    let mut add = |prefix: &str, name: &str, value: i64| {
        constants.push((format!("TRANSECT_{prefix}{}", name.to_uppercase()), value));
    };
    for (value, word) in status::ALL {
        add("", word.to_str().unwrap(), (*value).into());
    }
    for of in FileType::ALL {
        add("TYPE_", of.as_str(), *of as i64);
    }
    for of in ChangeKind::ALL {
        add("CHANGE_", of.as_str(), *of as i64);
    }
    for (name, field) in FieldMask::all().iter_names().filter(|(name, _)| *name != "SHORT_NAME") {
        let name = if name == "ATTRIBUTES" { "ATTRIBUTE_BITS" } else { name };
        add("FIELD_", name, field.bits().into());
    }
    macro_rules! constants {
        ($prefix:literal, $module:ident: $($name:ident),*) => {
            $(add($prefix, stringify!($name), $module::$name.into());)*
        };
    }
    constants!("", flow: CONTINUE, SKIP, STOP);
    constants!("LEVEL_", level: FROZEN, CHECKED, VERIFIED);
    let names: BTreeSet<String> = constants.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, words("TRANSECT_", " = "));
    constants.push(("TRANSECT_NO_ROW".to_owned(), NO_ROW.into()));
    for (name, value) in constants {
        writeln!(lines, r#"printf("%s %lld\n", "{name}", (long long){name});"#).unwrap();
        writeln!(expected, "{name} {value}").unwrap();
    }

    let temp = TempDir::new();
    let (file, built) = (temp.join("layouts.c"), temp.join("layouts"));
    let program = format!(
        "#include <stdio.h>\n#include <transect.h>\nint main(void) {{\n{lines}return 0;\n}}\n"
    );
    std::fs::write(&file, program).unwrap();
    run(compiler("cc", "-std=c99", library()).arg("-o").arg(&built).arg(file));
    let output = run(&mut Command::new(built));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn examples_of_the_document_compile() {
    if !has("examples_of_the_document_compile", "cc") {
        return;
    }
    let text = std::fs::read_to_string(repository().join("docs/C.md")).unwrap();
    let examples: Vec<&str> = text.split("\n```c\n").skip(1).collect();
    assert_eq!(examples.len(), 8);
    let temp = TempDir::new();
    let file = temp.join("examples.c");
    let mut source = "#include <stdio.h>\n#include <string.h>\n#include <transect.h>\n".to_owned();
    for example in examples {
        source += example.split("\n```\n").next().unwrap();
        source.push('\n');
    }
    std::fs::write(&file, source).unwrap();
    let mut command = compiler("cc", "-std=c99", library());
    run(command.args(["-Wno-unused-function", "-fsyntax-only"]).arg(file));
}
