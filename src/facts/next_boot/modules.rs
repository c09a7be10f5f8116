//! The modules of the next kernel: on disk, of its kind, of one build with each other, signed by a known key, and the
//! same in the initramfs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Aspect, Boot, Problem, absent};
use crate::facts::module::canonical;
use crate::facts::section::Sections;
use crate::facts::{Gap, GapKind, Seen};

/// A file of a module, as modinfo tells of it.
#[derive(Debug, Default)]
pub(super) struct File<'a> {
    path: &'a str,
    name: String,
    vermagic: &'a str,
    /// Whether it was built with the kernel, and stands with it.
    own: bool,
    depends: &'a str,
    signed: bool,
    signer: &'a str,
    key: String,
}

/// The module that a file holds.
fn name_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    canonical(file.split(".ko").next().unwrap_or(file))
}

/// Reads the output of modinfo for all modules that are wanted and all that others than the kernel brought.
pub(super) fn files<'a>(sections: &Sections<'a>) -> Seen<Vec<File<'a>>> {
    sections.read("modinfo", "no module is wanted", |text| {
        let mut files: Vec<File<'a>> = Vec::new();
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if key == "filename" {
                files.push(File { path: value, name: name_of(value), ..File::default() });
            }
            let Some(file) = files.last_mut() else { continue };
            match key {
                "vermagic" => file.vermagic = value,
                "intree" => file.own = value == "Y" && file.path.contains("/kernel/"),
                "depends" => file.depends = value,
                "sig_id" => file.signed = true,
                "signer" => file.signer = value,
                "sig_key" => file.key = digits(value),
                _ => {}
            }
        }
        Ok(files)
    })
}

/// Modules that modprobe would load in a kernel, and those that it does not find.
#[derive(Debug, Default)]
struct Depends<'a> {
    paths: BTreeSet<&'a str>,
    missing: BTreeSet<&'a str>,
    /// Its message where the whole list of modules is not there.
    no_list: Option<&'a str>,
}

fn depends<'a>(sections: &Sections<'a>, kernel: &str) -> Seen<Depends<'a>> {
    let command = format!("modprobe -S {kernel} -a --show-depends");
    let Some(section) = sections.get(&command) else {
        return absent("/sys/class/net", "no card and no disk has a driver that is a module");
    };
    // With 1 some of them are not there.
    if let Some(gap) = section.trouble().filter(|_| section.status != Some(1)) {
        return Err(gap);
    }
    let mut depends = Depends::default();
    for line in section.stdout.lines() {
        if let Some(rest) = line.strip_prefix("insmod ") {
            depends.paths.extend(rest.split(' ').next());
        } else if let Some((_, rest)) = line.split_once(" Module ")
            && let Some((name, _)) = rest.split_once(" not found")
        {
            depends.missing.insert(name);
        } else if line.contains("modules.dep") || line.contains("Missing modules directory") {
            depends.no_list.get_or_insert(line);
        }
    }
    // Other lines are warnings, such as those about files of modprobe.d.
    if section.status != Some(0) && depends.missing.is_empty() && depends.no_list.is_none() {
        let said = section.stdout.lines().last().unwrap_or("nothing");
        let reason = format!("`{command}` failed: {}", said.chars().take(160).collect::<String>());
        return Err(Gap::new(GapKind::Failed, &command, &reason));
    }
    Ok(depends)
}

