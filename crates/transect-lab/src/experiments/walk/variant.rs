//! Variants of the engine: a reader, an order, and the settings of both, by name.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use transect::internal::{Order, StatOrder, WalkSettings};
use transect::{ReaderKind, ScanOptions};

use super::keep::Keep;
use transect_text::size;

/// The valid numbers of threads in a name.
const THREADS: RangeInclusive<usize> = 1..=1024;

/// A reader and an order with their settings. A setting that is `None` is the engine's default.
///
/// Its name is `READER/ORDER[,threads=N][,busy=N][,waiting=N][,buffer=SIZE][,stat-order=ORDER][,keep=WHAT]`:
///
/// ```
/// use transect_lab::experiments::walk::variant::Variant;
///
/// let name = "getdents-statx/work-stealing,threads=4,buffer=256K,stat-order=inode";
/// let variant: Variant = name.parse()?;
/// assert_eq!((variant.threads, variant.settings.buffer_size), (Some(4), Some(256 << 10)));
/// assert_eq!(variant.to_string(), name);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    pub reader: ReaderKind,
    pub order: Order,
    /// Maximum number of threads.
    pub threads: Option<usize>,
    pub keep: Option<Keep>,
    pub settings: WalkSettings,
}

impl Variant {
    pub fn new(reader: ReaderKind, order: Order) -> Self {
        Self { reader, order, threads: None, keep: None, settings: WalkSettings::default() }
    }

    /// Returns the options of a walk of `root`. [`ScanOptions::plan`] checks whether the reader is available
    /// and supports the settings.
    pub fn options(&self, root: &Path) -> ScanOptions {
        let mut options = ScanOptions::new([root]);
        options.threads = self.threads;
        options.settings = self.settings;
        options.reader(self.reader).order(self.order)
    }

    pub fn is_parallel(&self) -> bool {
        self.order.is_parallel() && self.threads != Some(1)
    }
}

impl From<WalkSettings> for Variant {
    fn from(settings: WalkSettings) -> Self {
        let reader = settings.reader.unwrap_or_else(ReaderKind::best);
        let variant = Self::new(reader, settings.order.unwrap_or_default());
        Self { settings: WalkSettings { reader: None, order: None, ..settings }, ..variant }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.reader.as_str(), self.order.as_str())?;
        for (key, threads) in [
            ("threads", self.threads),
            ("busy", self.settings.busy_threads),
            ("waiting", self.settings.waiting_threads),
        ] {
            if let Some(threads) = threads {
                write!(f, ",{key}={threads}")?;
            }
        }
        if let Some(bytes) = &self.settings.buffer_size {
            write!(f, ",buffer={}", size::shortest(*bytes))?;
        }
        if let Some(order) = &self.settings.stat_order {
            write!(f, ",stat-order={}", order.as_str())?;
        }
        if let Some(keep) = &self.keep {
            write!(f, ",keep={}", keep.as_str())?;
        }
        Ok(())
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut parts = name.split(',');
        let way = parts.next().unwrap_or_default();
        let (reader, order) =
            way.split_once('/').ok_or("a name is READER/ORDER, settings may follow")?;
        let mut variant = Self::new(
            named("reader", ReaderKind::DIRECTORIES, ReaderKind::as_str, reader)?,
            named("order", Order::ALL, Order::as_str, order)?,
        );
        let settings = &mut variant.settings;
        for setting in parts {
            let unknown = || {
                format!(
                    "unknown setting '{setting}'; there are threads=N, busy=N, waiting=N, buffer=SIZE, \
                     stat-order=ORDER, keep=WHAT"
                )
            };
            let (key, value) = setting.split_once('=').ok_or_else(unknown)?;
            let new = match key {
                "threads" => variant.threads.replace(threads(value)?).is_none(),
                "busy" => settings.busy_threads.replace(threads(value)?).is_none(),
                "waiting" => settings.waiting_threads.replace(threads(value)?).is_none(),
                "buffer" => settings.buffer_size.replace(buffer_size(value)?).is_none(),
                "stat-order" => {
                    let order = named("stat order", StatOrder::ALL, StatOrder::as_str, value)?;
                    settings.stat_order.replace(order).is_none()
                }
                "keep" => {
                    let keep = named("kind of records", Keep::ALL, Keep::as_str, value)?;
                    variant.keep.replace(keep).is_none()
                }
                _ => return Err(unknown()),
            };
            if !new {
                return Err(format!("'{key}' is set twice"));
            }
        }
        let threads = variant.threads.or(settings.busy_threads).or(settings.waiting_threads);
        if threads.is_some() && !variant.order.is_parallel() {
            return Err(format!("order '{order}' has one thread, and takes no number"));
        }
        Ok(variant)
    }
}

fn named<T: Copy>(
    what: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
    name: &str,
) -> Result<T, String> {
    let known = all.iter().copied().find(|&known| name_of(known) == name);
    known.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|&known| name_of(known)).collect();
        format!("unknown {what} '{name}'; there are {}", known.join(", "))
    })
}

fn threads(text: &str) -> Result<usize, String> {
    // Only digits: the standard library would accept a sign as well.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && THREADS.contains(number));
    let (least, most) = (THREADS.start(), THREADS.end());
    number.ok_or_else(|| format!("invalid thread count '{text}': expected {least} to {most}"))
}

