//! Watchman's commands about trees, and which of its capabilities there are.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{FieldMask, FileType};
use transect_live::SharedTree;
use transect_sys::file::query_attributes;
use transect_sys::name_from_bytes;

use super::query::{Field, Query, clock_text, followed, not_watched};
use super::value::Value;
use crate::trees::{Tree, Trees};

/// Files and directories that the root of a project has.
const ROOT_FILES: [&str; 4] = [".watchmanconfig", ".git", ".hg", ".svn"];

const COMMANDS: [&str; 13] = [
    "clock",
    "get-config",
    "list-capabilities",
    "query",
    "shutdown-server",
    "subscribe",
    "unsubscribe",
    "version",
    "watch",
    "watch-del",
    "watch-list",
    "watch-project",
    "get-sockname",
];

const TERMS: [&str; 16] = [
    "allof", "anyof", "dirname", "empty", "exists", "false", "idirname", "imatch", "iname",
    "match", "name", "not", "size", "suffix", "true", "type",
];

const OTHERS: [&str; 9] = [
    "bser-v2",
    "clock-sync-timeout",
    "dedup_results",
    "glob_generator",
    "relative_root",
    "suffix-set",
    "term-dirname-depth",
    "wildmatch",
    "wildmatch-multislash",
];

/// Returns the names of all capabilities.
fn capabilities() -> impl Iterator<Item = String> {
    let named = |kind: &'static str, names: &'static [&str]| {
        names.iter().map(move |name| format!("{kind}{name}"))
    };
    let fields = Field::ALL.iter().map(|field| format!("field-{}", field.as_str()));
    let all = named("cmd-", &COMMANDS).chain(named("term-", &TERMS));
    all.chain(fields).chain(named("", &OTHERS))
}

/// The trees that commands are about.
pub(super) struct Commands<'a> {
    pub(super) trees: &'a Trees,
    /// Starts a thread that follows a tree.
    pub(super) start: &'a dyn Fn(Arc<Tree>) -> io::Result<()>,
}

impl Commands<'_> {
    /// Executes a command that needs no connection. Returns `None` if there is no such command.
    ///
    /// # Errors
    /// The reason why it cannot be executed.
    pub(super) fn run(&self, name: &str, args: &[Value]) -> Option<Result<Value, String>> {
        Some(match name {
            "version" | "list-capabilities" => return about_itself(name, args),
            // No option of Watchman's configuration has an effect here.
            "get-config" => Ok(Value::object([("config", Value::object([]))])),
            "watch" => self.watch(args),
            "watch-project" => self.watch_project(args),
            "watch-list" => {
                let roots = self.trees.roots();
                let roots: Vec<Value> = roots.iter().map(|root| value_of(root)).collect();
                Ok(Value::object([("roots", roots.into())]))
            }
            "watch-del" => root_of(args).map(|root| {
                let is_released = self.trees.release(&root);
                Value::object([("watch-del", is_released.into()), ("root", value_of(&root))])
            }),
            "clock" => self.clock(args),
            "query" => self.query(args),
            _ => return None,
        })
    }

    /// Returns the root that a command is about, and the tree that has it.
    ///
    /// # Errors
    /// It is not followed.
    pub(super) fn tree(&self, args: &[Value]) -> Result<(PathBuf, Arc<SharedTree>), String> {
        let root = root_of(args)?;
        let tree = self.trees.wait_for(&root)?.ok_or_else(|| not_watched(&root))?;
        Ok((root, tree))
    }

    fn clock(&self, args: &[Value]) -> Result<Value, String> {
        let (root, tree) = self.tree(args)?;
        let cursor = tree.all_changes_since(None).map_err(|error| error.to_string())?.cursor;
        followed(&tree, &root)?;
        Ok(Value::object([("clock", clock_text(cursor).into())]))
    }

    fn query(&self, args: &[Value]) -> Result<Value, String> {
        let query = Query::parse(args.get(1).ok_or("a query is missing")?)?;
        let (root, tree) = self.tree(args)?;
        let mut answer = Value::object([]);
        query.run(&tree, &root)?.add_to(&mut answer);
        Ok(answer)
    }

    fn watch(&self, args: &[Value]) -> Result<Value, String> {
        let root = root_of(args)?;
        self.follow(&root)?;
        Ok(Value::object([("watch", value_of(&root)), ("watcher", "transect".into())]))
    }

    fn watch_project(&self, args: &[Value]) -> Result<Value, String> {
        let path = root_of(args)?;
        let is_root = |path: &&Path| {
            let has = |name| query_attributes(&path.join(name), FieldMask::empty(), false).is_ok();
            ROOT_FILES.into_iter().any(has)
        };
        let trees = self.trees.roots();
        let enclosing = trees.iter().filter(|root| path.starts_with(root));
        let root = path.ancestors().find(is_root).map(Path::to_owned);
        let root = root.or_else(|| enclosing.max_by_key(|root| root.as_os_str().len()).cloned());
        let root = root.unwrap_or_else(|| path.clone());
        self.follow(&root)?;
        let mut answer =
            Value::object([("watch", value_of(&root)), ("watcher", "transect".into())]);
        match path.strip_prefix(&root) {
            Ok(below) if !below.as_os_str().is_empty() => {
                answer.push("relative_path", value_of(below));
            }
            _ => {}
        }
        Ok(answer)
    }

    /// Follows a tree, unless another one has it.
    fn follow(&self, root: &Path) -> Result<(), String> {
        // One that cannot be read may have a part that can.
        if let Ok(Some(tree)) = self.trees.wait_for(root)
            && let Ok(Some(view)) = tree.view(root, false)
            && view.table.unread_reason(view.row).is_none()
        {
            return followed(&tree, root).map(drop);
        }
        let tree = self.trees.request(root.to_owned(), self.start)?;
        let view = followed(&tree, root);
        if view.is_err() {
            self.trees.release(root);
        }
        view.map(drop)
    }
}