pub(super) fn found(sections: &Sections<'_>, boot: &Boot<'_>, files: &Seen<Vec<File<'_>>>) -> Seen<Aspect> {
    let kernel = boot.kernel;
    let command = format!("modprobe -S {kernel} -a --show-depends");
    let next = depends(sections, kernel)?;
    let mut wrong = Vec::new();
    if let Some(line) = next.no_list {
        wrong.push(Problem {
            of: kernel.to_owned(),
            how: "has no list of modules".to_owned(),
            todo: format!("`depmod {kernel}`, or install the package of that kernel again"),
            from: command,
            line: line.to_owned(),
        });
        return Ok(Aspect { wrong, seen: String::new() });
    }
    let before = if boot.running == kernel { None } else { Some(depends(sections, boot.running)?) };
    for (module, of) in &boot.must {
        if next.missing.contains(module) {
            wrong.push(lost(
                module,
                &format!("drives {of} and is not on disk for {kernel}"),
                kernel,
                &command,
            ));
        }
    }
    for (module, of) in &boot.keep {
        let had = before.as_ref().is_some_and(|before| !before.missing.contains(module));
        if had && next.missing.contains(module) {
            let who = if of.starts_with('/') { format!("{of} names it") } else { "it is in use".to_owned() };
            let how = format!("on disk for {} and not for {kernel}, and {who}", boot.running);
            wrong.push(lost(module, &how, kernel, &command));
        }
    }
    for path in sections.get("empty").into_iter().flat_map(|section| section.stdout.lines()) {
        wrong.push(Problem {
            of: name_of(path),
            how: "its file is empty, as after a loss of power".to_owned(),
            todo: format!("install its package again, or `dkms install --force NAME/VERSION -k {kernel}`"),
            from: "ls -l".to_owned(),
            line: path.to_owned(),
        });
    }
    let files = match files {
        Ok(files) => files.as_slice(),
        Err(gap) if gap.kind != GapKind::Absent && wrong.is_empty() => return Err(gap.clone()),
        Err(_) => &[],
    };
    let usual = files.iter().find(|file| file.own).map(|file| file.vermagic);
    for file in files.iter().filter(|file| next.paths.contains(file.path)) {
        if !fits(file.vermagic, usual, kernel) {
            wrong.push(Problem {
                of: file.name.clone(),
                how: format!(
                    "built for another kernel: its vermagic is `{}`, that of {kernel} `{}`",
                    file.vermagic,
                    usual.unwrap_or(kernel)
                ),
                todo: format!("build it anew: `dkms install --force NAME/VERSION -k {kernel}`"),
                from: format!("modinfo {}", file.path),
                line: format!("vermagic: {}", file.vermagic),
            });
        }
    }
    let seen = format!("{} for {kernel}", crate::words::count(next.paths.len() as u64, "module"));
    Ok(Aspect { wrong, seen })
}

fn lost(module: &str, how: &str, kernel: &str, command: &str) -> Problem {
    Problem {
        of: module.to_owned(),
        how: how.to_owned(),
        todo: format!("install the modules for that kernel: its package, or `dkms autoinstall -k {kernel}`"),
        from: command.to_owned(),
        line: format!("Module {module} not found"),
    }
}

/// Whether the kernel takes a module: where both have versions of symbols, the release makes no difference.
fn fits(magic: &str, usual: Option<&str>, kernel: &str) -> bool {
    let versioned = |magic: &str| magic.split(' ').any(|word| word == "modversions");
    let (release, rest) = magic.split_once(' ').unwrap_or((magic, ""));
    match usual {
        Some(usual) if versioned(usual) && versioned(magic) => {
            usual.split_once(' ').is_some_and(|(_, usual)| usual == rest)
        }
        Some(usual) => usual == magic,
        None => release == kernel || versioned(magic),
    }
}

pub(super) fn symbols(sections: &Sections<'_>, boot: &Boot<'_>, files: &Seen<Vec<File<'_>>>) -> Seen<Aspect> {
    let Some((against, section)) = sections.starting("depmod -n -e -E").next() else {
        return absent("depmod", "no module is wanted");
    };
    let text = section.read(Ok)?;
    let mut by_module: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for line in text.lines() {
        let line = line.strip_prefix("depmod: WARNING: ").unwrap_or(line);
        for sign in [" disagrees about version of symbol ", " needs unknown symbol "] {
            if let Some((path, symbol)) = line.split_once(sign) {
                by_module.entry(path).or_default().push((symbol.trim(), line));
            }
        }
    }
    let files = files.as_ref().map_err(Clone::clone)?;
    let wrong = by_module.iter().map(|(path, symbols)| {
        let file = files.iter().find(|file| file.path == *path);
        let of = file.map_or_else(|| (*path).to_owned(), |file| file.name.clone());
        let (first, line) = symbols.first().copied().unwrap_or_default();
        let stands_on = file.map_or("", |file| file.depends).replace(',', ", ");
        let against =
            if stands_on.is_empty() { String::new() } else { format!(" against {stands_on}") };
        Problem {
            of,
            how: match symbols.len() {
                1 => format!("the modules on disk do not export {first} as it was built with"),
                more => format!(
                    "the modules on disk do not export {more} symbols as it was built with, such as {first}"
                ),
            },
            todo: format!(
                "build it anew{against}: `dkms install --force NAME/VERSION -k {}`, or install all of them from one source",
                boot.kernel
            ),
            from: "depmod -n -e -E".to_owned(),
            line: line.to_owned(),
        }
    });
    let kernel =
        if against == "/dev/null" { ", without those of the kernel: it has no headers here" } else { "" };
    Ok(Aspect { wrong: wrong.collect(), seen: format!("the versions of all symbols agree{kernel}") })
}

