//! What this Windows is, and what a path lies on.
