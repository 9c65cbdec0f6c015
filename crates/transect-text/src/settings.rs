//! The settings of walks in words.

use transect::internal::WalkSettings;

use crate::size;

/// Returns the settings as a list: `reader getdents-statx, busy threads 4`, or `defaults`.
pub fn describe(settings: &WalkSettings) -> String {
    let WalkSettings {
        reader, order, busy_threads, waiting_threads, buffer_size, stat_order, ..
    } = settings;
    let parts = [
        reader.map(|reader| format!("reader {}", reader.as_str())),
        order.map(|order| format!("order {}", order.as_str())),
        busy_threads.map(|threads| format!("busy threads {threads}")),
        waiting_threads.map(|threads| format!("waiting threads {threads}")),
        buffer_size.map(|bytes| format!("buffer {}", size::shortest(bytes))),
        stat_order.map(|order| format!("stat order {}", order.as_str())),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "defaults".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect::ReaderKind;
    use transect::internal::{Order, StatOrder};

    #[test]
    fn settings_listed_unless_default() {
        assert_eq!(describe(&WalkSettings::default()), "defaults");
        let all = WalkSettings {
            reader: Some(ReaderKind::Portable),
            order: Some(Order::default()),
            busy_threads: Some(3),
            waiting_threads: Some(8),
            buffer_size: Some(256 << 10),
            stat_order: Some(StatOrder::Inode),
        };
        assert_eq!(
            describe(&all),
            "reader portable, order work-stealing, busy threads 3, waiting threads 8, \
             buffer 256K, stat order inode"
        );
    }
}
