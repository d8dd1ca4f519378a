//! A certificate authority, a serving certificate for loopback, and the key pair that signs service-account tokens.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};

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
}

impl Certificates {
    /// Makes all of them in `folder`.
    pub fn make(folder: &Path) -> Result<Self> {
        let mut authority = CertificateParams::new(Vec::new()).context("name the authority")?;
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "controlplane-test-ca");
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority_key = KeyPair::generate().context("make a key")?;
        let authority_cert = authority.self_signed(&authority_key).context("sign the authority")?;

        let mut serving = CertificateParams::new(vec!["localhost".to_owned(), "kubernetes.default.svc".to_owned()])
            .context("names")?;
        serving.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        serving.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        let serving_key = KeyPair::generate().context("make a key")?;
        let issuer = Issuer::from_params(&authority, &authority_key);
        let serving_cert = serving.signed_by(&serving_key, &issuer).context("sign the serving certificate")?;

        let service_account = KeyPair::generate().context("make a key")?;
        let write = |name: &str, text: String| -> Result<PathBuf> {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
            Ok(path)
        };
        Ok(Self {
            ca: write("ca.crt", authority_cert.pem())?,
            cert: write("apiserver.crt", serving_cert.pem())?,
            key: write("apiserver.key", serving_key.serialize_pem())?,
            service_account_key: write("sa.key", service_account.serialize_pem())?,
            service_account_public: write("sa.pub", service_account.public_key_pem())?,
        })
    }
}
