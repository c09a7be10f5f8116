//! Bodies, signatures and answers of each service, as the services' own pages say them.
//!
//! - Feishu and Lark: "Custom bot usage guide" (open.feishu.cn, `ucTM5YjL3ETO24yNxkjN`). 20 KB, 100 a minute.
//!   The signature is in the body; its key is `timestamp + "\n" + secret`, and nothing is hashed. Errors come
//!   with HTTP 200 and a `code`: 9499 bad body, 11232 too often, 19021 signature, 19022 address, 19024 keyword.
//! - DingTalk: "Custom robot access" and "Security settings of custom robots" (open.dingtalk.com). 20 a minute,
//!   else nothing for 10 minutes (130101). The signature is in the URL; its key is the secret, and
//!   `timestamp + "\n" + secret` is hashed, in milliseconds. Errors come with HTTP 200 and an `errcode`: 310000
//!   for signature, keyword and address.
//! - WeCom: "Configuration of group robots" (developer.work.weixin.qq.com, path 91770). Texts of 2048 bytes, 20 a
//!   minute (45009). No signature. Errors come with HTTP 200 and an `errcode`: 40058 for a body that is too long.
//! - Slack: "Sending messages using incoming webhooks" and "Improving error conditions for Incoming Webhooks"
//!   (api.slack.com). No signature. Errors have an HTTP status and one word: 400 `invalid_payload`, 404, 410, 429.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use sha2::Sha256;

use super::message::Message;
use crate::inventory::WebhookKind;
use crate::report::style::safe_line;
use crate::words::hex;

/// Bytes of text that each service takes in one message, with room for what stands around it.
fn most(kind: WebhookKind) -> usize {
    match kind {
        WebhookKind::Feishu => 12_000,
        WebhookKind::Dingtalk => 6_000,
        WebhookKind::Slack => 3_500,
        WebhookKind::Wecom => 2_000,
        WebhookKind::Json => usize::MAX,
    }
}

/// A request to a webhook. It holds secrets: no `Debug`.
#[expect(missing_debug_implementations, reason = "its URL is a secret")]
pub struct Request {
    /// URL that it is sent to.
    pub url: String,
    /// Beside `Content-Type: application/json`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

/// A message as a service takes it.
pub fn request(
    kind: WebhookKind,
    url: &str,
    secret: Option<&str>,
    message: &Message,
    now: Timestamp,
) -> Request {
    let mut url = url.to_owned();
    let mut headers = Vec::new();
    let text = || message.text(most(kind));
    let body = match kind {
        WebhookKind::Feishu => {
            // In texts `<at user_id="all">` calls everybody; in a post a text is a text.
            let lines = message.lines(most(kind));
            let lines: Vec<Json> =
                lines.iter().map(|line| json!([{ "tag": "text", "text": line }])).collect();
            let post = json!({ "zh_cn": { "title": message.title, "content": lines } });
            let mut body = json!({ "msg_type": "post", "content": { "post": post } });
            if let (Some(secret), Some(body)) = (secret, body.as_object_mut()) {
                let timestamp = now.as_second().to_string();
                let sign = base64(&format!("{timestamp}\n{secret}"), "");
                body.insert("timestamp".to_owned(), json!(timestamp));
                body.insert("sign".to_owned(), json!(sign));
            }
            body
        }
        WebhookKind::Dingtalk => {
            if let Some(secret) = secret {
                let timestamp = now.as_millisecond();
                let sign = base64(secret, &format!("{timestamp}\n{secret}"));
                let sign = sign.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
                let mark = if url.contains('?') { '&' } else { '?' };
                crate::put!(url, "{mark}timestamp={timestamp}&sign={sign}");
            }
            json!({ "msgtype": "text", "text": { "content": text() } })
        }
        // `<@name>` calls somebody.
        WebhookKind::Wecom => {
            json!({ "msgtype": "text", "text": { "content": text().replace("<@", "< @") } })
        }
        WebhookKind::Slack => {
            let text = text().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            json!({ "text": text })
        }
        WebhookKind::Json => {
            let mut body = json!(message);
            if let Some(body) = body.as_object_mut() {
                body.insert("text".to_owned(), json!(text()));
            }
            body
        }
    };
    let body = body.to_string();
    if let (WebhookKind::Json, Some(secret)) = (kind, secret) {
        let timestamp = now.as_second();
        let sign = hex(&hmac(secret, &format!("{timestamp}.{body}")));
        headers.push(("X-Provision-Timestamp", timestamp.to_string()));
        headers.push(("X-Provision-Signature", format!("sha256={sign}")));
    }
    Request { url, headers, body }
}

fn hmac(key: &str, text: &str) -> Vec<u8> {
    // A key may have any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn base64(key: &str, text: &str) -> String {
    STANDARD.encode(hmac(key, text))
}

/// Meaning of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The message has arrived.
    Delivered,
    /// It may arrive later.
    Later {
        /// Text of the answer.
        reason: String,
        /// Not before this.
        after: Duration,
    },
    /// This message will never arrive: what was answered.
    Never(String),
}

/// Reads an answer.
pub fn delivery(kind: WebhookKind, status: u16, retry_after: Option<u64>, body: &str) -> Delivery {
    let code = |keys: &[&str]| {
        let json: Json = serde_json::from_str(body).unwrap_or_default();
        keys.iter().find_map(|key| json.get(*key).and_then(Json::as_i64))
    };
    let code = match kind {
        WebhookKind::Feishu => code(&["code", "StatusCode"]),
        WebhookKind::Dingtalk | WebhookKind::Wecom => code(&["errcode"]),
        // Their status says it.
        WebhookKind::Slack | WebhookKind::Json => Some(0),
    };
    let good = (200..300).contains(&status);
    if good && code == Some(0) {
        return Delivery::Delivered;
    }
    let answer: String = safe_line(body.trim()).chars().take(200).collect();
    let reason = format!("it answers {status}: {answer}");
    let bad_body = match kind {
        WebhookKind::Feishu => code == Some(9499),
        WebhookKind::Wecom => code == Some(40058),
        WebhookKind::Dingtalk => false,
        WebhookKind::Slack | WebhookKind::Json => matches!(status, 400 | 413 | 422),
    };
    if bad_body {
        return Delivery::Never(reason);
    }
    let punished = kind == WebhookKind::Dingtalk && code == Some(130_101);
    let after = if punished { 600 } else { retry_after.unwrap_or(0).min(3600) };
    Delivery::Later { reason, after: Duration::from_secs(after) }
}