/// A number as mokutil and modinfo write it, in one way.
fn digits(text: &str) -> String {
    let hex: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    hex.trim_start_matches('0').to_ascii_lowercase()
}

/// The keys that the firmware knows besides its own.
#[derive(Debug, Default)]
struct Enrolled<'a> {
    serials: BTreeSet<String>,
    names: BTreeSet<&'a str>,
}

/// `Serial Number:` with the number behind it or on the next line, `Subject: ... CN=NAME`.
fn enrolled(text: &str) -> Result<Enrolled<'_>, String> {
    let mut enrolled = Enrolled::default();
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if let Some(number) = line.strip_prefix("Serial Number:") {
            let number = number.trim();
            // `1 (0x1)`.
            let hex = number.split_once("(0x").map(|(_, hex)| hex.trim_end_matches(')'));
            let number = if number.is_empty() { lines.peek().copied() } else { hex.or(Some(number)) };
            enrolled.serials.extend(number.map(digits));
        } else if let Some(subject) = line.strip_prefix("Subject:") {
            enrolled.names.extend(common_name(subject));
        }
    }
    if enrolled.serials.is_empty() && !text.trim().is_empty() && !text.contains("empty") {
        return Err("it shows no serial number".to_owned());
    }
    Ok(enrolled)
}

/// `C=GB, O=Canonical Ltd., CN=NAME`, also with spaces around each `=`.
fn common_name(subject: &str) -> Option<&str> {
    let name = subject.split([',', '/']).find_map(|part| part.trim().strip_prefix("CN"))?;
    name.trim_start().strip_prefix('=').map(str::trim)
}

pub(super) fn signatures(
    sections: &Sections<'_>,
    boot: &Boot<'_>,
    files: &Seen<Vec<File<'_>>>,
) -> Seen<Aspect> {
    const LIST: &str = "mokutil --list-enrolled";
    let enforced = boot
        .args
        .split_whitespace()
        .any(|word| matches!(word, "module.sig_enforce" | "module.sig_enforce=1"));
    match boot.secure {
        _ if enforced => {}
        "1" => {}
        "?" => return Err(Gap::new(GapKind::Failed, "od", "the variable of Secure Boot could not be read")),
        "" => return absent("/sys/firmware/efi", "there is no Secure Boot"),
        _ => return absent("/sys/firmware/efi", "Secure Boot is off"),
    }
    let state = sections.get("mokutil --sb-state").map_or("", |section| section.stdout);
    if !enforced && state.contains("validation is disabled") {
        return absent("mokutil --sb-state", "Secure Boot is on, and its validation is off in shim");
    }
    let files = files.as_ref().map_err(Clone::clone)?;
    let own: BTreeSet<&str> = files.iter().filter(|file| file.own).map(|file| file.key.as_str()).collect();
    let known = sections.read(LIST, "it was not asked", enrolled);
    let keys = sections.get("keys").map_or("", |section| section.stdout);
    // A key that is built into the kernel, such as that of the distribution; `NAME: NUMBER: X509.rsa ...`.
    let built_in = |name: &str| {
        let is_name = |line: &str| line.split(':').next().is_some_and(|key| key.trim().ends_with(name));
        known.as_ref().map_or(true, |known| !known.names.contains(name)) && keys.lines().any(is_name)
    };
    let mut wrong = Vec::new();
    let mut others = 0_u64;
    for file in files.iter().filter(|file| !file.own) {
        others += 1;
        let from = format!("modinfo {}", file.path);
        let mut problem = |how: String, todo: &str| {
            wrong.push(Problem {
                of: file.name.clone(),
                how,
                todo: todo.to_owned(),
                from: from.clone(),
                line: format!("signer: {}", file.signer),
            });
        };
        if !file.signed && file.signer.is_empty() {
            problem(
                "not signed, and the kernel takes signed modules only".to_owned(),
                "have DKMS sign it: enrol its key at the console (`mokutil --import`) and build the module anew, or install modules that the distribution signed",
            );
            continue;
        }
        if file.key.is_empty() {
            let reason = format!("modinfo does not say who signed {}", file.name);
            return Err(Gap::new(GapKind::Failed, &from, &reason));
        }
        if own.contains(file.key.as_str()) {
            continue;
        }
        match &known {
            Ok(known) if known.serials.contains(&file.key) => {}
            _ if !file.signer.is_empty() && built_in(file.signer) => {}
            Ok(_) => problem(
                format!("signed by `{}`, a key that is not enrolled", file.signer),
                "enrol that key: `mokutil --import` of /var/lib/shim-signed/mok/MOK.der or /var/lib/dkms/mok.pub, then confirm it at the console of the next boot",
            ),
            // It is asked wherever there are modules: the answer was cut short.
            Err(gap) if gap.kind == GapKind::Absent => return Err(gap.clone()),
            Err(gap) => problem(
                format!(
                    "signed by `{}`, and nobody tells whether that key is enrolled: {}",
                    file.signer, gap.reason
                ),
                "install mokutil",
            ),
        }
    }
    let seen = format!(
        "{} of others than the kernel, all signed by known keys",
        crate::words::count(others, "module")
    );
    Ok(Aspect { wrong, seen })
}

