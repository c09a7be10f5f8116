//! What the host's state directory says of earlier runs. The engine owns its format
//! (`engine::state`), and the frames that ask carry its shell functions.

use super::{Answer, Answers, Query};
use crate::transport::Script;

pub(super) fn script() -> Script {
    Script::new(include_str!("../shell/state.sh"))
}

pub(super) fn parse(queries: &[Query], output: &[u8], _: i32) -> Answers {
    let text = String::from_utf8_lossy(output).into_owned();
    queries.iter().map(|query| (query.clone(), Answer::State(text.clone()))).collect()
}
