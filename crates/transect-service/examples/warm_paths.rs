//! Measures the time of a known path: queried from the system, from a cache in the same process,
//! and from a service.
//!
//! ```text
//! cargo run --release -p transect-service --example warm_paths DIRECTORY [RUNS]
//! ```
//!
//! Looks up every path below DIRECTORY by its full path, on one thread. Prints nanoseconds per path
//! of each, the median of RUNS (9) that alternate, and the ratio to the system's time.
#![cfg_attr(
    target_os = "linux",
    expect(clippy::print_stdout, reason = "a program that prints what it measured")
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use transect::{Cancel, FieldMask};
    use transect_cache::{CacheOptions, Level};
    use transect_service::{Client, ServeOptions, Server, create_socket_dir};
    use transect_sys::file::query_attributes;

    const WANT: FieldMask = FieldMask::SIZE.union(FieldMask::MTIME).union(FieldMask::MODE);

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let mut args = std::env::args_os().skip(1);
        let root = PathBuf::from(args.next().ok_or("a directory is missing")?).canonicalize()?;
        let runs = args.next().and_then(|runs| runs.to_str()?.parse().ok()).unwrap_or(9);
        let mut paths = Vec::new();
        gather(&root, &mut paths)?;
        println!("{} paths", paths.len());

        let folder = std::env::temp_dir().join(format!("transect-warm-{}", std::process::id()));
        let socket = folder.join("socket");
        create_socket_dir(&socket)?;
        let mut rows = Vec::new();
        for level in [Level::Frozen, Level::Checked] {
            let server = Server::bind(&socket, CacheOptions::new(level))?;
            let cache = CacheOptions::new(level).want(WANT).open()?;
            let end = Cancel::new();
            std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
                let serving = scope.spawn(|| server.run(&ServeOptions::default(), &end, |_| {}));
                let measured = compare(&paths, &cache, &socket, runs);
                end.cancel();
                serving.join().expect("BUG: the server panicked")?;
                rows.push((level, measured?));
                Ok(())
            })?;
        }
        for (level, [system, cache, service]) in rows {
            let level = level.as_str();
            println!(
                "{level}: statx {system:.0} ns, cache {cache:.0} ns ({:.2} x), service {service:.0} ns ({:.2} x)",
                system / cache,
                system / service
            );
        }
        std::fs::remove_dir_all(&folder)?;
        Ok(())
    }

    /// Returns nanoseconds per path: of the system, a cache, a service.
    fn compare(
        paths: &[PathBuf],
        cache: &transect_cache::AttributeCache,
        socket: &Path,
        runs: usize,
    ) -> Result<[f64; 3], Box<dyn Error>> {
        let mut client = Client::connect(socket)?;
        let mut samples = [const { Vec::new() }; 3];
        // The first run fills the caches.
        for run in 0..=runs {
            let times = [
                timed(|| {
                    Ok(paths
                        .iter()
                        .filter(|path| query_attributes(path, WANT, false).is_ok())
                        .count())
                })?,
                timed(|| Ok(cache.get_many_links(paths).iter().filter(|it| it.is_ok()).count()))?,
                timed(|| {
                    let answers = client.attributes(paths, WANT, false)?;
                    Ok(answers.iter().filter(|answer| answer.is_ok()).count())
                })?,
            ];
            let found = times.map(|(found, _)| found);
            if found != [found[0]; 3] {
                return Err(format!("not the same was found: {found:?}").into());
            }
            if run > 0 {
                samples.iter_mut().zip(times).for_each(|(samples, (_, time))| samples.push(time));
            }
        }
        Ok(samples.map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples[samples.len() / 2] / paths.len() as f64
        }))
    }

    fn timed(
        work: impl FnOnce() -> Result<usize, transect_service::Error>,
    ) -> Result<(usize, f64), transect_service::Error> {
        let began = Instant::now();
        let found = work()?;
        Ok((found, began.elapsed().as_nanos() as f64))
    }

    #[expect(clippy::disallowed_methods, reason = "how paths are found is not what is measured")]
    fn gather(directory: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            paths.push(entry.path());
            if entry.file_type()?.is_dir() {
                gather(&entry.path(), paths)?;
            }
        }
        Ok(())
    }
}
