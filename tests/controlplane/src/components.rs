//! The upstream components: which versions there are, where their Go modules lie, and how they are built.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A Kubernetes minor version whose components the project builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Version {
    /// Kubernetes 1.36
    #[value(name = "1.36")]
    V1_36,
    /// Kubernetes 1.37
    #[value(name = "1.37")]
    V1_37,
}

impl Version {
    /// `1.36`, which is also the folder of its Go module.
    pub fn minor(self) -> &'static str {
        match self {
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
        }
    }

    /// The version as the API server reports it, read from the module's go.mod: `v1.36.3`.
    pub fn full(self) -> Result<String> {
        let file = self.module().join("go.mod");
        let text = std::fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
        let version = text.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
        let version = version.and_then(|rest| rest.split_whitespace().next());
        version.map(str::to_owned).with_context(|| format!("{} names no k8s.io/kubernetes", file.display()))
    }

    /// The folder of its Go module.
    pub fn module(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("components").join(self.minor())
    }
}

/// The built executables of one version.
#[derive(Debug, Clone)]
pub struct Components {
    /// As the API server reports it: `v1.36.3`.
    pub version: String,
    folder: PathBuf,
}

impl Components {
    /// Builds what is not built yet. Go's build cache makes a second build a matter of seconds.
    pub fn build(version: Version) -> Result<Self> {
        let folder = target_folder().join("controlplane").join(version.minor());
        let full = version.full()?;
        let built = Self { version: full.clone(), folder };
        let stamp = built.folder.join("built");
        let module = version.module();
        let wanted = std::fs::read_to_string(module.join("go.mod")).context("read go.mod")?;
        if std::fs::read_to_string(&stamp).is_ok_and(|done| done == wanted) {
            return Ok(built);
        }
        std::fs::create_dir_all(&built.folder).context("make the folder of the components")?;
        eprintln!("building the components of {full} (minutes at first, seconds from Go's build cache)");
        let package = "k8s.io/component-base/version";
        let minor = version.minor().trim_start_matches("1.");
        let flags =
            format!("-s -w -X {package}.gitVersion={full} -X {package}.gitMajor=1 -X {package}.gitMinor={minor}");
        let status = Command::new("go")
            .args(["build", "-trimpath", "-mod=readonly", "-ldflags", &flags, "-o"])
            .arg(format!("{}/", built.folder.display()))
            .arg("tool")
            .current_dir(&module)
            .status()
            .context("run go (is Go 1.26 installed?)")?;
        if !status.success() {
            bail!("go build of the components of {full} failed: {status}");
        }
        std::fs::write(&stamp, wanted).context("note that the components are built")?;
        Ok(built)
    }

    /// etcd; the module's main package is called `server`.
    pub fn etcd(&self) -> PathBuf {
        self.folder.join("server")
    }

    /// kube-apiserver.
    pub fn apiserver(&self) -> PathBuf {
        self.folder.join("kube-apiserver")
    }

    /// kube-controller-manager.
    pub fn controller_manager(&self) -> PathBuf {
        self.folder.join("kube-controller-manager")
    }

    /// kube-scheduler.
    pub fn scheduler(&self) -> PathBuf {
        self.folder.join("kube-scheduler")
    }

    /// kubectl.
    pub fn kubectl(&self) -> PathBuf {
        self.folder.join("kubectl")
    }
}

/// Cargo's target folder: that of the running executable, so that a shared target folder is honoured.
fn target_folder() -> PathBuf {
    let from_exe = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.parent()?.to_owned()));
    from_exe.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}
