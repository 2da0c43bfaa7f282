//! Who may ask: every request passes here before anything else looks at it.
//!
//! The server listens on the loopback interface only. That alone does not keep out pages of other sites: a browser sends
//! their requests too (so the origin is checked), and a name of theirs may come to mean this machine (so the host is). What
//! changes anything needs the token, which is known to those who were given the address alone.

use crate::error::ApiError;
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY,
    TRANSFER_ENCODING, UPGRADE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Nothing but our own files: no inline scripts or styles, no frames, no forms, no other addresses.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer.
const ALWAYS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// What requests are compared with.
pub struct Guard {
    /// The hosts under which the server may be addressed.
    hosts: Vec<String>,
    /// Who has it may change things; nobody may if there is none.
    token: Option<String>,
}

impl Guard {
    /// A guard of the server at this port.
    pub fn new(port: u16, token: Option<String>) -> Guard {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        // A browser leaves out the usual port.
        let bare = names.iter().filter(|_| port == 80).map(ToString::to_string);
        Guard { hosts: names.iter().map(|name| format!("{name}:{port}")).chain(bare).collect(), token }
    }

    /// Why a request is refused.
    fn objection(&self, request: &Request) -> Option<ApiError> {
        let (headers, method) = (request.headers(), request.method());
        let refuse = |status, why: &str| Some(ApiError::new(status, why));
        if ![Method::GET, Method::HEAD, Method::POST, Method::PUT].contains(method) {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET, HEAD, POST and PUT are answered");
        }
        let Some(host) = only(headers, &HOST).filter(|host| self.hosts.iter().any(|known| known == host))
        else {
            return refuse(StatusCode::MISDIRECTED_REQUEST, "this server is not known by that host name");
        };
        if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
            return refuse(StatusCode::MISDIRECTED_REQUEST, "the address and the host differ");
        }
        if headers.contains_key(UPGRADE) {
            return refuse(StatusCode::BAD_REQUEST, "there is no other protocol to change to");
        }
        if headers.contains_key(TRANSFER_ENCODING) {
            return refuse(StatusCode::LENGTH_REQUIRED, "a request must tell its length");
        }
        if headers.contains_key(ORIGIN) && only(headers, &ORIGIN) != Some(&format!("http://{host}")) {
            return refuse(StatusCode::FORBIDDEN, "requests of other pages are refused");
        }
        let site = only(headers, &HeaderName::from_static("sec-fetch-site"));
        let api = request.uri().path().starts_with("/api/");
        if api && site.is_some_and(|site| site != "same-origin" && site != "none") {
            return refuse(StatusCode::FORBIDDEN, "requests of other pages are refused");
        }
        if method == Method::GET || method == Method::HEAD {
            return None;
        }
        // Pages of other sites can send forms and plain text without asking, but not JSON.
        let kind = only(headers, &CONTENT_TYPE).map(|kind| kind.split(';').next().unwrap_or("").trim());
        if kind.is_none_or(|kind| !kind.eq_ignore_ascii_case("application/json")) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body should be JSON");
        }
        match changes_nothing(request.uri().path()) || self.knows(headers) {
            true => None,
            false if self.token.is_none() => refuse(StatusCode::FORBIDDEN, "this page is read-only"),
            false => Some(
                ApiError::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong")
                    .advise("open the page by the address that `rl4rla serve` printed"),
            ),
        }
    }

    /// Whether a request comes with the token.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let given = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        self.token.as_deref().zip(given).is_some_and(|(token, given)| equal(token, given))
    }
}

/// Questions with a body: they start no run and write nothing.
fn changes_nothing(path: &str) -> bool {
    path == "/api/check" || path.starts_with("/api/program/")
}

/// The value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

/// Whether two texts are equal, in a time that does not tell where they differ.
fn equal(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

/// Lets requests pass, or answers them.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.objection(&request) {
        Some(objection) => objection.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> Option<StatusCode> {
        let guard = Guard::new(4000, Some("secret".into()));
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let objection = guard.objection(&request.body(Body::empty()).unwrap());
        objection.map(|objection| objection.into_response().status())
    }

    const HERE: (&str, &str) = ("host", "127.0.0.1:4000");
    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn the_page_itself_may_ask() {
        for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            assert_eq!(status("GET", "/api/runs", &[("host", host)]), None);
        }
        let own = ("origin", "http://127.0.0.1:4000");
        let token = ("authorization", "Bearer secret");
        assert_eq!(status("POST", "/api/runs", &[HERE, JSON, own, token]), None);
        assert_eq!(status("POST", "/api/check", &[HERE, JSON, own]), None);
    }

    #[test]
    fn others_may_not() {
        let refused =
            |method, path, headers: &[(&str, &str)]| status(method, path, headers).unwrap().as_u16();
        for host in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "127.0.0.1:4000.evil.example", ""] {
            assert_eq!(refused("GET", "/", &[("host", host)]), 421, "{host}");
        }
        assert_eq!(refused("GET", "/", &[]), 421);
        assert_eq!(refused("GET", "/", &[HERE, ("host", "localhost:4000")]), 421);
        assert_eq!(refused("GET", "http://evil.example/", &[HERE]), 421);
        for origin in ["http://evil.example", "null", "http://localhost:4000", "https://127.0.0.1:4000", ""] {
            assert_eq!(refused("GET", "/api/runs", &[HERE, ("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(refused("GET", "/api/runs", &[HERE, ("sec-fetch-site", "cross-site")]), 403);
        for token in ["", "Bearer", "Bearer ", "Bearer wrong", "Bearer secre", "Bearer secrets", "secret"] {
            assert_eq!(refused("POST", "/api/runs", &[HERE, JSON, ("authorization", token)]), 401, "{token}");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
            assert_eq!(refused("POST", "/api/check", &[HERE, ("content-type", kind)]), 415, "{kind}");
        }
        for method in ["DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"] {
            assert_eq!(refused(method, "/api/runs", &[HERE]), 405, "{method}");
        }
        assert_eq!(refused("GET", "/api/events", &[HERE, ("upgrade", "websocket")]), 400);
        assert_eq!(refused("POST", "/api/runs", &[HERE, JSON, ("transfer-encoding", "chunked")]), 411);
    }

    #[test]
    fn without_a_token_nothing_is_written() {
        let guard = Guard::new(4000, None);
        let request = Request::builder().method("POST").uri("/api/runs");
        let request = request.header("host", "localhost:4000").header("content-type", "application/json");
        let request = request.header("authorization", "Bearer ").body(Body::empty()).unwrap();
        assert_eq!(guard.objection(&request).unwrap().into_response().status(), StatusCode::FORBIDDEN);
    }
}
