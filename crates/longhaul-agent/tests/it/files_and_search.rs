//! Tests of files_and_search.
