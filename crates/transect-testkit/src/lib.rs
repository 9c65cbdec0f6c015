//! Named trees, an oracle and helpers for tests.
