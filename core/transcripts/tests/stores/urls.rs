//! Stores by URL.

use super::support::{batch, key, load};
use towline_transcripts::store::open;

#[test]
fn paths_are_taken_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    for (url, file) in [
        (format!("sqlite:{place}/a b%20.db"), "a b%20.db"),
        (format!("sqlite://{place}/c.db"), "c.db"),
        (format!("dir:{place}/d%20"), "d%20"),
        (format!("dir://{place}/e"), "e"),
        (format!("file:{place}/f"), "f"),
        (format!("file://{place}/g%20%C3%A9"), "g é"),
    ] {
        open(&url).unwrap().append(&key(), &batch(1, 0)).unwrap();
        assert!(folder.path().join(file).exists(), "{url}");
        assert_eq!(load(&*open(&url).unwrap()).len(), 5, "{url}");
    }
    assert!(open("memory:").is_ok() && open("memory://").is_ok());
}

#[test]
fn wrong_urls_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    for (url, word) in [
        ("".to_owned(), "sqlite:PATH"),
        ("store.db".to_owned(), "sqlite:store.db"),
        ("mysql://x/y".to_owned(), "\"mysql\" is unknown"),
        ("memory:name".to_owned(), "takes no name"),
        ("sqlite:".to_owned(), "path is missing"),
        ("sqlite://host/x".to_owned(), "absolute path"),
        ("file://host/x".to_owned(), "absolute path"),
        (format!("file://{place}/%zz"), "hexadecimal"),
        (format!("file://{place}/%00"), "hexadecimal"),
        (format!("sqlite:{place}/none/x.db"), "folder must exist"),
        (format!("sqlite:{place}"), "dir:PATH"),
        ("dir:/proc/none/x".to_owned(), "/proc/none/x"),
        ("postgres://host:x/".to_owned(), "URL is wrong"),
        (
            "postgres://localhost/x?sslmode=always".to_owned(),
            "verify-full",
        ),
        (
            "postgres:///x?host=/none&user=u".to_owned(),
            "cannot connect",
        ),
    ] {
        let Err(error) = open(&url) else {
            panic!("{url}");
        };
        assert!(error.message.contains(word), "{url}: {error}");
    }
    let Err(error) = open("postgres://u:hidden@host:x/") else {
        panic!("a port that is none");
    };
    assert!(!error.message.contains("hidden"), "{error}");
}

#[test]
#[cfg(not(feature = "postgres-tls"))]
fn without_tls_nothing_that_asks_for_it_is_opened() {
    for asks in [
        "sslmode=require",
        "sslmode=verify-ca",
        "sslmode=verify-full",
        "sslmode=prefer&sslrootcert=/none.pem",
    ] {
        let Err(error) = open(&format!("postgres://localhost/x?{asks}")) else {
            panic!("{asks}");
        };
        assert!(error.message.contains("no TLS"), "{asks}: {error}");
    }
}
