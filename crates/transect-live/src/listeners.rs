//! Calls that are made after updates.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

/// The calls, by numbers.
type Calls = BTreeMap<u64, Box<dyn Fn() + Send + Sync>>;

#[derive(Clone, Default)]
pub(crate) struct Listeners(Arc<Mutex<Calls>>);

impl Listeners {
    /// Adds a call, until the result is dropped.
    pub(crate) fn add(&self, call: impl Fn() + Send + Sync + 'static) -> Listening {
        let mut calls = self.lock();
        let number = calls.last_key_value().map_or(0, |(last, _)| last + 1);
        calls.insert(number, Box::new(call));
        Listening { listeners: self.clone(), number }
    }

    pub(crate) fn call_all(&self) {
        self.lock().values().for_each(|call| call());
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().expect("BUG: a thread panicked while it told of changes")
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listeners").field(&self.lock().len()).finish()
    }
}

/// Ends what [`SharedTree::on_change`](crate::SharedTree::on_change) began, when it is dropped.
#[derive(Debug)]
pub struct Listening {
    listeners: Listeners,
    number: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.listeners.lock().remove(&self.number);
    }
}
