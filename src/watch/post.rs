//! The one place that speaks HTTP.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

use super::outbox::Reply;
use super::vendor::{Request, delivery};
use crate::disk;
use crate::inventory::WebhookKind;

/// Time limit of one request, from the name of the service to its last byte.
const LIMIT: Duration = Duration::from_secs(15);
/// The most that is read of an answer.
const MOST: u64 = 64 << 10;

/// Sends a request, and says what came of it. What is said holds nothing of the URL.
pub async fn post(kind: WebhookKind, request: Request) -> Reply {
    let sent = tokio::task::spawn_blocking(move || send(kind, &request)).await;
    sent.unwrap_or_else(|_| Reply::Silence("the request was given up".to_owned()))
}

fn send(kind: WebhookKind, request: &Request) -> Reply {
    let mut builder = AGENT.post(&request.url).header("Content-Type", "application/json; charset=utf-8");
    for (name, value) in &request.headers {
        builder = builder.header(*name, value);
    }
    let read = builder.send(request.body.as_bytes()).map(|mut response| {
        let status = response.status().as_u16();
        let after = response.headers().get("Retry-After").and_then(|value| value.to_str().ok()?.parse().ok());
        let body = response.body_mut().with_config().limit(MOST).lossy_utf8(true).read_to_string();
        // A status says enough where the rest does not come.
        (status, after, body.unwrap_or_default())
    });
    match read {
        Ok((status, after, body)) => Reply::Answer(delivery(kind, status, after, &body)),
        Err(error) => Reply::Silence(why(&error)),
    }
}

static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    // No service answers with another place, and the message is for none.
    Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(LIMIT))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("provision/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
});

/// An error in words. The texts of some errors have the URL in them, so only these are shown.
fn why(error: &ureq::Error) -> String {
    if let ureq::Error::Io(error) = error {
        // rustls tells what it does not trust through the stream.
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        return match inner {
            Some(inner) => format!("its certificate is not trusted: {inner}"),
            None => format!("it is not reached: {}", disk::short(error)),
        };
    }
    if let ureq::Error::Rustls(error) = error {
        return format!("its certificate is not trusted: {error}");
    }
    if matches!(error, ureq::Error::Timeout(_)) {
        return format!("no answer within {} s", LIMIT.as_secs());
    }
    if matches!(error, ureq::Error::HostNotFound) {
        return "the name of its machine is not known".to_owned();
    }
    if matches!(error, ureq::Error::ConnectionFailed) {
        return "no connection".to_owned();
    }
    if matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_)) {
        return "its URL is none".to_owned();
    }
    if matches!(error, ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl) {
        return "the proxy of this environment does not connect".to_owned();
    }
    "it did not answer as HTTP says".to_owned()
}