/// A path below the directory of a kernel's modules, without its compression.
fn below(path: &str) -> Option<&str> {
    let (_, rest) = path.split_once("lib/modules/")?;
    let (_, rest) = rest.split_once('/')?;
    let end = rest.find(".ko")?;
    rest.get(..end)
}

pub(super) fn initramfs(
    sections: &Sections<'_>,
    boot: &Boot<'_>,
    files: &Seen<Vec<File<'_>>>,
) -> Seen<Aspect> {
    if !boot.lacking.is_empty() {
        let how = match boot.lacking {
            "empty" => format!("that of {} is empty", boot.kernel),
            _ => format!("{} has none, and other kernels have one", boot.kernel),
        };
        let wrong = vec![Problem {
            of: "initramfs".to_owned(),
            how,
            todo: format!(
                "make room in /boot, then `update-initramfs -c -k {0}` or `dracut -f /boot/initramfs-{0}.img {0}`",
                boot.kernel
            ),
            from: "/boot".to_owned(),
            line: boot.lacking.to_owned(),
        }];
        return Ok(Aspect { wrong, seen: String::new() });
    }
    if boot.initrd.is_empty() {
        return absent("/boot", "the next kernel has no initramfs");
    }
    let Some((_, section)) =
        ["lsinitramfs", "lsinitrd"].iter().find_map(|tool| sections.starting(tool).next())
    else {
        return absent(boot.initrd, "all wanted modules are the kernel's own");
    };
    let copies: Vec<&str> = section
        .read(|text| Ok(text.lines().filter_map(|line| below(line.split_whitespace().last()?)).collect()))?;
    let newer = sections.read("newer", "the list was cut short", Ok)?;
    let files = files.as_ref().map_err(Clone::clone)?;
    let paths = depends(sections, boot.kernel)?.paths;
    let mut wrong = Vec::new();
    let mut same = 0_u64;
    for file in files.iter().filter(|file| paths.contains(file.path)) {
        let of_name: Vec<&str> = copies
            .iter()
            .filter(|copy| canonical(copy.rsplit('/').next().unwrap_or(copy)) == file.name)
            .copied()
            .collect();
        let Some(on_disk) = below(file.path) else { continue };
        let how = match of_name.first() {
            None => continue,
            Some(copy) if !of_name.contains(&on_disk) => {
                format!("the initramfs loads its own copy, {copy}, before {on_disk} on disk")
            }
            Some(_) if newer.lines().any(|path| path == file.path) => {
                "the initramfs has an older copy than the one on disk".to_owned()
            }
            Some(_) => {
                same += 1;
                continue;
            }
        };
        wrong.push(Problem {
            of: file.name.clone(),
            how,
            todo: format!(
                "rebuild it: `update-initramfs -u -k {0}`, or `dracut -f {1} {0}`",
                boot.kernel, boot.initrd
            ),
            from: boot.initrd.to_owned(),
            line: of_name.join(" "),
        });
    }
    let seen = format!("{} the same as on disk", crate::words::count(same, "module"));
    Ok(Aspect { wrong, seen })
}
