//! Everything that needs neither a server nor a container: the program, its texts, its files and its pages.

#[path = "../support/accept.rs"]
mod accept;
mod acknowledge;
mod ansible;
mod bundle;
mod cases;
mod completions;
#[path = "../support/context.rs"]
mod context;
mod dependencies;
mod directions;
mod docs;
mod engine_order;
mod fabric;
mod families;
mod fuzz;
mod generated;
mod hints;
#[path = "../support/hook.rs"]
mod hook;
mod hostile;
mod hosts_from;
mod logs;
mod output;
mod own_files;
mod own_sentences;
#[path = "../support/pages.rs"]
mod pages;
mod prompts;
mod rendered;
mod report_cases;
mod reports;
mod schemas;
mod self_check;
mod shell_texts;
mod sites;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/this_host.rs"]
mod this_host;
mod versions;
mod watch;
mod why;
