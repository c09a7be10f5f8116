//! Everything loaded and checked: where every command starts.
