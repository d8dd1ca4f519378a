//! What the API server says when it does not give what was asked for: its `Status`, in JSON or protobuf.

use prost::bytes::Bytes;
use serde::Deserialize;

/// The encoding of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// JSON.
    Json,
    /// Kubernetes' protobuf: four bytes `k8s\0`, then an envelope (`runtime.Unknown`).
    Protobuf,
    /// Something that no API server sends, a login page for one.
    Other,
}

impl Encoding {
    /// From the value of a `Content-Type` header.
    #[must_use]
    pub fn of(content_type: &str) -> Self {
        match content_type.split(';').next().unwrap_or_default().trim() {
            "application/json" => Self::Json,
            "application/vnd.kubernetes.protobuf" => Self::Protobuf,
            _ => Self::Other,
        }
    }
}

/// The parts of `metav1.Status` that are for people.
#[derive(Clone, PartialEq, Eq, Deserialize, prost::Message)]
#[serde(default)]
pub struct Status {
    #[prost(string, tag = "3")]
    pub message: String,
    #[prost(string, tag = "4")]
    pub reason: String,
}

/// `runtime.Unknown`, the envelope of protobuf. Zero-copy: `raw` is a part of the body.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Envelope {
    #[prost(message, optional, tag = "1")]
    type_meta: Option<TypeMeta>,
    /// The object inside.
    #[prost(bytes = "bytes", tag = "2")]
    pub raw: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TypeMeta {
    #[prost(string, tag = "2")]
    kind: String,
}

impl Envelope {
    /// Takes off the envelope of a protobuf answer.
    ///
    /// # Errors
    /// It has none.
    pub fn open(body: &Bytes) -> Result<Self, String> {
        let envelope = body.strip_prefix(b"k8s\0").ok_or("it does not begin as Kubernetes' protobuf does")?;
        prost::Message::decode(body.slice_ref(envelope)).map_err(|e| e.to_string())
    }

    /// The kind of the object inside.
    pub fn kind(&self) -> &str {
        self.type_meta.as_ref().map_or("", |meta| &meta.kind)
    }
}

/// The envelope around a list in protobuf.
#[cfg(test)]
pub(super) fn wrap(raw: Vec<u8>) -> Vec<u8> {
    prost::Message::encode_to_vec(&Envelope { type_meta: None, raw: raw.into() })
}

impl Status {
    /// Reads the body of a refusal. One that is no `Status` (a proxy's, a load balancer's) gives its first line.
    #[must_use]
    pub fn of(encoding: Encoding, body: &Bytes) -> Self {
        let parsed = match encoding {
            Encoding::Json => serde_json::from_slice(body).ok(),
            Encoding::Protobuf => {
                Envelope::open(body).ok().and_then(|envelope| prost::Message::decode(envelope.raw).ok())
            }
            Encoding::Other => None,
        };
        parsed.filter(|status: &Self| !status.message.is_empty() || !status.reason.is_empty()).unwrap_or_else(|| {
            let text = String::from_utf8_lossy(body);
            let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            Self { message: line.chars().take(200).collect(), reason: String::new() }
        })
    }

    /// The words for a refusal with HTTP status `code`.
    #[must_use]
    pub fn words(&self, code: u16) -> String {
        match (self.message.as_str(), self.reason.as_str()) {
            ("", "") => format!("HTTP status {code}"),
            ("", reason) => format!("{reason} ({code})"),
            (message, _) => format!("{message} ({code})"),
        }
    }

    /// What a 403 lacks, in the words of an RBAC rule, if the message has the form of the API server's authorizer:
    /// `… User "U" cannot VERB resource "R" in API group "G" in the namespace "N"`, or `at the cluster scope`.
    #[must_use]
    pub fn missing_right(&self) -> Option<MissingRight> {
        let (_, rest) = self.message.split_once("User \"")?;
        let (user, rest) = rest.split_once("\" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        let (resource, rest) = rest.split_once("\" in API group \"")?;
        let (group, rest) = rest.split_once('"')?;
        let namespace = rest.strip_prefix(" in the namespace \"").and_then(|rest| rest.split_once('"'));
        let resource = match group {
            "" => resource.to_owned(),
            group => match resource.split_once('/') {
                Some((resource, sub)) => format!("{resource}.{group}/{sub}"),
                None => format!("{resource}.{group}"),
            },
        };
        Some(MissingRight {
            user: user.to_owned(),
            verb: verb.to_owned(),
            resource,
            namespace: namespace.map(|(name, _)| name.to_owned()),
        })
    }
}

