//! What a `postgres://` URL says, and what of it is about TLS.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::Config;

use super::super::url::percent_decoded;
use super::told;
use crate::store::StoreError;

/// How far the server has to prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// It need not: `disable`, `prefer` and `require`.
    None,
    /// By a certificate of an authority that is trusted: `verify-ca`.
    Authority,
    /// By one for the host of the URL: `verify-full`.
    Host,
}

/// Where a database is and how to talk to it.
#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) proof: Proof,
    /// `sslrootcert`: a file of trusted certificates; else those of the system.
    pub(super) roots: Option<PathBuf>,
    /// `answer_timeout`: how long a call may take; `Some(None)` is for ever.
    pub(super) answer: Option<Option<Duration>>,
}

impl Address {
    pub(super) fn of_url(url: &str) -> Result<Address, StoreError> {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let mut rest = Vec::new();
        let mut mode = SslMode::Prefer;
        let mut proof = Proof::None;
        let mut roots = None;
        let mut answer = None;
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", name)) => (mode, proof) = mode_named(name)?,
                Some(("sslrootcert", path)) => {
                    let path = percent_decoded(path).ok_or_else(|| wrong("sslrootcert"))?;
                    roots = Some(path)
                        .filter(|path| path != "system")
                        .map(PathBuf::from);
                }
                Some(("answer_timeout", seconds)) => answer = Some(limit_of(seconds)?),
                _ => rest.push(parameter),
            }
        }
        // The URL may hold a password: it is not repeated.
        let mut config: Config = format!("{place}?{}", rest.join("&"))
            .parse()
            .map_err(|error: tokio_postgres::Error| wrong(&told(&error)))?;
        config.ssl_mode(mode);
        // With trusted certificates at hand they are used, as libpq does.
        if mode == SslMode::Require && roots.is_some() && proof == Proof::None {
            proof = Proof::Authority;
        }
        Ok(Address {
            config,
            proof,
            roots,
            answer,
        })
    }
}

/// A time in seconds; 0 is no limit.
fn limit_of(seconds: &str) -> Result<Option<Duration>, StoreError> {
    let limit = seconds.parse().ok().map(Duration::try_from_secs_f64);
    match limit {
        Some(Ok(limit)) => Ok(Some(limit).filter(|limit| !limit.is_zero())),
        _ => Err(wrong(&format!(
            "answer_timeout={seconds} is no number of seconds"
        ))),
    }
}

fn mode_named(name: &str) -> Result<(SslMode, Proof), StoreError> {
    Ok(match name {
        "disable" => (SslMode::Disable, Proof::None),
        "prefer" => (SslMode::Prefer, Proof::None),
        "require" => (SslMode::Require, Proof::None),
        "verify-ca" => (SslMode::Require, Proof::Authority),
        "verify-full" => (SslMode::Require, Proof::Host),
        _ => {
            return Err(wrong(&format!(
                "sslmode={name} is none of disable, prefer, require, verify-ca and verify-full"
            )))
        }
    })
}

fn wrong(what: &str) -> StoreError {
    StoreError::failed(format_args!("the postgres URL is wrong: {what}"))
}
