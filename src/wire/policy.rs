//! policy/v1, scheduling.k8s.io/v1 and admissionregistration.k8s.io/v1.

use super::macros::wire;
use super::meta::{Condition, LabelSelector, ObjectMeta};
use super::scalar::IntOrString;
use super::time::Time;

wire! {
    as (api::policy::v1);

    /// `policy.PodDisruptionBudget`.
    PodDisruptionBudget {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(PodDisruptionBudgetSpec) = 2,
        status: msg(PodDisruptionBudgetStatus) = 3,
    }

    /// `policy.PodDisruptionBudgetSpec`.
    PodDisruptionBudgetSpec {
        min_available: msg(IntOrString) = 1,
        selector: msg(LabelSelector) = 2,
        max_unavailable: msg(IntOrString) = 3,
        unhealthy_pod_eviction_policy: opt_str = 4,
    }

    /// `policy.PodDisruptionBudgetStatus`.
    PodDisruptionBudgetStatus {
        observed_generation: i64 = 1,
        disrupted_pods: map_of(Time) = 2,
        disruptions_allowed: i32 = 3,
        current_healthy: i32 = 4,
        desired_healthy: i32 = 5,
        expected_pods: i32 = 6,
        conditions: list(Condition) = 7,
    }
}

wire! {
    as (api::scheduling::v1);

    /// `scheduling.PriorityClass`.
    PriorityClass {
        metadata: msg(ObjectMeta) = 1,
        value: i32 = 2,
        global_default: bool = 3,
        preemption_policy: opt_str = 5,
    }
}

wire! {
    as (api::admissionregistration::v1);

    /// `admissionregistration.ValidatingWebhookConfiguration`.
    ValidatingWebhookConfiguration {
        metadata: msg(ObjectMeta) = 1,
        webhooks: list(ValidatingWebhook) = 2,
    }

    /// `admissionregistration.MutatingWebhookConfiguration`.
    MutatingWebhookConfiguration {
        metadata: msg(ObjectMeta) = 1,
        webhooks: list(MutatingWebhook) = 2,
    }

    /// `admissionregistration.ValidatingWebhook`.
    ValidatingWebhook {
        name: str = 1,
        client_config: msg(WebhookClientConfig) = 2,
        rules: list(RuleWithOperations) = 3,
        failure_policy: opt_str = 4,
        namespace_selector: msg(LabelSelector) = 5,
        object_selector: msg(LabelSelector) = 10,
        match_policy: opt_str = 9,
        timeout_seconds: i32 = 7,
        match_conditions: list(MatchCondition) = 11,
    }

    /// `admissionregistration.MutatingWebhook`: as the validating one, with two other tags.
    MutatingWebhook {
        name: str = 1,
        client_config: msg(WebhookClientConfig) = 2,
        rules: list(RuleWithOperations) = 3,
        failure_policy: opt_str = 4,
        namespace_selector: msg(LabelSelector) = 5,
        object_selector: msg(LabelSelector) = 11,
        match_policy: opt_str = 9,
        timeout_seconds: i32 = 7,
        match_conditions: list(MatchCondition) = 12,
    }

    /// `admissionregistration.ValidatingAdmissionPolicy`.
    ValidatingAdmissionPolicy {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ValidatingAdmissionPolicySpec) = 2,
    }

    /// `admissionregistration.ValidatingAdmissionPolicySpec`.
    ValidatingAdmissionPolicySpec {
        match_constraints: msg(MatchResources) = 2,
        validations: list(Validation) = 3,
    }

    /// `admissionregistration.Validation`.
    Validation {
        expression: str = 1,
    }

    /// `admissionregistration.ValidatingAdmissionPolicyBinding`.
    ValidatingAdmissionPolicyBinding {
        metadata: msg(ObjectMeta) = 1,
        spec: msg(ValidatingAdmissionPolicyBindingSpec) = 2,
    }

    /// `admissionregistration.ValidatingAdmissionPolicyBindingSpec`.
    ValidatingAdmissionPolicyBindingSpec {
        policy_name: str = 1,
        match_resources: msg(MatchResources) = 3,
        validation_actions: strings = 4,
    }

    /// `admissionregistration.MatchResources`.
    MatchResources {
        namespace_selector: msg(LabelSelector) = 1,
        object_selector: msg(LabelSelector) = 2,
        resource_rules: list(NamedRuleWithOperations) = 3,
        exclude_resource_rules: list(NamedRuleWithOperations) = 4,
    }

    /// `admissionregistration.NamedRuleWithOperations`.
    NamedRuleWithOperations {
        resource_names: strings = 1,
        rule_with_operations: inline(RuleWithOperations) = 2,
    }

    /// `admissionregistration.WebhookClientConfig`.
    WebhookClientConfig {
        url: opt_str = 3,
        service: msg(ServiceReference) = 1,
    }

    /// `admissionregistration.ServiceReference`.
    ServiceReference {
        namespace: str = 1,
        name: str = 2,
    }

    /// `admissionregistration.RuleWithOperations`.
    RuleWithOperations {
        operations: strings = 1,
        rule: inline(Rule) = 2,
    }

    /// `admissionregistration.Rule`.
    Rule {
        api_groups: strings = 1,
        api_versions: strings = 2,
        resources: strings = 3,
        scope: str = 4,
    }

    /// `admissionregistration.MatchCondition`.
    MatchCondition {
        name: str = 1,
        expression: str = 2,
    }
}