/// A right that the API server missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRight {
    pub user: String,
    /// `get` or `list`.
    pub verb: String,
    /// Like `poddisruptionbudgets.policy`, with a subresource `deployments.apps/scale`.
    pub resource: String,
    /// `None` for the whole cluster.
    pub namespace: Option<String>,
}

impl std::fmt::Display for MissingRight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { user, verb, resource, namespace } = self;
        match namespace {
            Some(namespace) => write!(f, "{user} may not {verb} {resource} in the namespace {namespace}"),
            None => write!(f, "{user} may not {verb} {resource} in the whole cluster"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(message: &str) -> Status {
        Status { message: message.into(), reason: "Forbidden".into() }
    }

    #[test]
    fn encodings() {
        let rows = [
            ("application/json", Encoding::Json),
            ("application/json; charset=utf-8", Encoding::Json),
            ("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", Encoding::Json),
            ("application/vnd.kubernetes.protobuf", Encoding::Protobuf),
            ("application/vnd.kubernetes.protobuf;stream=watch", Encoding::Protobuf),
            ("text/html", Encoding::Other),
            ("", Encoding::Other),
        ];
        for (header, want) in rows {
            assert_eq!(Encoding::of(header), want, "{header}");
        }
    }

    #[test]
    fn a_status_is_read_in_both_encodings() {
        let body = Bytes::from_static(
            br#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"Expired","code":410}"#,
        );
        let want = Status { message: "m".into(), reason: "Expired".into() };
        assert_eq!(Status::of(Encoding::Json, &body), want);
        // What Go's serializer writes for the same: Unknown{typeMeta{v1, Status}, raw: Status{metadata, status, message, reason}}.
        let raw = b"\x0a\x00\x12\x07Failure\x1a\x01m\x22\x07Expired\x30\x9a\x03";
        let mut body = b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12".to_vec();
        body.push(raw.len() as u8);
        body.extend_from_slice(raw);
        body.extend_from_slice(b"\x1a\x00\x22\x00");
        assert_eq!(Status::of(Encoding::Protobuf, &body.into()), want);
    }

    #[test]
    fn what_is_no_status_gives_its_first_line() {
        let page = Bytes::from_static(b"\n  upstream connect error\n more");
        assert_eq!(Status::of(Encoding::Other, &page).words(503), "upstream connect error (503)");
        assert_eq!(Status::of(Encoding::Json, &page).words(503), "upstream connect error (503)");
        assert_eq!(Status::of(Encoding::Protobuf, &Bytes::new()).words(502), "HTTP status 502");
    }

    #[test]
    fn a_missing_right_is_named() {
        // Messages of a 1.36 API server.
        let rows = [
            (
                r#"pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope"#,
                Some("dev may not list pods in the whole cluster"),
            ),
            (
                r#"poddisruptionbudgets.policy is forbidden: User "system:serviceaccount:a:b" cannot list resource "poddisruptionbudgets" in API group "policy" in the namespace "shop""#,
                Some("system:serviceaccount:a:b may not list poddisruptionbudgets.policy in the namespace shop"),
            ),
            (
                r#"deployments.apps "web" is forbidden: User "dev" cannot get resource "deployments/scale" in API group "apps" in the namespace "shop": no"#,
                Some("dev may not get deployments.apps/scale in the namespace shop"),
            ),
            ("forbidden: something else", None),
        ];
        for (message, want) in rows {
            assert_eq!(json(message).missing_right().map(|right| right.to_string()).as_deref(), want);
        }
    }
}
