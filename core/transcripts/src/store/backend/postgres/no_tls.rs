//! A build without TLS.

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};

use super::address::{Address, Proof};
use super::connected;
use crate::store::StoreError;

/// Connects without TLS, where nothing in the URL asks for it.
pub(super) async fn connect(config: &Config, address: &Address) -> Result<Client, StoreError> {
    let proof = address.proof != Proof::None || address.roots.is_some();
    if proof || config.get_ssl_mode() == SslMode::Require {
        return Err(StoreError::failed(
            "this build has no TLS for PostgreSQL: build with the feature `postgres-tls`, or use \
             sslmode=disable over a socket, a private network or a tunnel",
        ));
    }
    connected(config.connect(NoTls).await)
}
