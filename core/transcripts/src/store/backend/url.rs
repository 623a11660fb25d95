//! Stores by URL.

use std::path::PathBuf;

use crate::store::{SessionStore, StoreError};

use super::{DirectoryStore, MemoryStore};

const KNOWN: &str =
    "a store URL is `memory:`, `sqlite:PATH`, `dir:PATH`, `file:///PATH` or `postgres://…`";

/// Opens the store that `url` names, creating what is not there yet:
///
/// - `memory:` — in this process, gone with it;
/// - `sqlite:PATH` — one file (the feature `sqlite`); `sqlite:///absolute/path` too;
/// - `dir:PATH` or `file:///absolute/path` — a folder of JSON lines files laid out as the CLI's
///   `projects`; in a `file://` URL `%20` is a space;
/// - `postgres://user@host/database?…` — a database that many hosts share (the feature `postgres`);
///   the parameters of `libpq`, and `answer_timeout`: the seconds that a call may take (60; 0 is no
///   limit). `sslmode` is `disable`, `prefer` (the default), `require`, `verify-ca`
///   or `verify-full`, `sslrootcert` a file of certificates that are trusted (else those of the
///   system are). TLS needs the feature `postgres-tls`; without it `prefer` is as `disable`, and
///   what goes beyond is an error.
///
/// Errors name what is wrong with the URL or what could not be opened.
pub fn open(url: &str) -> Result<Box<dyn SessionStore>, StoreError> {
    let Some((scheme, rest)) = url.split_once(':') else {
        return Err(StoreError::failed(format_args!(
            "{KNOWN}, not {url:?}; for a file write sqlite:{url}"
        )));
    };
    match scheme {
        "memory" if rest.is_empty() || rest == "//" => Ok(Box::new(MemoryStore::new())),
        "memory" => Err(StoreError::failed(format_args!(
            "`memory:` takes no name, but {rest:?} was given"
        ))),
        "sqlite" => sqlite(path(scheme, rest, false)?),
        "dir" => Ok(Box::new(DirectoryStore::open(path(scheme, rest, false)?)?)),
        "file" => Ok(Box::new(DirectoryStore::open(path(scheme, rest, true)?)?)),
        "postgres" | "postgresql" => postgres(url),
        _ => Err(StoreError::failed(format_args!(
            "{KNOWN}; {scheme:?} is unknown"
        ))),
    }
}

/// As [`open`], for who only reads: a file or folder that is not there is an error and is not made.
pub fn open_existing(url: &str) -> Result<Box<dyn SessionStore>, StoreError> {
    if let Some((scheme @ ("sqlite" | "dir" | "file"), rest)) = url.split_once(':') {
        let place = path(scheme, rest, scheme == "file")?;
        if !place.exists() {
            let what = match scheme {
                "sqlite" => "file",
                _ => "folder",
            };
            return Err(StoreError::failed(format_args!(
                "{url}: there is no such {what}: {}",
                place.display()
            )));
        }
    }
    open(url)
}

/// The path after a scheme: `relative`, `/absolute` or `///absolute`.
fn path(scheme: &str, rest: &str, decode: bool) -> Result<PathBuf, StoreError> {
    let wrong = |what: &str| Err(StoreError::failed(format_args!("{scheme}:{rest}: {what}")));
    let (text, is_url) = match rest.strip_prefix("//") {
        Some(after) if after.starts_with('/') => (after, true),
        Some(_) => return wrong("after `//` an absolute path is expected, as in `///tmp/x`"),
        None => (rest, false),
    };
    if text.is_empty() {
        return wrong("the path is missing");
    }
    if text.contains('\0') {
        return wrong("a path contains no NUL");
    }
    if !(decode && is_url) {
        return Ok(PathBuf::from(text));
    }
    match percent_decoded(text) {
        Some(decoded) => Ok(PathBuf::from(decoded)),
        None => wrong("a `%` is followed by two hexadecimal digits, and the path is UTF-8"),
    }
}

pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        out.push(u8::try_from(value).ok().filter(|&byte| byte != 0)?);
    }
    String::from_utf8(out).ok()
}

#[cfg(feature = "sqlite")]
fn sqlite(path: PathBuf) -> Result<Box<dyn SessionStore>, StoreError> {
    Ok(Box::new(super::SqliteStore::open(path)?))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_: PathBuf) -> Result<Box<dyn SessionStore>, StoreError> {
    Err(StoreError::failed(
        "this build has no SQLite stores: build with the feature `sqlite`",
    ))
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<Box<dyn SessionStore>, StoreError> {
    Ok(Box::new(super::PostgresStore::open(url)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str) -> Result<Box<dyn SessionStore>, StoreError> {
    Err(StoreError::failed(
        "this build has no PostgreSQL stores: build with the feature `postgres`",
    ))
}
