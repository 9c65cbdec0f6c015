//! A root directory that is not a mount point: the mount table has no entry for what is below it. And no `/proc`.

use transect_testkit::loudly_skip;

use crate::harness::TestEnv;

/// Makes a root directory with the program, and runs it there: first without `/proc`, then with it.
const SCRIPT: &str = r#"
mkdir -p root/bin root/proc root/data/a && echo text > root/data/a/file && cp "$TRANSECT" root/bin/transect || exit 9
for library in $(ldd "$TRANSECT" | grep -o '/[^ ]*'); do
    mkdir -p "root${library%/*}" && cp -L "$library" "root$library" || exit 9
done
all() {
    for command in 'doctor /data' 'scan -x /data' 'scan -x /' 'list /data'; do
        echo "== $command"; chroot root /bin/transect $command || echo "exit code $?"
    done
}
all
mount -t proc proc root/proc || exit 9
all
"#;

#[test]
fn chroot_without_mount_entry_and_proc_doctor_and_scan_complete() {
    let test = "chroot_without_mount_entry_and_proc_doctor_and_scan_complete";
    let env = TestEnv::new();
    // In a chroot whose root is no mount point, nothing can be unshared.
    let can_unshare = || env.sh("unshare --mount true").code == Some(0);
    if !env.is_root() || !env.has("ldd") || !can_unshare() {
        return loudly_skip(test, "it needs root, ldd, and a root that is a mount point");
    }
    env.text("script", SCRIPT);
    // The mount ends with the namespace.
    let output = env.sh("unshare --mount sh script").exits(0).quiet().stdout_text();
    assert_eq!(output.matches("exit code").count(), 0, "{output}");
    let (unknown, outside) = output.split_at(output.rfind("== doctor").unwrap_or(0));
    let line = |text: &str| format!("  mounted at  {text}\n");
    assert!(
        unknown.contains(&line("unknown: the mount table in /proc cannot be read")),
        "{output}"
    );
    assert!(outside.contains(&line("outside the root directory of this process")), "{output}");
    for part in [unknown, outside] {
        assert!(part.contains("  kind        "), "{output}");
        assert!(part.contains("1 file, 2 directories"), "{output}");
        assert_eq!(part.matches("  state       complete").count(), 2, "{output}");
        assert!(part.contains("\n/data/a/file\n"), "{output}");
    }
    assert!(outside.contains("mount boundary: 1"), "{output}");
}
