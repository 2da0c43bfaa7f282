//! What pages of other sites, other users of the machine and broken clients may try: none of it is accepted.

use rl4rla_web::{Server, ServerSettings};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A server of an empty folder, for as long as the test takes.
struct Served {
    port: u16,
    token: String,
    folder: PathBuf,
}

fn served<T>(name: &str, read_only: bool, test: impl FnOnce(&Served) -> T) -> T {
    let folder = std::env::temp_dir().join(format!("rl4rla-attacks-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("secret.rla"), "iteration:\n  v1 = MAT_VEC_MUL(A, x)\n").unwrap();
    let command = folder.join("no-command");
    let campaigns = vec![folder.join("--help")];
    let settings = ServerSettings { store: folder.join("runs.db"), port: 0, read_only, campaigns, command };
    let server = Server::bind(settings).unwrap();
    let url = server.url();
    let port = url.strip_prefix("http://127.0.0.1:").unwrap().split('/').next().unwrap().parse().unwrap();
    let token = url.split("token=").nth(1).unwrap_or_default().to_string();
    let over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        scope.spawn(|| server.run(|| over.load(Ordering::Relaxed)));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            test(&Served { port, token, folder: folder.clone() })
        }));
        over.store(true, Ordering::Relaxed);
        done
    });
    std::fs::remove_dir_all(&folder).unwrap();
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Served {
    /// What the server answers to these bytes, until it closes or says no more.
    fn answer(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        // Others would wait for the next request.
        if !String::from_utf8_lossy(bytes).contains("Connection: close") {
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn status(&self, bytes: &[u8]) -> u16 {
        let answer = self.answer(bytes);
        answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// A request as the page itself sends it, with some of it replaced.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
        let usual = [
            ("Host", format!("127.0.0.1:{}", self.port)),
            ("Origin", format!("http://127.0.0.1:{}", self.port)),
            ("Authorization", format!("Bearer {}", self.token)),
            ("Content-Type", "application/json".into()),
            ("Content-Length", body.len().to_string()),
            ("Connection", "close".into()),
        ];
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        for (name, value) in usual {
            if !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                text += &format!("{name}: {value}\r\n");
            }
        }
        // An empty value leaves a header out.
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            text += &format!("{name}: {value}\r\n");
        }
        (text + "\r\n" + body).into_bytes()
    }
}

const START: &str = r#"{"kind":"discover","curriculum":"subsampled-ls-gd"}"#;

#[test]
fn the_page_itself_is_answered() {
    served("usual", false, |server| {
        for path in [
            "/",
            "/assets/app.js",
            "/assets/style.css",
            "/api/about",
            "/api/runs",
            "/api/map",
            "/api/campaigns",
        ] {
            assert_eq!(server.status(&server.request("GET", path, &[], "")), 200, "{path}");
        }
        let check = server.request("POST", "/api/check", &[("Authorization", "")], r#"{"toml":"title = 1"}"#);
        assert!(server.answer(&check).contains("expected a string"));
        // With the token a run would be started, if there were a command.
        assert_eq!(server.status(&server.request("POST", "/api/runs", &[], START)), 500);
        let answer = server.answer(&server.request("GET", "/", &[], ""));
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: DENY",
        ] {
            assert!(answer.to_lowercase().contains(&header.to_lowercase()), "{header}");
        }
        assert!(!answer.to_lowercase().contains("access-control-allow"), "no other page may read answers");
        assert!(server.folder.join("secret.rla").exists());
    });
}

