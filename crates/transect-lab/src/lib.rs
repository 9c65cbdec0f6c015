//! The lab: measures methods of reading and transforming files on the current machine.
//!
//! ```text
//! methods ─► rounds, each method once, in a new order ─► samples, appended as they come ─► ranking
//!    │             │
//!    │             └─ one run: a fresh process with its own clock, a time limit, a proved cache state
//!    └─ readers × orders of this engine, contenders in other languages: all speak one protocol
//! ```
//!
//! * Rankings include only methods with the same counts of files, directories and bytes as a plain recursion.
//! * A method that hangs, dies or violates the protocol becomes a row with the reason.
//! * Each sample is written before the next one is taken, so an interrupted session can be resumed.

#![expect(missing_docs, reason = "the library of one program: names say enough")]

/// Defines an enum whose variants have a word each, as [`transect_sys::words`] does, and a description in one line.
macro_rules! described_words {
    ($(#[$of_all:meta])* $vis:vis enum $name:ident {
        $($(#[$of_one:meta])* $variant:ident = $word:literal => $about:expr,)*
    }) => {
        $(#[$of_all])*
        $vis enum $name {
            $($(#[$of_one])* $variant,)*
        }

        impl $name {
            /// All of them, in the order in which they are shown.
            $vis const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the word for it.
            $vis fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Describes it in one line.
            $vis fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $about,)*
                }
            }
        }
    };
}

pub mod corpora;
pub mod experiments;
pub mod explain;
#[cfg(test)]
mod fixtures;
pub mod harness;
pub mod published;
pub mod ranking;
pub mod report;
pub mod rivals;
pub mod spec;
pub mod tune;
