//! `provision why`: texts of any tool, or the logs of hosts, to the first cause.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::FileTypeExt as _;
use std::time::Duration;

use anyhow::Context as _;

use crate::cli::args::{Target, WhyArgs};
use crate::cli::load::{load, reachable, some_online};
use crate::cli::results;
use crate::disk;
use crate::exit::{self, Exit};
use crate::launch::{self, Executed};
use crate::report::{output, why};
use crate::settings::Settings;
use crate::why::{Limits, TextError, Why, logs};

/// Name of standard input, as an argument.
const STDIN: &str = "-";
/// Longest time that a host may take to print its logs.
const DEADLINE: Duration = Duration::from_mins(1);

/// Runs the command; its exit code.
///
/// # Errors
/// When a text cannot be read, there is none, or hosts cannot be asked.
pub(crate) async fn run(settings: &Settings, args: WhyArgs) -> anyhow::Result<u8> {
    let (reader, code) = match &args.hosts {
        Some(hosts) => of_hosts(settings, &args, hosts).await?,
        None => (of_files(&args.files)?, exit::OK),
    };
    let answer = reader.answer();
    if let Some(file) = &args.reports.json {
        results::write_json(file, &answer)?;
        return Ok(code);
    }
    output::data(&why::text(&answer, settings.page, args.all)).context("cannot write to stdout")?;
    Ok(code)
}

fn of_files(files: &[String]) -> anyhow::Result<Why> {
    let stdin = [STDIN.to_owned()];
    if files.is_empty() && io::stdin().is_terminal() {
        let error = Exit::new(exit::USAGE, "there is no text".to_owned());
        return Err(error.hint("name files, or pipe one: dmesg | provision why").into());
    }
    let files = if files.is_empty() { &stdin[..] } else { files };
    let mut reader = Why::new(files.len() > 1, Limits::default());
    let mut unread = 0;
    for file in files {
        let read = if file == STDIN {
            reader.read("stdin", &mut io::stdin().lock())
        } else {
            opened(file)
                .map_err(|reason| TextError { name: file.clone(), reason })
                .and_then(|mut opened| reader.read(file, &mut opened))
        };
        if let Err(error) = read {
            unread += 1;
            if unread == files.len() {
                return Err(Exit::new(exit::CONFIG, error.to_string()).into());
            }
            reader.unread(&error);
        }
    }
    Ok(reader)
}

/// Opens a file, or a pipe: a device may never end.
///
/// # Errors
/// The reason why it is not read.
fn opened(file: &str) -> Result<File, String> {
    let about = std::fs::metadata(file).map_err(|error| disk::short(&error))?;
    if about.file_type().is_char_device() || about.file_type().is_block_device() {
        return Err("it is a device: name a file, or pipe a text".to_owned());
    }
    File::open(file).map_err(|error| disk::short(&error))
}

/// Reads the logs of hosts. The exit code is that of the hosts that could not be asked.
async fn of_hosts(settings: &Settings, args: &WhyArgs, hosts: &str) -> anyhow::Result<(Why, u8)> {
    let [inventory] = args.files.as_slice() else {
        let error = Exit::new(exit::USAGE, "with --hosts there is one FILE, the inventory".to_owned());
        return Err(error.hint("provision why inventory.yaml --hosts gpu12").into());
    };
    let mut target = Target::of(inventory.into(), Vec::new());
    (target.hosts, target.lab) = (Some(hosts.to_owned()), args.lab);
    let project = reachable(settings, &target, load(settings, &target)?)?;
    some_online(&project, false)?;
    let argv = logs(args.hours * 60);
    let exec = args.connect.exec(&argv, DEADLINE);
    let stopping = |reason: &str| output::say(&format!("stopping: {reason}"));
    let record = match launch::exec(settings, project, &exec, None, stopping).await? {
        Executed::Ended(record) => record,
        Executed::Left(code) => return Ok((Why::default(), code)),
    };
    let mut reader = Why::new(true, Limits::default());
    for (name, host) in &record.hosts {
        if let Some(end) = &host.command {
            reader.read(name, &mut end.output.as_bytes())?;
        } else if let Some(reason) = host.status.as_ref().and_then(crate::report::unreachable_reason) {
            output::say(&format!("{name}: {reason}"));
        }
    }
    Ok((reader, record.exit_code.unwrap_or(exit::BUG)))
}
