//! User of the login on the host, and the host's local users. Format: passwd(5).

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BaseFact, Fact, need};
use crate::facts::Object;

pub(super) const FACT: BaseFact = BaseFact {
    name: "users",
    doc: "the user that provision logs in as, and all local users",
    script: crate::shell!("facts/base/users/users.sh"),
    parse,
    touched_by: |touches| touches.any(|object| matches!(object, Object::User(_))) || touches.account_files(),
    specimen: |_| {
        json!({
            "login": { "name": "root", "uid": 0, "home": "/root" },
            "list": [{"name": "root", "uid": 0, "gid": 0, "home": "/root", "shell": "/bin/bash"}]
        })
    },
};

/// Users of the host.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Users {
    /// All local users.
    pub list: Vec<User>,
}

/// A local user.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its number.
    pub uid: u32,
    /// Number of its group.
    pub gid: u32,
}

impl Fact for Users {
    const NAME: &'static str = "users";
}

fn parse(output: &str) -> Result<Json, String> {
    let uid: u32 = need(output, "uid")?
        .parse()
        .map_err(|_| "the host did not report the user of the login".to_owned())?;
    let list: Vec<Json> = output
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let [name, _, uid, gid, _, home, shell] = fields.as_slice() else { return None };
            let (uid, gid): (u32, u32) = (uid.parse().ok()?, gid.parse().ok()?);
            Some(json!({ "name": name, "uid": uid, "gid": gid, "home": home, "shell": shell }))
        })
        .collect();
    let me = list.iter().find(|user| user.get("uid") == Some(&json!(uid)));
    let text = |key: &str| me.and_then(|user| user.get(key)).and_then(Json::as_str).unwrap_or("").to_owned();
    Ok(json!({ "login": { "name": text("name"), "uid": uid, "home": text("home") }, "list": list }))
}
