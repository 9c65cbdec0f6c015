//! What may be said of samples.
