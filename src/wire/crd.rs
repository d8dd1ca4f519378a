//! CustomResourceDefinitions: where the scale of a custom owner stands. Read as JSON only.

use super::meta::ObjectMeta;
use serde::{Deserialize, Serialize};

/// `apiextensions/v1.CustomResourceDefinition`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CustomResourceDefinition {
    #[serde(default, deserialize_with = "super::nullable")]
    pub metadata: Option<ObjectMeta>,
    #[serde(default)]
    pub spec: CrdSpec,
}

/// `apiextensions/v1.CustomResourceDefinitionSpec`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CrdSpec {
    pub group: String,
    pub names: CrdNames,
    pub scope: String,
    #[serde(deserialize_with = "super::nullable")]
    pub versions: Vec<CrdVersion>,
}

/// `apiextensions/v1.CustomResourceDefinitionNames`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CrdNames {
    pub kind: String,
    pub plural: String,
}

/// `apiextensions/v1.CustomResourceDefinitionVersion`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CrdVersion {
    pub name: String,
    #[serde(deserialize_with = "super::nullable")]
    pub subresources: Option<CrdSubresources>,
}

/// `apiextensions/v1.CustomResourceSubresources`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CrdSubresources {
    #[serde(deserialize_with = "super::nullable")]
    pub scale: Option<CrdScale>,
}

/// `apiextensions/v1.CustomResourceSubresourceScale`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the Kubernetes API")]
pub struct CrdScale {
    pub spec_replicas_path: String,
}
