//! `provision bundle`: the project as one file without secrets.

use std::io::{BufWriter, Write as _};

use crate::bundle::{self, Reach};
use crate::cli::args::{BundleArgs, STDOUT, Target};
use crate::cli::load;
use crate::exit::Exit;
use crate::report::output;
use crate::settings::Settings;
use crate::words::count;
use crate::{disk, exit};

/// Runs the command; its exit code.
///
/// # Errors
/// What is wrong with the project, or keeps the file from being written.
pub(crate) fn run(settings: &Settings, args: BundleArgs) -> anyhow::Result<u8> {
    if args.output == STDOUT {
        return Err(Exit::new(exit::USAGE, "a bundle goes to a file: `-` is none").into());
    }
    let target = Target::of(args.inventory, args.set);
    let project = load::load_checked(settings, &target)?;
    let packed =
        bundle::pack(&project, &target.set, args.root.as_deref().map_or(Reach::Inventory, Reach::Below))
            .map_err(Exit::from)?;
    let unwritten = |error: std::io::Error| {
        Exit::new(exit::CONFIG, format!("cannot write {}: {}", args.output, disk::short(&error)))
    };
    let draft = disk::Draft::new(&args.output).map_err(unwritten)?;
    let mut out = BufWriter::new(draft.file.as_file());
    let digest = packed.write(&mut out).map_err(Exit::from)?;
    out.flush().map_err(unwritten)?;
    drop(out);
    draft.keep().map_err(unwritten)?;
    let files = count(packed.index.files.len() as u64, "file");
    let hosts = count(project.hosts.len() as u64, "host");
    output::say(&format!("{}: {hosts}, {files}, sha256 {digest}", args.output));
    output::say(&format!("next, on a host: provision apply --bundle {} --here", args.output));
    Ok(exit::OK)
}