fn buffer_size(text: &str) -> Result<usize, String> {
    size::parse(text).map_err(|why| format!("invalid buffer size '{text}': {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn any_variant() -> impl Strategy<Value = Variant> {
        let way = (select(ReaderKind::DIRECTORIES), select(Order::ALL));
        let settings = (
            [option::of(THREADS), option::of(THREADS), option::of(THREADS)],
            option::of(prop_oneof![any::<usize>(), (0_u32..32).prop_map(|bits| 1 << bits)]),
            option::of(select(StatOrder::ALL)),
            option::of(select(Keep::ALL)),
        );
        (way, settings).prop_map(|((reader, order), (threads, buffer_size, stat_order, keep))| {
            let [threads, busy_threads, waiting_threads] =
                threads.map(|threads| threads.filter(|_| order.is_parallel()));
            let others = WalkSettings::default();
            let settings =
                WalkSettings { busy_threads, waiting_threads, buffer_size, stat_order, ..others };
            Variant { threads, keep, settings, ..Variant::new(reader, order) }
        })
    }

    proptest! {
        #[test]
        fn variant_name_round_trips(variant in any_variant()) {
            prop_assert_eq!(variant.to_string().parse(), Ok(variant));
        }

        #[test]
        fn parse_any_text_is_variant_or_error(
            text in "(portable|nt-query|x)?/?(futures|queue)?(,(threads|buffer|x)?=?[0-9K,]{0,3}){0,3}",
        ) {
            if let Ok(variant) = text.parse::<Variant>() {
                prop_assert_eq!(variant.to_string().parse(), Ok(variant));
            }
        }
    }

    #[test]
    fn settings_parsed_in_any_order_and_formatted_in_one() {
        let variant: Variant =
            "by-handle/futures,stat-order=listing,buffer=65536,threads=2".parse().unwrap();
        let name = "by-handle/futures,threads=2,buffer=64K,stat-order=listing";
        assert_eq!(variant.to_string(), name);
        assert!(variant.is_parallel());
        assert!(!"portable/futures,threads=1".parse::<Variant>().unwrap().is_parallel());
        assert!(!"portable/queue".parse::<Variant>().unwrap().is_parallel());
    }

    #[test]
    fn options_match_settings_of_name() {
        let name = "getdents-fstatat/shared-queue,threads=3,buffer=1M,stat-order=inode";
        let options = name.parse::<Variant>().unwrap().options(Path::new("here"));
        assert_eq!(options.roots, [Path::new("here")]);
        assert_eq!(options.settings.reader, Some(ReaderKind::GetdentsFstatat));
        assert_eq!(options.settings.order, Some(Order::SharedQueue));
        assert_eq!((options.threads, options.settings.buffer_size), (Some(3), Some(1 << 20)));
        assert_eq!(options.settings.stat_order, Some(StatOrder::Inode));
    }

    #[test]
    fn invalid_name_has_clear_error() {
        let setting = |text: &str| {
            format!(
                "unknown setting '{text}'; there are threads=N, busy=N, waiting=N, buffer=SIZE, \
                 stat-order=ORDER, keep=WHAT"
            )
        };
        let threads = |text: &str| format!("invalid thread count '{text}': expected 1 to 1024");
        let size = "a size is a whole number of bytes, or of K, M, G or T";
        let readers: Vec<&str> =
            ReaderKind::DIRECTORIES.iter().map(|reader| reader.as_str()).collect();
        let orders: Vec<&str> = Order::ALL.iter().map(|order| order.as_str()).collect();
        let [readers, orders] = [readers, orders].map(|names| names.join(", "));
        for (name, told) in [
            ("", "a name is READER/ORDER, settings may follow".to_owned()),
            ("portable", "a name is READER/ORDER, settings may follow".to_owned()),
            ("portable,threads=1/queue", "a name is READER/ORDER, settings may follow".to_owned()),
            ("queue/portable", format!("unknown reader 'queue'; there are {readers}")),
            ("portable/", format!("unknown order ''; there are {orders}")),
            ("portable/queue/x", format!("unknown order 'queue/x'; there are {orders}")),
            ("portable/futures,", setting("")),
            ("portable/futures,threads", setting("threads")),
            ("portable/futures,Threads=2", setting("Threads=2")),
            ("portable/futures, threads=2", setting(" threads=2")),
            ("portable/futures,threads=2,threads=2", "'threads' is set twice".to_owned()),
            ("portable/futures,threads=0", threads("0")),
            ("portable/futures,threads=1025", threads("1025")),
            ("portable/futures,threads=+2", threads("+2")),
            ("portable/futures,threads=", threads("")),
            (
                "portable/queue,threads=1",
                "order 'queue' has one thread, and takes no number".to_owned(),
            ),
            ("portable/queue,buffer=64KB", format!("invalid buffer size '64KB': {size}")),
            ("portable/queue,buffer=", format!("invalid buffer size '': {size}")),
            ("portable/queue,buffer=1K,buffer=1K", "'buffer' is set twice".to_owned()),
            (
                "portable/queue,keep=all",
                "unknown kind of records 'all'; there are names, times, large, large-after"
                    .to_owned(),
            ),
            (
                "portable/queue,stat-order=name",
                "unknown stat order 'name'; there are listing, inode".to_owned(),
            ),
        ] {
            let error = name.parse::<Variant>().unwrap_err();
            assert_eq!(error, told, "{name}");
        }
    }
}
