//! A connection of a client of Watchman: answers commands, and sends what its subscriptions find.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use transect_live::{Listening, SharedTree};

use super::commands::{Commands, value_of, whole};
use super::query::{Found, Query, clock_text};
use super::value::Value;
use super::wire::{Encoding, take_message};
use crate::open_connections::OpenConnection;
use crate::protocol::{MAX_REQUEST_BYTES, ProtocolError};
use crate::service::Service;
use crate::transport::Wake;
use crate::trees::Tree;

/// Bytes to read at once.
const READ: usize = 64 << 10;

/// What a connection needs of the service.
#[derive(Clone, Copy)]
pub(crate) struct Host<'a> {
    pub(crate) service: &'a Service,
    /// Starts a thread that follows a tree.
    pub(crate) start: &'a dyn Fn(Arc<Tree>) -> io::Result<()>,
    /// Ends the service.
    pub(crate) end: &'a dyn Fn(),
}

/// A connection.
pub(crate) struct Session<'a> {
    host: Host<'a>,
    open: &'a OpenConnection,
    /// What has arrived of the next messages.
    input: Vec<u8>,
    out: Vec<u8>,
    subscriptions: Vec<Subscription>,
    /// Wakes this thread when something changed.
    wake: Option<Wake>,
    commands: u64,
}

struct Subscription {
    name: Value,
    root: PathBuf,
    tree: Arc<SharedTree>,
    query: Query,
    encoding: Encoding,
    /// What it found at first, until that was sent.
    first: Option<Found>,
    _listening: Listening,
}

impl<'a> Session<'a> {
    /// Returns a session whose first bytes have arrived.
    pub(crate) fn new(host: Host<'a>, open: &'a OpenConnection, input: Vec<u8>) -> Self {
        let (subscriptions, wake, out) = (Vec::new(), None, Vec::new());
        Self { host, open, input, out, subscriptions, wake, commands: 0 }
    }

    /// Answers until the client closes the connection. Returns the number of commands.
    ///
    /// # Errors
    /// The connection broke off, or a message is malformed: the reason. It was not answered, since the next one cannot be
    /// found.
    pub(crate) fn run(mut self) -> Result<u64, String> {
        loop {
            match self.answer_all() {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => return Ok(self.commands),
                Ok(Err(ProtocolError(why))) => return Err(why.to_owned()),
                Err(error) => return Err(transect::reason(&error)),
            }
        }
    }

    /// Answers what has arrived, and waits for more. Returns false at the end.
    fn answer_all(&mut self) -> io::Result<Result<bool, ProtocolError>> {
        let mut taken = 0;
        loop {
            match take_message(&self.input[taken..], MAX_REQUEST_BYTES) {
                Ok(Some((encoding, message, length))) => {
                    taken += length;
                    self.open.end_wait();
                    self.answer(encoding, &message)?;
                }
                Ok(None) => break,
                Err(error) => return Ok(Err(error)),
            }
        }
        self.input.drain(..taken);
        if !self.input.is_empty() {
            self.open.begin_wait();
        }
        let (mut has_input, mut is_woken) = (true, false);
        if let Some(wake) = self.wake.as_ref().filter(|_| !self.subscriptions.is_empty()) {
            (has_input, is_woken) = self.open.stream.wait_or_woken(wake)?;
        }
        if is_woken {
            self.send_found()?;
        }
        Ok(Ok(!has_input || self.read()? > 0))
    }

