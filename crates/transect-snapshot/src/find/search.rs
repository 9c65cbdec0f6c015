//! What to search for.

use std::fmt;
use std::sync::Arc;

use memchr::memmem::Finder;
use transect::FieldMask;
use transect::internal::AttributeFilter;

/// Judges a name or a path.
type Test = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// What the name of an entry must be like.
#[derive(Clone, Default)]
pub struct NamePattern {
    /// What the name contains.
    words: Vec<Vec<u8>>,
    /// What the name begins with, and the path of its directory, with a separator, ends with.
    begin: Option<(Vec<u8>, Vec<u8>)>,
    name: Option<Test>,
    path: Option<Test>,
}

impl NamePattern {
    /// Returns a pattern for names that contain `text`. A text with a slash matches where the end of the
    /// directory's path, a slash and the beginning of the name are that text: `src/ma` matches `/a/src/main.rs`.
    pub fn substring(text: &[u8]) -> Self {
        match memchr::memrchr(b'/', text) {
            None => Self { words: vec![text.to_vec()], ..Self::default() },
            Some(slash) => {
                let (above, name) = text.split_at(slash + 1);
                let begin = Some((name.to_vec(), above.to_vec()));
                Self { words: vec![name.to_vec()], begin, ..Self::default() }
            }
        }
    }

    /// Returns a pattern for names that `test` accepts, and that contain all `words`. The test of a name that does not
    /// contain them is not called.
    pub fn name(
        words: impl IntoIterator<Item = Vec<u8>>,
        test: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let words = words.into_iter().collect();
        Self { words, name: Some(Arc::new(test)), ..Self::default() }
    }

    /// Like [`NamePattern::name`], but `test` judges the path of the entry. Its separators are slashes.
    pub fn path(
        words: impl IntoIterator<Item = Vec<u8>>,
        test: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let words = words.into_iter().collect();
        Self { words, path: Some(Arc::new(test)), ..Self::default() }
    }
}

impl fmt::Debug for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.words.iter().map(|it| it.escape_ascii().to_string()).collect();
        f.debug_struct("NamePattern").field("words", &words).finish_non_exhaustive()
    }
}

/// The entries to find: those that match all patterns and the filter.
#[derive(Clone, Debug, Default)]
pub struct Search {
    pub(super) patterns: Vec<NamePattern>,
    ignore_case: bool,
    pub(super) filter: AttributeFilter,
    pub(super) fields: FieldMask,
}

impl Search {
    /// Returns a search for entries that match all patterns.
    pub fn new(patterns: impl IntoIterator<Item = NamePattern>) -> Self {
        Self { patterns: patterns.into_iter().collect(), ..Self::default() }
    }

    /// Sets whether the case of ASCII letters is ignored: in substrings, and in the words of other patterns.
    pub fn ignore_case(mut self, ignore: bool) -> Self {
        self.ignore_case = ignore;
        self
    }

    /// Finds only entries that the filter selects.
    pub fn filter(mut self, filter: AttributeFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the attributes that hits have, besides the type.
    pub fn fields(mut self, fields: FieldMask) -> Self {
        self.fields = fields;
        self
    }

    /// Returns the attributes that the search needs, besides the type: those of hits, and of the filter.
    pub fn needed_fields(&self) -> FieldMask {
        self.fields | self.filter.fields()
    }

    /// Returns whether the case of ASCII letters is ignored.
    pub fn ignores_case(&self) -> bool {
        self.ignore_case
    }

    /// Returns the words that a name must contain.
    pub fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.patterns.iter().flat_map(|pattern| &pattern.words).map(Vec::as_slice)
    }

    /// Returns whether entries are selected by the paths of their directories.
    pub(super) fn needs_paths(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.begin.is_some() || pattern.path.is_some())
    }

    /// Returns whether an entry matches the patterns by its path. `directory` ends with a separator, and is empty for a
    /// root. Patterns have slashes on every system.
    pub(super) fn accepts_path(&self, directory: &[u8], name: &[u8]) -> bool {
        if cfg!(windows) {
            let slashes = |path: &[u8]| -> Vec<u8> {
                path.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect()
            };
            return self.accepts_slashed(&slashes(directory), &slashes(name));
        }
        self.accepts_slashed(directory, name)
    }

    fn accepts_slashed(&self, directory: &[u8], name: &[u8]) -> bool {
        self.patterns.iter().all(|pattern| {
            let is_below = pattern.begin.as_ref().is_none_or(|(begin, above)| {
                // The name of a root is a path.
                let slash = if directory.is_empty() { memchr::memrchr(b'/', name) } else { None };
                let (root, name) = name.split_at(slash.map_or(0, |slash| slash + 1));
                let directory = if directory.is_empty() { root } else { directory };
                let is_end = directory
                    .len()
                    .checked_sub(above.len())
                    .is_some_and(|at| self.equal(&directory[at..], above));
                is_end && name.get(..begin.len()).is_some_and(|name| self.equal(name, begin))
            });
            let test = pattern.path.as_ref();
            is_below && test.is_none_or(|test| test(&[directory, name].concat()))
        })
    }

    fn equal(&self, one: &[u8], other: &[u8]) -> bool {
        if self.ignore_case { one.eq_ignore_ascii_case(other) } else { one == other }
    }
}

pub(super) struct NameMatcher<'s> {
    pub(super) ignore_case: bool,
    /// The words, the longest first.
    words: Vec<Finder<'static>>,
    tests: Vec<&'s Test>,
}

impl<'s> NameMatcher<'s> {
    pub(super) fn new(search: &'s Search) -> Self {
        let fold = |word: &[u8]| match search.ignore_case {
            true => word.to_ascii_lowercase(),
            false => word.to_vec(),
        };
        let mut words: Vec<Vec<u8>> =
            search.words().filter(|word| !word.is_empty()).map(fold).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        Self {
            ignore_case: search.ignore_case,
            words: words.iter().map(|word| Finder::new(word).into_owned()).collect(),
            tests: search.patterns.iter().filter_map(|pattern| pattern.name.as_ref()).collect(),
        }
    }

    /// Returns the word to search for first; `None` if there are no words.
    pub(super) fn first_word(&self) -> Option<&Finder<'static>> {
        self.words.first()
    }

    /// Returns whether a name matches, `folded` being the same without case.
    /// Its first `known` words are known to be in it.
    pub(super) fn matches(&self, name: &[u8], folded: &[u8], known: usize) -> bool {
        self.words.iter().skip(known).all(|word| word.find(folded).is_some())
            && self.tests.iter().all(|test| test(name))
    }
}
