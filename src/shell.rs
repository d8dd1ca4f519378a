//! Command lines that can be pasted as they are.

use crate::snapshot::Snapshot;
use shlex::Quoter;
use std::borrow::Cow;

/// Writes kubectl command lines for one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kubectl {
    /// The context to name: that of a live cluster.
    context: Option<String>,
}

impl Kubectl {
    /// For the cluster a snapshot came from. A file's context is not named: it need not exist where the line is pasted.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self { context: if snapshot.source.files.is_empty() { snapshot.source.context.clone() } else { None } }
    }

    /// `kubectl ARGS… [-n NS] [--context C]`, each argument quoted where it needs to be. The namespace is empty for
    /// objects outside namespaces.
    pub fn line(&self, namespace: &str, args: &[&str]) -> String {
        let mut line = "kubectl".to_owned();
        let mut push = |arg: &str| {
            line.push(' ');
            line.push_str(&quote(arg));
        };
        args.iter().for_each(|a| push(a));
        if !namespace.is_empty() {
            push("-n");
            push(namespace);
        }
        if let Some(context) = &self.context {
            push("--context");
            push(context);
        }
        line
    }
}

/// The argument as a POSIX shell reads it back. What needs no quotes has none: a flag with its value stays readable.
pub fn quote(arg: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        return Cow::Borrowed(arg);
    }
    // Nothing else than a NUL could go wrong.
    Quoter::new().allow_nul(true).quote(arg).unwrap_or(Cow::Borrowed("''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_they_need_to_be() {
        for (arg, want) in [
            ("deployment/web", "deployment/web"),
            ("", "''"),
            ("a b", "'a b'"),
            (r#"{"spec":{"x":1}}"#, r#"'{"spec":{"x":1}}'"#),
            ("it's; rm -rf /", r#""it's; rm -rf /""#),
            ("$(x) `y` \"z\"", r#"'$(x) `y` "z"'"#),
            ("it's $HOME!", r#""it's "'$HOME!'"#),
        ] {
            assert_eq!(quote(arg), want);
        }
        let live = Kubectl { context: Some("prod eu".to_owned()) };
        assert_eq!(live.line("shop", &["get", "pdb"]), "kubectl get pdb -n shop --context 'prod eu'");
        assert_eq!(Kubectl::default().line("", &["uncordon", "n1"]), "kubectl uncordon n1");
    }
}
