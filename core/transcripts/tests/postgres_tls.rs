//! TLS to a real PostgreSQL server, whose certificates are made here (needs `openssl`).

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use postgres::{Client, NoTls};
use towline_testkit::TemporaryPostgres;
use towline_transcripts::store::{open, Entry, SessionKey};

fn openssl(folder: &Path, arguments: &[&str]) {
    let made = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("openssl is missing; Debian: apt-get install openssl");
    assert!(made.status.success(), "{made:?}");
}

/// An authority `ca.pem`, and a certificate `server.pem` of it for `localhost`.
fn certificates(folder: &Path) {
    let new = ["req", "-newkey", "rsa:2048", "-nodes", "-subj"];
    let authority: Vec<&str> = [
        &new[..],
        &["/CN=authority", "-x509", "-days", "2"],
        &["-keyout", "ca.key", "-out", "ca.pem"],
    ]
    .concat();
    openssl(folder, &authority);
    let request: Vec<&str> = [
        &new[..],
        &[
            "/CN=localhost",
            "-keyout",
            "server.key",
            "-out",
            "server.csr",
        ],
    ]
    .concat();
    openssl(folder, &request);
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let signing = [
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    ];
    openssl(folder, &signing);
    // Of another authority.
    let other: Vec<&str> = [
        &new[..],
        &["/CN=other", "-x509", "-days", "2"],
        &["-keyout", "other.key", "-out", "other.pem"],
    ]
    .concat();
    openssl(folder, &other);
}

#[test]
fn every_mode_asks_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let mut server = TemporaryPostgres::start().unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    server
        .serve_tls(port, &read("server.pem"), &read("server.key"))
        .unwrap();
    let url = |host: &str, more: &str| {
        format!("postgres://postgres@{host}:{port}/postgres?{more}&application_name=tls")
    };
    let root = |name: &str| format!("sslrootcert={}", folder.path().join(name).display());
    let refused = |url: String| {
        open(&url)
            .err()
            .map(|error| error.message)
            .unwrap_or_default()
    };
    let ca = root("ca.pem");

    // Without a proof.
    for mode in ["sslmode=require", "sslmode=prefer", ""] {
        let store = open(&url("localhost", mode)).unwrap();
        assert!(encrypted(&server), "{mode}");
        drop(store);
    }
    let plain = open(&url("localhost", "sslmode=disable")).unwrap();
    assert!(!encrypted(&server));
    drop(plain);

    // With one; entries go both ways.
    let store = open(&url("localhost", &format!("sslmode=verify-full&{ca}"))).unwrap();
    let key = SessionKey::main("-p", "s");
    let long = format!(r#"{{"type":"x","text":"{}"}}"#, "ü".repeat(100_000));
    store
        .append(&key, &[Entry::new(long.as_str()).unwrap()])
        .unwrap();
    assert_eq!(store.load(&key).unwrap().unwrap()[0].as_str(), long);
    assert!(encrypted(&server));
    drop(store);
    // The certificate itself may be what is trusted.
    let own = root("server.pem");
    open(&url("localhost", &format!("sslmode=verify-full&{own}"))).unwrap();

    // The certificate is for another name than this address.
    let wrong_host = refused(url("127.0.0.1", &format!("sslmode=verify-full&{ca}")));
    assert!(wrong_host.contains("not valid for"), "{wrong_host}");
    let wrong_host = refused(url("127.0.0.1", &format!("sslmode=verify-full&{own}")));
    assert!(wrong_host.contains("not valid for"), "{wrong_host}");
    open(&url("127.0.0.1", &format!("sslmode=verify-ca&{ca}"))).unwrap();

    // Of an authority that is not trusted: by the file, by the system.
    for mode in ["verify-ca", "verify-full", "require"] {
        let other = refused(url(
            "localhost",
            &format!("sslmode={mode}&{}", root("other.pem")),
        ));
        assert!(
            other.contains("invalid peer certificate"),
            "{mode}: {other}"
        );
    }
    let system = refused(url("localhost", "sslmode=verify-full"));
    assert!(
        system.contains("invalid peer certificate") || system.contains("name a file"),
        "{system}"
    );
    let missing = refused(url(
        "localhost",
        &format!("sslmode=verify-ca&{}", root("none.pem")),
    ));
    assert!(missing.contains("none.pem"), "{missing}");
    let unknown = refused(url("localhost", "sslmode=always"));
    assert!(unknown.contains("verify-full"), "{unknown}");
}

/// Whether the connection of the store that is open is encrypted.
fn encrypted(server: &TemporaryPostgres) -> bool {
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    let found = client.query_one(
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE application_name = 'tls' ORDER BY backend_start DESC LIMIT 1",
        &[],
    );
    found.unwrap().get(0)
}
