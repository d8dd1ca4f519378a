//! Versions of Kubernetes.

/// The newest minor version whose behaviour is known here.
pub const NEWEST_MINOR: u32 = 37;

/// A version such as `v1.36.3` or `v1.34.4-eks-113cf36`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 1.
    pub major: u32,
    /// Changes every four months.
    pub minor: u32,
}

impl Version {
    /// Reads `v1.36.3` and what vendors append to it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.strip_prefix('v').unwrap_or(text).split('.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
        Some(Self { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_vendors_write() {
        for (text, minor) in [("v1.36.3", 36), ("1.37.2", 37), ("v1.34.4-eks-113cf36", 34), ("v1.33+", 33)] {
            assert_eq!(Version::parse(text), Some(Version { major: 1, minor }), "{text}");
        }
        assert_eq!(Version::parse("unknown"), None);
    }
}
