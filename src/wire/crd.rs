//! CustomResourceDefinitions: where the scale of a custom owner stands.

use super::macros::wire;
use super::meta::ObjectMeta;

wire! {
    as (apiextensions_apiserver::pkg::apis::apiextensions::v1);

    /// `apiextensions.CustomResourceDefinition`.
    CustomResourceDefinition {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(CustomResourceDefinitionSpec) = 2,
    }

    /// `apiextensions.CustomResourceDefinitionSpec`.
    CustomResourceDefinitionSpec {
        group: str = 1,
        names: msg(CustomResourceDefinitionNames) = 3,
        scope: str = 4,
        versions: list(CustomResourceDefinitionVersion) = 7,
    }

    /// `apiextensions.CustomResourceDefinitionNames`.
    CustomResourceDefinitionNames {
        plural: str = 1,
        kind: str = 4,
    }

    /// `apiextensions.CustomResourceDefinitionVersion`.
    CustomResourceDefinitionVersion {
        name: str = 1,
        subresources: msg(CustomResourceSubresources) = 5,
    }

    /// `apiextensions.CustomResourceSubresources`.
    CustomResourceSubresources {
        scale: msg(CustomResourceSubresourceScale) = 2,
    }

    /// `apiextensions.CustomResourceSubresourceScale`.
    CustomResourceSubresourceScale {
        spec_replicas_path: str = 1,
    }
}

impl CustomResourceDefinition {
    /// Whether it defines this kind.
    pub fn is_of(&self, group: &str, kind: &str) -> bool {
        let defined = self.spec.as_ref().and_then(|spec| Some((&*spec.group, &*spec.names.as_ref()?.kind)));
        defined == Some((group, kind))
    }

    /// The version of this name.
    pub fn version(&self, name: &str) -> Option<&CustomResourceDefinitionVersion> {
        self.spec.as_ref()?.versions.iter().find(|version| version.name == name)
    }

    /// The resource's name, as in a URL.
    pub fn plural(&self) -> Option<&str> {
        Some(&self.spec.as_ref()?.names.as_ref()?.plural)
    }
}

impl CustomResourceDefinitionVersion {
    /// Where the count of replicas stands, where the version has the subresource `scale`: `.spec.replicas`.
    pub fn replicas_path(&self) -> Option<&str> {
        Some(&self.subresources.as_ref()?.scale.as_ref()?.spec_replicas_path)
    }
}
