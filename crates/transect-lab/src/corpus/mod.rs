//! Trees with a fixed content, to measure on.
