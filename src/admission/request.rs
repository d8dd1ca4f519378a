//! Requests about pods, as admission sees them.

use crate::snapshot::Map;
use crate::snapshot::pod::Pod;

/// A request about a pod of a namespace.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What is done.
    pub verb: Verb,
    /// The pod's namespace.
    pub namespace: &'a str,
    /// The labels of the object that is sent, or deleted; `None` for an Eviction and a Binding, which carry none.
    pub labels: Option<&'a Map>,
}

impl<'a> Request<'a> {
    /// A request about a pod.
    pub fn of(verb: Verb, pod: &'a Pod) -> Self {
        let labels = verb.subresource().is_none().then_some(&pod.meta.labels);
        Self { verb, namespace: pod.meta.ns(), labels }
    }
}

/// What is done with a pod, as admission sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A pod is created.
    Create,
    /// A pod is bound to its node: CREATE of `pods/binding`.
    Bind,
    /// A pod is evicted: CREATE of `pods/eviction`.
    Evict,
    /// A pod is deleted, by a person or, at the end, by its kubelet. What an eviction itself deletes, no webhook sees.
    Delete,
}

impl Verb {
    /// The operation, as rules name it.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Create | Self::Bind | Self::Evict => "CREATE",
            Self::Delete => "DELETE",
        }
    }

    /// The subresource of `pods`, if it is about one.
    pub fn subresource(self) -> Option<&'static str> {
        match self {
            Self::Create | Self::Delete => None,
            Self::Bind => Some("binding"),
            Self::Evict => Some("eviction"),
        }
    }
}
