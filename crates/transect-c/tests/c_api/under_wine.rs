//! The same programs for Windows, under Wine.

use transect_testkit::{CROSS_COMPILER, TempDir, WindowsProgram, on_drive};

use crate::kit::{compiler, has, lay_out, project, run, source, tree};

const CPP_COMPILER: &str = "x86_64-w64-mingw32-g++";

#[test]
fn wine_programs_in_c_and_cpp() {
    let test = "wine_programs_in_c_and_cpp";
    let Some(exe) = WindowsProgram::find(test) else { return };
    if !has(test, CROSS_COMPILER) || !has(test, CPP_COMPILER) {
        return;
    }
    // Cargo builds it with the tests for Windows.
    let library = lay_out("windows", &exe.path().parent().unwrap().join("deps"));
    let folder = library.join("bin");
    let build = |program: &str, standard: &str, from: &str, name: &str| {
        let built = folder.join(name);
        let mut command = compiler(program, standard, library.path());
        command.arg("-o").arg(&built).arg(source(from));
        if program == CPP_COMPILER {
            // Wine does not find the libraries of the compiler.
            command.args(["-static-libgcc", "-static-libstdc++"]);
        }
        run(command.arg("-L").arg(library.join("lib")).arg("-ltransect"));
        exe.other(built)
    };
    let temp = TempDir::new();

    let check = build(CROSS_COMPILER, "-std=c99", "tests/c_api/programs/check.c", "check.exe");
    let said = check.run([on_drive(&tree(temp.path()))]);
    assert_eq!(String::from_utf8_lossy(&said), "checked\r\n");

    let usage = build(CROSS_COMPILER, "-std=c99", "samples/usage.c", "usage.exe");
    let said = String::from_utf8(usage.run([on_drive(&temp.join("tree"))])).unwrap();
    let ends: Vec<&str> =
        said.lines().map(|line| line.rsplit(['/', '\\']).next().unwrap()).collect();
    assert_eq!(ends.len(), 4, "{said}");
    assert!(ends.contains(&"a") && ends.contains(&".hidden") && ends[3] == "tree", "{said}");

    let (project, system, lines) = project(temp.path());
    let from = "samples/resolve_includes.cpp";
    let resolve = build(CPP_COMPILER, "-std=c++17", from, "resolve.exe");
    let args = [project.clone(), project.join("include"), system];
    let said = String::from_utf8(resolve.run(args.map(|path| on_drive(&path)))).unwrap();
    let found: Vec<&str> = said.lines().collect();
    let lines: Vec<String> = lines.iter().map(|line| spelled(line)).collect();
    assert_eq!(found[..found.len() - 1], lines, "{said}");
    assert!(found[found.len() - 1].starts_with("3 sources, 4 includes, 1 not found; "), "{said}");
}

/// Returns a line of the sample as Windows prints its paths. Names in the sources keep their slashes.
fn spelled(line: &str) -> String {
    let (source, rest) = line.split_once(": ").unwrap();
    let (name, path) = rest.split_once(" -> ").unwrap();
    let path = match path.strip_suffix(name) {
        Some(folder) => format!("{}{name}", on_drive(folder.as_ref())),
        None => path.to_owned(),
    };
    format!("{}: {name} -> {path}", on_drive(source.as_ref()))
}
