//! Packages, kernel, processors and the environment of a login.

use std::collections::BTreeMap;

use super::super::kind::Kind;
use super::Found;
use crate::causes;

impl Found<'_> {
    pub(super) fn packages(&mut self, lines: &[&str]) {
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut states = Vec::new();
        for line in lines {
            let mut fields = line.split('\t');
            let (Some(name), Some(state), Some(version)) = (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            match state.trim() {
                // Removed, but for its settings.
                state if state.starts_with('r') || state.starts_with('u') => {}
                "ii" => joined.entry(name.to_owned()).or_default().push(version),
                state => {
                    joined.entry(name.to_owned()).or_default().push(version);
                    states.push((name, state));
                }
            }
        }
        for versions in joined.values_mut() {
            versions.sort_unstable();
        }
        self.put_joined(Kind::Package, joined);
        for (name, state) in states {
            let state = if state.starts_with('h') { "held" } else { state };
            self.put(Kind::Package, &format!("{name} (state)"), state);
        }
    }

    pub(super) fn python(&mut self, lines: &[&str]) {
        for line in lines {
            let name = line.rsplit('/').next().unwrap_or_default();
            let name = name.strip_suffix(".dist-info").unwrap_or(name);
            if let Some((name, version)) = name.rsplit_once('-') {
                self.put(Kind::Python, name, version);
            }
        }
    }

    pub(super) fn command_line(&mut self, lines: &[&str]) {
        let mut joined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for word in lines
            .iter()
            .filter_map(|line| line.strip_prefix("/proc/cmdline:"))
            .flat_map(str::split_whitespace)
        {
            let (key, value) = word.split_once('=').unwrap_or((word, "set"));
            joined.entry(key.to_owned()).or_default().push(value);
        }
        self.put_joined(Kind::CommandLine, joined);
    }

    pub(super) fn processors(&mut self, lines: &[&str]) {
        let mut counted: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
        for line in lines {
            let Some((path, value)) = line.split_once(':') else { continue };
            let path = path.trim_start_matches("/sys/devices/system/").trim_start_matches("cpuinfo ");
            // Of each processor the same: how many have which value.
            let key = match path.strip_prefix("cpu/cpu").and_then(|rest| rest.split_once("/cpufreq/")) {
                Some((_, setting)) => setting.to_owned(),
                None => path.trim_start_matches("cpu/").to_owned(),
            };
            *counted.entry(key).or_default().entry(value.trim()).or_default() += 1;
        }
        self.put_counted(Kind::Processor, &counted);
    }

    pub(super) fn modules(&mut self, lines: &[&str]) {
        let mut versions: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
        for line in lines {
            if let Some((module, version)) = line
                .strip_prefix("/sys/module/")
                .and_then(|rest| rest.split_once(':'))
                .and_then(|(path, version)| Some((path.split_once('/')?, version)))
            {
                let at = usize::from(module.1 == "srcversion");
                if let Some(place) = versions.entry(module.0).or_default().get_mut(at) {
                    *place = version;
                }
            }
        }
        for line in lines {
            if let Some(name) = line.strip_prefix("loaded ") {
                let text = versions.get(name).map_or_else(String::new, |versions| versions.join(" "));
                self.put(Kind::Module, name, if text.trim().is_empty() { "loaded" } else { &text });
            }
        }
    }

    pub(super) fn kernel_log(&mut self, lines: &[&str]) {
        let mut times: BTreeMap<&str, u64> = BTreeMap::new();
        for said in causes::read(lines.iter().copied()) {
            *times.entry(said.cause.id).or_default() += 1;
        }
        for (id, times) in times {
            self.put(Kind::KernelLog, id, &times.to_string());
        }
    }

    pub(super) fn surroundings(&mut self, lines: &[&str]) {
        let after = lines.iter().skip_while(|line| **line != "asked").skip(1);
        for line in after {
            if let Some((name, value)) = line.split_once('=')
                && !name.is_empty()
                && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            {
                // Their values are nobody's business.
                let is_secret = ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "_KEY", "APIKEY"]
                    .iter()
                    .any(|word| name.to_ascii_uppercase().contains(word));
                self.put(Kind::Environment, name, if is_secret { "set" } else { value });
            }
        }
    }
}
