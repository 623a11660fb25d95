//! TLS to a PostgreSQL server.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_name, WebPkiServerVerifier};
use rustls::crypto::{ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Proof};
use super::connected;
use crate::store::StoreError;

/// Connects as the URL wants it.
pub(super) async fn connect(config: &Config, address: &Address) -> Result<Client, StoreError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        proof: address.proof,
        trusted: trusted(address, &provider)?,
        provider: Arc::clone(&provider),
    };
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(StoreError::failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    connected(config.connect(MakeRustlsConnect::new(tls)).await)
}

/// The authorities that are trusted, and the certificates themselves.
#[derive(Debug)]
struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

fn trusted(
    address: &Address,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Trusted>, StoreError> {
    if address.proof == Proof::None {
        return Ok(None);
    }
    let certificates = match &address.roots {
        Some(file) => certificates_in(file)?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.iter().cloned());
    let chains = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider))
        .build()
        .map_err(|error| {
            StoreError::failed(format_args!(
                "no certificate is trusted, so that sslmode=verify-… cannot be: {error}; \
                 name a file by sslrootcert"
            ))
        })?;
    Ok(Some(Trusted {
        chains,
        certificates,
    }))
}

fn certificates_in(file: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    CertificateDer::pem_file_iter(file)
        .and_then(|found| found.collect::<Result<_, _>>())
        .map_err(|error| {
            StoreError::failed(format_args!("sslrootcert {}: {error}", file.display()))
        })
}

/// Asks of a server's certificate what `sslmode` says.
#[derive(Debug)]
struct Verifier {
    proof: Proof,
    /// `None` where nothing is asked.
    trusted: Option<Trusted>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        // A certificate that signs itself is no authority for the library, but it is trusted.
        let itself = trusted.certificates.iter().any(|one| one == certificate);
        let verified = match itself {
            true => ParsedCertificate::try_from(certificate)
                .and_then(|parsed| verify_server_name(&parsed, host))
                .map(|()| ServerCertVerified::assertion()),
            false => {
                let chains = &trusted.chains;
                chains.verify_server_cert(certificate, intermediates, host, ocsp, now)
            }
        };
        match verified {
            // Names are looked at after everything else.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.proof == Proof::Authority => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