#[test]
fn no_attack_is_accepted() {
    served("attacks", false, |server| {
        let (port, token) = (server.port, &server.token);
        let get = |path: &str, headers: &[(&str, &str)]| server.request("GET", path, headers, "");
        let post =
            |path: &str, headers: &[(&str, &str)], body: &str| server.request("POST", path, headers, body);
        let start = |headers: &[(&str, &str)]| post("/api/runs", headers, START);
        let other_port = format!("127.0.0.1:{}", port.wrapping_add(1));
        let rebound = format!("rebound.example:{port}");
        let suffix = format!("127.0.0.1:{port}.evil.example");
        let userinfo = format!("user@127.0.0.1:{port}");
        let capital = token.to_uppercase();
        let longer = format!("Bearer {token}0");
        let twice = format!("{token} {token}");
        let evil = format!("http://evil.example:{port}");
        let secure = format!("https://127.0.0.1:{port}");
        let near = format!("http://127.0.0.1:{port}.evil.example");
        let absolute = "http://evil.example/api/runs";
        let large = format!(r#"{{"toml":"{}"}}"#, "x".repeat(300_000));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let many: String = (0..500).map(|i| format!("X-{i}: {}\r\n", "y".repeat(200))).collect();
        let raw = |text: &str| text.replace("PORT", &port.to_string()).replace("TOKEN", token).into_bytes();
        let smuggled = "POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\
                        Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nPOST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n";
        let lengths = "POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\
                       Content-Length: 40\r\n\r\n{}  ";
        let data = r#"{"kind":"discover","toml":"title = \"x\"\nstart = \"ls-gd\"\n[[stage]]\nname = \"a\"\nedits = 1\nfamily = { data = \"/etc/passwd\", target = \"x\" }\n"}"#;
        let attacks: Vec<(&str, Vec<u8>)> = vec![
            // Names of other sites that have come to mean this machine.
            ("foreign host", get("/api/runs", &[("Host", "evil.example")])),
            ("rebound host", get("/api/runs", &[("Host", &rebound)])),
            ("host of another port", get("/api/runs", &[("Host", &other_port)])),
            ("host with a suffix", get("/", &[("Host", &suffix)])),
            ("host with a user", get("/", &[("Host", &userinfo)])),
            ("no host", raw("GET / HTTP/1.1\r\n\r\n")),
            ("two hosts", raw("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: evil.example\r\n\r\n")),
            ("no host in HTTP/1.0", raw("GET /api/runs HTTP/1.0\r\n\r\n")),
            ("address of another host", get(absolute, &[])),
            // Requests of other pages.
            ("foreign origin", start(&[("Origin", &evil)])),
            ("foreign origin reads", get("/api/runs", &[("Origin", &evil)])),
            ("null origin", start(&[("Origin", "null")])),
            ("secure origin", start(&[("Origin", &secure)])),
            ("origin with a suffix", start(&[("Origin", &near)])),
            (
                "cross-site without origin",
                get("/api/runs", &[("Origin", ""), ("Sec-Fetch-Site", "cross-site")]),
            ),
            ("same-site is another port", start(&[("Origin", ""), ("Sec-Fetch-Site", "same-site")])),
            (
                "preflight",
                server.request(
                    "OPTIONS",
                    "/api/runs",
                    &[("Origin", &evil), ("Access-Control-Request-Method", "POST")],
                    "",
                ),
            ),
            ("form", start(&[("Content-Type", "application/x-www-form-urlencoded")])),
            ("plain text", start(&[("Content-Type", "text/plain")])),
            ("multipart", start(&[("Content-Type", "multipart/form-data; boundary=x")])),
            ("no content type", post("/api/check", &[("Content-Type", "")], "{}")),
            // The token.
            ("no token", start(&[("Authorization", "")])),
            ("wrong token", start(&[("Authorization", "Bearer 00000000000000000000000000000000")])),
            ("empty token", start(&[("Authorization", "Bearer ")])),
            ("longer token", start(&[("Authorization", &longer)])),
            ("capital token", start(&[("Authorization", &format!("Bearer {capital}x"))])),
            ("another scheme", start(&[("Authorization", &format!("Basic {token}"))])),
            ("token twice", start(&[("Authorization", &twice)])),
            ("token as a cookie", start(&[("Authorization", ""), ("Cookie", &format!("token={token}"))])),
            (
                "token in the address",
                post(&format!("/api/runs?token={token}"), &[("Authorization", "")], START),
            ),
            ("stop without token", post("/api/runs/00000000/stop", &[("Authorization", "")], "{}")),
            ("delete without token", post("/api/runs/00000000/delete", &[("Authorization", "")], "{}")),
            (
                "marks without token",
                server.request(
                    "PUT",
                    "/api/runs/00000000/marks",
                    &[("Authorization", "")],
                    r#"{"tags":[],"note":""}"#,
                ),
            ),
            // Paths.
            ("parent folder", get("/../secret.rla", &[])),
            ("parent folder of assets", get("/assets/../../secret.rla", &[])),
            ("encoded parent folder", get("/assets/%2e%2e%2fsecret.rla", &[])),
            ("doubly encoded", get("/assets/%252e%252e%252fsecret.rla", &[])),
            ("backslashes", get("/assets/..%5c..%5csecret.rla", &[])),
            ("null byte", get("/assets/app.js%00.html", &[])),
            ("absolute path", get("/assets//etc/passwd", &[])),
            ("program by path", get("/api/program?of=/etc/passwd", &[])),
            ("program by relative path", get("/api/program?of=secret.rla", &[])),
            ("program by run path", get("/api/program?of=run:../../secret", &[])),
            ("program as an option", get("/api/program?of=--help", &[])),
            ("run by path", get("/api/runs/..%2f..%2fsecret.rla", &[])),
            (
                "curriculum by path",
                post("/api/runs", &[], r#"{"kind":"discover","curriculum":"/etc/passwd"}"#),
            ),
            (
                "curriculum as an option",
                post("/api/runs", &[], r#"{"kind":"discover","curriculum":"--help"}"#),
            ),
            ("data of a curriculum", post("/api/runs", &[], data)),
            ("resume by path", post("/api/runs/..%2fx/resume", &[], "{}")),
            ("resume as an option", post("/api/runs/--help/resume", &[], "{}")),
            ("campaign by path", get("/api/campaigns/..%2fsecret.rla", &[])),
            ("campaign by absolute path", get("/api/campaigns//etc/passwd", &[])),
            ("campaign by place", get("/api/campaigns/0", &[])),
            ("campaign of another page", get("/api/campaigns", &[("Origin", &evil)])),
            ("campaign of a rebound host", get("/api/campaigns", &[("Host", &rebound)])),
            ("another campaign", post("/api/campaigns", &[], r#"{"folder":"/etc"}"#)),
            (
                "a campaign in place of another",
                server.request("PUT", "/api/campaigns", &[], r#"["/etc/passwd"]"#),
            ),
            // Bodies, headers and methods.
            ("oversized body", post("/api/check", &[], &large)),
            (
                "announced length",
                raw(
                    "POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n",
                ),
            ),
            (
                "body that ends early",
                raw(
                    "POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}",
                ),
            ),
            ("no JSON", post("/api/check", &[], "{")),
            ("deep JSON", post("/api/check", &[], &deep)),
            ("JSON of another form", post("/api/runs", &[], "[1,2,3]")),
            (
                "unknown key",
                post(
                    "/api/runs",
                    &[],
                    r#"{"kind":"discover","curriculum":"subsampled-ls-gd","policy":"/etc/passwd"}"#,
                ),
            ),
            ("many headers", raw(&format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n{many}\r\n"))),
            (
                "long header",
                raw(&format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX: {}\r\n\r\n", "z".repeat(100_000))),
            ),
            ("long address", get(&format!("/{}", "a".repeat(100_000)), &[])),
            ("smuggling by two framings", raw(smuggled)),
            ("smuggling by two lengths", raw(lengths)),
            (
                "chunked body",
                raw(
                    "POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                ),
            ),
            ("line break in a header", raw("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX: a\r\n b\r\n\r\n")),
            (
                "WebSocket",
                get(
                    "/api/events",
                    &[
                        ("Connection", "Upgrade"),
                        ("Upgrade", "websocket"),
                        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
                        ("Sec-WebSocket-Version", "13"),
                    ],
                ),
            ),
            ("HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
            ("TLS", vec![0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
            ("TRACE", server.request("TRACE", "/", &[], "")),
            ("CONNECT", raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n")),
            ("DELETE", server.request("DELETE", "/api/runs/00000000", &[], "")),
            ("nonsense", b"\0\0\0\0 hello\r\n\r\n".to_vec()),
        ];
        assert!(attacks.len() >= 40);
        for (name, bytes) in &attacks {
            let answer = server.answer(bytes);
            let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()).unwrap_or(0);
            // Without an answer the connection was closed.
            assert!(status == 0 || (400..500).contains(&status), "{name}: {status}\n{answer}");
            assert_eq!(
                answer.matches("HTTP/1.").count(),
                usize::from(status != 0),
                "{name}: one answer at most\n{answer}"
            );
            assert!(
                !answer.contains("root:") && !answer.contains("MAT_VEC_MUL"),
                "{name} read a file: {answer}"
            );
        }
        assert!(!server.folder.join("runs.db").exists(), "nothing was written");
        assert_eq!(server.status(&get("/api/about", &[])), 200, "the server goes on");
    });
}

#[test]
fn no_request_names_the_folder_of_a_campaign() {
    served("campaigns", false, |server| {
        let list = |path: &str| {
            let answer = server.answer(&server.request("GET", path, &[], ""));
            answer.split_once("\r\n\r\n").map(|(_, body)| body.to_string()).unwrap_or_default()
        };
        let usual = list("/api/campaigns");
        assert!(usual.contains("--help") && usual.contains("the command cannot be run"), "{usual}");
        for query in
            ["folder=/etc", "campaign=/etc/passwd", "place=1", "place=-1", "place=../secret.rla", "0=/etc"]
        {
            assert_eq!(list(&format!("/api/campaigns?{query}")), usual, "{query}");
        }
    });
}

#[test]
fn a_read_only_page_changes_nothing() {
    served("read-only", true, |server| {
        assert_eq!(server.token, "");
        for path in
            ["/api/runs", "/api/runs/00000000/stop", "/api/runs/00000000/resume", "/api/runs/00000000/delete"]
        {
            for token in ["Bearer ", "Bearer x", "Bearer undefined"] {
                let request = server.request("POST", path, &[("Authorization", token)], START);
                assert_eq!(server.status(&request), 403, "{path}");
            }
        }
        assert_eq!(server.status(&server.request("GET", "/api/runs", &[], "")), 200);
    });
}

#[test]
fn slow_clients_hinder_nobody() {
    served("slow", false, |server| {
        let mut slow: Vec<TcpStream> =
            (0..50).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
        for (number, stream) in slow.iter_mut().enumerate() {
            let host = format!("Host: 127.0.0.1:{}\r\n", server.port);
            let begun = match number % 2 {
                0 => format!("GET / HTTP/1.1\r\n{host}"),
                _ => format!(
                    "POST /api/check HTTP/1.1\r\n{host}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"
                ),
            };
            stream.write_all(begun.as_bytes()).unwrap();
        }
        assert_eq!(server.status(&server.request("GET", "/api/about", &[], "")), 200);
        // Each is given up after a while.
        let begun = Instant::now();
        for mut stream in slow {
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 2"));
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    });
}
