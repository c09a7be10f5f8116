//! Drives the lab without the command line: `cargo run --example lab -- up|down|status INVENTORY HOST...`.
//! Settings of all hosts follow as `image=`, `sudo=`, `shell=`, `packages=a,b`.
use camino::Utf8PathBuf;
use provision::lab::{self, LabHost, LabSettings, LabSpec, SudoKind};

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a development tool")]
fn main() -> anyhow::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(verb), Some(inventory)) = (args.next(), args.next()) else {
        anyhow::bail!("VERB INVENTORY HOST...")
    };
    let root = std::env::var("XDG_STATE_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| home + "/.local/state"))?;
    let root = Utf8PathBuf::from(root).join("provision");
    let inventory = Utf8PathBuf::from(inventory);
    let mut settings = LabSettings::default();
    let mut hosts = Vec::new();
    for word in args {
        match word.split_once('=') {
            Some(("image", value)) => settings.image = Some(value.to_owned()),
            Some(("shell", value)) => settings.shell = Some(value.to_owned()),
            Some(("packages", value)) => {
                settings.packages = Some(value.split(',').map(str::to_owned).collect());
            }
            Some(("sudo", "password")) => settings.sudo = Some(SudoKind::Password),
            Some(_) => {}
            None => hosts.push(LabHost { name: word, groups: Vec::new(), settings: LabSettings::default() }),
        }
    }
    let mut say = |text: &str| println!("{text}");
    match verb.as_str() {
        "up" => {
            let spec = LabSpec { state_root: root, inventory, cluster: "lab".to_owned(), settings, hosts };
            let state = lab::up(&spec, &mut say)?;
            for host in &state.hosts {
                println!("{}", state.login(&host.name));
            }
        }
        "down" => println!("{} removed", lab::down(&root, &inventory, &mut say)?),
        "overlay" => println!("{:#?}", lab::overlay(&root, &inventory)?),
        _ => println!("{:#?}", lab::status(&root, &inventory)?),
    }
    Ok(())
}