/// Returns the answer to a command that needs no service, or `None`: clients ask what there is before they start one.
pub fn answer_without_service(command: &Value) -> Option<Value> {
    let (name, args) = command.array()?.split_first()?;
    let answer = about_itself(name.str()?, args)?;
    Some(whole(answer))
}

/// Returns an answer, or the reason why there is none, with the version of the program.
pub(super) fn whole(answer: Result<Value, String>) -> Value {
    let mut answer = answer.unwrap_or_else(|why| Value::object([("error", why.into())]));
    answer.push("version", env!("CARGO_PKG_VERSION"));
    answer
}

fn about_itself(name: &str, args: &[Value]) -> Option<Result<Value, String>> {
    match name {
        "version" => Some(version(args.first())),
        "list-capabilities" => {
            let all: Vec<Value> = capabilities().map(Value::from).collect();
            Some(Ok(Value::object([("capabilities", all.into())])))
        }
        _ => None,
    }
}

fn version(wanted: Option<&Value>) -> Result<Value, String> {
    let mut found = Vec::new();
    for (key, is_required) in [("optional", false), ("required", true)] {
        let names = wanted.and_then(|wanted| wanted.get(key)).and_then(Value::array);
        for name in names.unwrap_or_default().iter().filter_map(Value::str) {
            let is_there = capabilities().any(|it| it == name);
            if is_required && !is_there {
                return Err(format!("client required capability `{name}` is not supported"));
            }
            found.push((name.into(), is_there.into()));
        }
    }
    let mut answer = Value::object([]);
    if wanted.is_some() {
        answer.push("capabilities", Value::Object(found));
    }
    Ok(answer)
}

/// Returns the directory that the first argument is, without links.
fn root_of(args: &[Value]) -> Result<PathBuf, String> {
    let path = args.first().and_then(Value::bytes).ok_or("a path is missing")?;
    let path = PathBuf::from(name_from_bytes(path.to_vec()));
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!("unable to resolve root {shown}: path must be absolute"));
    }
    let failed = |error| format!("unable to resolve root {shown}: {}", transect::reason(&error));
    let root = path.canonicalize().map_err(failed)?;
    let found = query_attributes(&root, FieldMask::empty(), false).map_err(failed)?;
    if found.file_type() != FileType::Directory {
        return Err(format!("unable to resolve root {shown}: not a directory"));
    }
    Ok(root)
}

pub(super) fn value_of(path: &Path) -> Value {
    path.as_os_str().as_encoded_bytes().into()
}
