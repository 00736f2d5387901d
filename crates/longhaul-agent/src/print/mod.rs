//! Print mode: one prompt, the answer on stdout, for scripts.
