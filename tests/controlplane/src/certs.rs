//! A certificate authority, serving certificates, and the key pair that signs service-account tokens.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType,
};

/// Where the files lie.
#[derive(Debug, Clone)]
pub struct Certificates {
    /// The authority, PEM.
    pub ca: PathBuf,
    /// The API server's certificate, PEM.
    pub cert: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// The private key that signs service-account tokens, PEM.
    pub service_account_key: PathBuf,
    /// The public half of it, PEM.
    pub service_account_public: PathBuf,
    /// Signs more of them.
    pub authority: Arc<Authority>,
}

/// What signs.
pub struct Authority {
    params: CertificateParams,
    key: KeyPair,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

impl Authority {
    fn make() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).context("name the authority")?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "controlplane-test-ca");
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Ok(Self { params, key: KeyPair::generate().context("make a key")? })
    }

    /// A serving certificate for these host names, and loopback, with its key.
    pub fn serving(&self, names: &[&str]) -> Result<(Certificate, KeyPair)> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).context("name a server")?;
        params.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        params.distinguished_name.push(DnType::CommonName, "controlplane-test");
        let key = KeyPair::generate().context("make a key")?;
        let issuer = Issuer::from_params(&self.params, &self.key);
        let cert = params.signed_by(&key, &issuer).context("sign a serving certificate")?;
        Ok((cert, key))
    }
}

impl Certificates {
    /// Makes all of them in `folder`.
    pub fn make(folder: &Path) -> Result<Self> {
        let authority = Authority::make()?;
        let authority_cert = authority.params.self_signed(&authority.key).context("sign the authority")?;
        let (cert, key) = authority.serving(&["localhost", "kubernetes.default.svc"])?;
        let service_account = KeyPair::generate().context("make a key")?;
        let write = |name: &str, text: String| -> Result<PathBuf> {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
            Ok(path)
        };
        Ok(Self {
            ca: write("ca.crt", authority_cert.pem())?,
            cert: write("apiserver.crt", cert.pem())?,
            key: write("apiserver.key", key.serialize_pem())?,
            service_account_key: write("sa.key", service_account.serialize_pem())?,
            service_account_public: write("sa.pub", service_account.public_key_pem())?,
            authority: Arc::new(authority),
        })
    }
}