    fn read(&mut self) -> io::Result<usize> {
        let filled = self.input.len();
        self.input.resize(filled + READ, 0);
        let read = loop {
            match (&self.open.stream).read(&mut self.input[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.input.truncate(filled + read.as_ref().copied().unwrap_or(0));
        read
    }

    fn answer(&mut self, encoding: Encoding, message: &Value) -> io::Result<()> {
        self.commands += 1;
        self.host.service.count_request(1);
        let (name, args) = match message.array() {
            Some([name, args @ ..]) => (name.str().unwrap_or_default(), args),
            _ => ("", &[][..]),
        };
        let Host { service, start, end } = self.host;
        let commands = Commands { trees: &service.trees, start };
        let answer = match name {
            "subscribe" => self.subscribe(&commands, encoding, args),
            "unsubscribe" => self.unsubscribe(args),
            "shutdown-server" => Ok(Value::object([("shutdown-server", true.into())])),
            _ => commands.run(name, args).unwrap_or_else(|| Err(format!("unknown command {name}"))),
        };
        self.send(encoding, answer)?;
        if name == "shutdown-server" {
            end();
        }
        // What a subscription found at first follows its answer.
        for place in 0..self.subscriptions.len() {
            if let Some(found) = self.subscriptions[place].first.take() {
                self.send_one(place, found)?;
            }
        }
        Ok(())
    }

    /// Sends an answer, or the reason why there is none.
    fn send(&mut self, encoding: Encoding, answer: Result<Value, String>) -> io::Result<()> {
        self.out.clear();
        encoding.append(&mut self.out, &whole(answer));
        self.open.send(&self.out)
    }

    fn subscribe(
        &mut self,
        commands: &Commands<'_>,
        encoding: Encoding,
        args: &[Value],
    ) -> Result<Value, String> {
        let (root, tree) = commands.tree(args)?;
        let [_, name, query] = args else {
            return Err("subscribe needs a name and a query".into());
        };
        let mut query = Query::parse(query)?;
        if self.wake.is_none() {
            self.wake = Some(Wake::new().map_err(|error| transect::reason(&error))?);
        }
        let wake = self.wake.clone().expect("BUG: it was just made");
        let listening = tree.on_change(move || wake.wake());
        let found = query.run(&tree, &root)?;
        let cursor = found.cursor;
        query.set_since(cursor);
        let first = Some(found).filter(|found| found.is_fresh || !found.files.is_empty());
        self.subscriptions.retain(|it| it.name != *name);
        self.subscriptions.push(Subscription {
            name: name.clone(),
            root,
            tree,
            query,
            encoding,
            first,
            _listening: listening,
        });
        Ok(Value::object([
            ("subscribe", name.clone()),
            ("clock", clock_text(cursor).into()),
            ("asserted-states", Vec::new().into()),
        ]))
    }

    fn unsubscribe(&mut self, args: &[Value]) -> Result<Value, String> {
        let name = args.get(1).ok_or("unsubscribe needs a name")?;
        let before = self.subscriptions.len();
        self.subscriptions.retain(|it| it.name != *name);
        let is_deleted = self.subscriptions.len() < before;
        Ok(Value::object([("unsubscribe", name.clone()), ("deleted", is_deleted.into())]))
    }

    /// Sends what all subscriptions find now.
    fn send_found(&mut self) -> io::Result<()> {
        self.host.service.update_last_request();
        let mut place = 0;
        while let Some(subscription) = self.subscriptions.get_mut(place) {
            match subscription.query.run(&subscription.tree, &subscription.root) {
                Ok(found) => {
                    subscription.query.set_since(found.cursor);
                    if found.is_fresh || !found.files.is_empty() {
                        self.send_one(place, found)?;
                    }
                    place += 1;
                }
                Err(_) => {
                    let Subscription { name, root, encoding, .. } =
                        self.subscriptions.remove(place);
                    let mut object = unilateral(&name, value_of(&root));
                    object.push("canceled", true);
                    self.send(encoding, Ok(object))?;
                }
            }
        }
        Ok(())
    }

    fn send_one(&mut self, place: usize, found: Found) -> io::Result<()> {
        let Subscription { name, root, encoding, .. } = &self.subscriptions[place];
        let (mut object, encoding) = (unilateral(name, value_of(root)), *encoding);
        found.add_to(&mut object);
        self.send(encoding, Ok(object))
    }
}

/// Returns the beginning of an object that is not an answer.
fn unilateral(name: &Value, root: Value) -> Value {
    let unilateral = ("unilateral", true.into());
    Value::object([unilateral, ("subscription", name.clone()), ("root", root)])
}
