//! The options of walks and tables.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use transect::{Cancel, FieldMask, ScanOptions};

use crate::attributes::FIELDS;
use crate::boundary::{Text, functions, objects, required};
use crate::control::Control;
use crate::failure::Failure;
use crate::filter::{Filter, FilterCall};

/// `transect_options`.
#[derive(Clone, Debug, Default)]
pub struct WalkOptions {
    /// Everything but the root.
    scan: ScanOptions,
    fields: Option<FieldMask>,
    /// A callback may run on several threads at once.
    pub(crate) concurrent: bool,
}

impl WalkOptions {
    /// Returns the requested fields, or else those that are queried by default.
    pub(crate) fn fields(&self) -> FieldMask {
        self.fields.unwrap_or(FieldMask::SIZE | FieldMask::ALLOCATED | FieldMask::MTIME)
    }

    /// Fails if the control of these options has ended a walk.
    pub(crate) fn require_not_cancelled(&self) -> Result<(), Failure<'static>> {
        if self.scan.cancel.is_cancelled() { Err(Failure::Cancelled) } else { Ok(()) }
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.scan.cancel
    }

    pub(crate) fn with_root(&self, root: &Path) -> ScanOptions {
        let mut scan = self.scan.clone();
        scan.roots = vec![root.to_owned()];
        scan
    }
}

pub(crate) fn fields(value: u32) -> Result<FieldMask, Failure<'static>> {
    let fields = u16::try_from(value).ok().and_then(FieldMask::from_bits);
    let fields = fields.filter(|fields| FIELDS.contains(*fields));
    fields.ok_or_else(|| Failure::Invalid(format!("{value:#x} is not a sum of fields").into()))
}

objects! {
    WalkOptions: transect_options_free, transect_options_new;
}

functions! {
    options: &mut WalkOptions;
    transect_options_set_fields(value: u32) { options.fields = Some(fields(value)?) }
    transect_options_set_threads(value: u32) {
        options.scan.threads = Some(value as usize).filter(|&threads| threads > 0)
    }
    transect_options_set_concurrent(value: bool) { options.concurrent = value }
    transect_options_set_max_depth(value: u32) { options.scan.max_depth = Some(value) }
    transect_options_set_follow(value: bool) { options.scan.follow_links = value }
    transect_options_set_every_link(value: bool) { options.scan.every_link = value }
    transect_options_set_one_file_system(value: bool) {
        options.scan.same_file_system = value
    }
    transect_options_set_pseudo_file_systems(value: bool) {
        options.scan.pseudo_file_systems = value
    }
    transect_options_set_exclude_hidden(value: bool) {
        options.scan.filters.exclude_hidden = value
    }
    transect_options_set_gitignore(value: bool) { options.scan.filters.gitignore = value }
    transect_options_set_ignore_case(value: bool) {
        options.scan.filters.ignore_case = value
    }
    transect_options_set_control(control: Option<&Control>) {
        let control = required(control, "control")?;
        options.scan.progress = Some(Arc::clone(&control.progress));
        options.scan.cancel = control.cancel.clone();
    }
    transect_options_set_filter(filter: Option<Filter>, context: *mut c_void) {
        let call = FilterCall { filter: required(filter, "filter")?, context };
        let scan = std::mem::take(&mut options.scan);
        options.scan = scan.filter_entry(move |entry| call.keeps(entry));
    }
    transect_options_add_glob(text: Text<'_>) {
        options.scan.filters.globs.push(text.utf8("text")?.to_owned())
    }
    transect_options_add_regex(text: Text<'_>) {
        options.scan.filters.regexes.push(text.utf8("text")?.to_owned())
    }
    transect_options_add_extension(text: Text<'_>) {
        options.scan.filters.extensions.push(text.utf8("text")?.to_owned())
    }
}
