//! `drain-plan`: what `kubectl drain` will meet, before it starts.

use super::names;
use super::watch::{self, Repeated};
use crate::answer::Answer;
use crate::budget::Selection;
use crate::cli::{DrainFlags, DrainPlanArgs, Global};
use crate::drain::actor::Actor;
use crate::drain::options::DrainOptions;
use crate::drain::outcome::{Action, Verdict};
use crate::drain::{Plan, Request, force_setting, plan};
use crate::error::{Failure, FailureKind, Result};
use crate::input::Scope;
use crate::render::{self, Format};
use crate::report::plan::DrainPlan;
use crate::report::{Document, Need};
use crate::snapshot::node::Node;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;
use std::sync::Arc;

/// The kinds that `drain-plan` reads.
pub const NEEDS: &[Need] = &[
    Need::essential(Kind::Node, "there are no nodes to drain"),
    Need::essential(Kind::Pod, "what runs on the nodes"),
    Need::essential(Kind::PodDisruptionBudget, "which evictions are refused"),
    Need::essential(Kind::ReplicaSet, "how many pods the owners want, and what replaces a pod"),
    Need::essential(Kind::Deployment, "how many pods the owners want"),
    Need::essential(Kind::StatefulSet, "how many pods the owners want, and in which order they are made"),
    Need::essential(Kind::DaemonSet, "which pods drain ignores"),
    Need::helpful(Kind::ReplicationController, "how many pods the owners want"),
    Need::helpful(Kind::Job, "when a Job makes a new pod"),
    Need::helpful(Kind::HorizontalPodAutoscaler, "whether an autoscaler holds a number of pods"),
    Need::helpful(Kind::PriorityClass, "what a replacement can preempt"),
    Need::helpful(Kind::PersistentVolumeClaim, "whether a replacement can reach its volumes"),
    Need::helpful(Kind::PersistentVolume, "whether a replacement can reach its volumes"),
    Need::helpful(Kind::StorageClass, "whether a replacement can reach its volumes"),
    Need::helpful(Kind::CSINode, "how many volumes a node can attach"),
    Need::helpful(Kind::CSIDriver, "how many volumes a node can attach"),
    Need::helpful(Kind::VolumeAttachment, "how many volumes a node has attached"),
    Need::helpful(Kind::CSIStorageCapacity, "whether storage near a node is left for a replacement"),
    Need::helpful(Kind::ResourceClaim, "whether a replacement gets its devices"),
    Need::helpful(Kind::ResourceSlice, "whether a replacement gets its devices"),
    Need::helpful(Kind::DeviceClass, "whether a replacement gets its devices"),
    Need::helpful(Kind::DeviceTaintRule, "whether a replacement gets its devices"),
    Need::helpful(Kind::ResourceQuota, "whether a quota refuses a replacement"),
    Need::helpful(Kind::LimitRange, "what a quota counts a replacement as"),
    Need::helpful(Kind::Namespace, "which webhooks see an eviction, and whether a namespace is being deleted"),
    Need::helpful(Kind::Service, "whether a webhook has a backend"),
    Need::helpful(Kind::ValidatingWebhookConfiguration, "whether a webhook denies an eviction"),
    Need::helpful(Kind::MutatingWebhookConfiguration, "whether a webhook denies an eviction"),
    Need::helpful(Kind::ValidatingAdmissionPolicy, "whether a policy denies an eviction"),
    Need::helpful(Kind::ValidatingAdmissionPolicyBinding, "whether a policy denies an eviction"),
    Need::helpful(Kind::CustomResourceDefinition, "whether custom owners have a scale"),
    Need::incidental(Kind::CloudNativePGCluster, "whether CloudNativePG has another instance to make the primary"),
    Need::incidental(Kind::VirtualMachineInstance, "whether KubeVirt can migrate a virtual machine"),
    Need::incidental(Kind::LonghornSetting, "what Longhorn does with its budgets while a node is drained"),
    Need::incidental(Kind::LeaderWorkerSet, "whether a group of pods restarts as one"),
    Need::incidental(Kind::JobSet, "whether its Jobs restart as one"),
    Need::incidental(Kind::VolcanoJob, "whether its pods restart as one"),
    Need::incidental(Kind::NodePool, "whether Karpenter could add a node for a replacement"),
    Need::incidental(Kind::NodeClaim, "until when Karpenter lets a node be drained"),
    Need::incidental(Kind::Machine, "until when Cluster API lets a node be drained"),
    Need::incidental(Kind::ClusterApiCluster, "which MachineDrainRules apply to a Machine"),
    Need::incidental(Kind::MachineDrainRule, "in which order Cluster API evicts pods, and which it leaves alone"),
    Need::incidental(Kind::UpgradePlan, "how the system-upgrade-controller drains"),
    Need::incidental(Kind::EC2NodeClass, "which instance types a NodePool has, and whether it is ready"),
    Need::incidental(Kind::EKSNodeClass, "which instance types a NodePool has, and whether it is ready"),
];

/// Runs the command.
pub fn run(args: &DrainPlanArgs, global: &Global) -> Result<Answer> {
    let options = options(args)?;
    if !args.nodes.is_empty() && args.selector.is_some() {
        return Err(Failure::usage("nodes are given by name and by --selector: give one of the two"));
    }
    let repeated = Repeated {
        needs: &read_for(options.actor()),
        scope: &Scope::All,
        answer: |snapshot: &Snapshot| about(args, global, snapshot),
        // A wait ends when the drain would find nothing more to take from the nodes.
        done: |snapshot: &Snapshot| {
            let planned = |request| plan(snapshot, &Selection::new(snapshot), &request);
            request(args, snapshot, options.clone()).map(planned).is_ok_and(|planned| is_drained(&planned))
        },
    };
    watch::run(&args.repeat, global, &repeated)
}

/// What is read of a cluster: an autoscaler's choice rests on what was reported, too.
fn read_for(actor: Actor) -> Vec<Need> {
    let mut needs = NEEDS.to_vec();
    if matches!(actor, Actor::Karpenter | Actor::ClusterAutoscaler) {
        needs.push(Need::helpful(Kind::Event, "what the autoscaler said and did"));
    }
    needs
}

/// The answer about a snapshot.
///
/// # Errors
/// Flags that cannot be used, nodes that were not read, or are not there.
pub fn about(args: &DrainPlanArgs, global: &Global, snapshot: &Snapshot) -> Result<Answer> {
    answer(&request(args, snapshot, options(args)?)?, args, global, snapshot)
}

fn is_drained(plan: &Plan) -> bool {
    let mut pods = plan.nodes.iter().flat_map(|node| &node.pods);
    pods.all(|pod| matches!(pod.action, Action::Skip | Action::None))
}

fn answer(request: &Request, args: &DrainPlanArgs, global: &Global, snapshot: &Snapshot) -> Result<Answer> {
    let planned = plan(snapshot, &Selection::new(snapshot), request);
    let screen = global.screen();
    let needs = needs_of(snapshot);
    let mut shell = Document::new("DrainPlan", snapshot, &needs, Timestamp::now(), ());
    shell.findings.clone_from(&planned.findings);
    let mut document = shell.with(DrainPlan::new(&planned, request.after, request.each_alone));
    let nodes = &mut document.body.nodes;
    nodes.retain(|n| args.verdict.is_empty() || args.verdict.iter().any(|v| v == n.verdict.as_str()));
    if let Some(field) = &args.sort_by {
        render::template::sort_by(nodes, field)?;
    }
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Html => render::html::plan(&document),
        Format::Name => document.body.nodes.iter().map(|n| format!("node/{}\n", n.name)).collect(),
        Format::Csv => render::plan::csv(&document.body),
        Format::JsonPath | Format::CustomColumns => render::templated(&document, &global.output(), &screen)?,
        format @ (Format::Sarif | Format::Junit | Format::Github) => {
            return Err(super::not_written("drain-plan", format));
        }
        Format::Text | Format::Wide => render::plan::text(&document, &screen, args.all),
    };
    Ok(Answer {
        text,
        warnings: super::input_warnings(snapshot),
        nothing: None,
        status: exit_status(&planned, args.accept_forced),
    })
}

/// The kinds that this answer rests on: of owners only those that some pod names.
pub(super) fn needs_of(snapshot: &Snapshot) -> Vec<Need> {
    let named = |kind: Kind| {
        snapshot.pods.iter().filter_map(|p| p.meta.controller.as_ref()).any(|o| *o.kind == *kind.info().name)
    };
    let owner = |kind: Kind| {
        matches!(kind, Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet | Kind::ReplicationController | Kind::Job)
    };
    let judge = |need: &Need| match need.kind {
        // ReplicaSets say themselves how many pods they want.
        Kind::Deployment => Need::helpful(need.kind, need.effect),
        kind if owner(kind) && named(kind) => Need::essential(kind, need.effect),
        kind if owner(kind) => Need::incidental(kind, need.effect),
        _ => *need,
    };
    NEEDS.iter().map(judge).collect()
}

fn options(args: &DrainPlanArgs) -> Result<DrainOptions> {
    let flags = &args.drain;
    let options = flags_of(flags)?;
    let options = DrainOptions {
        by: args.by,
        force_after: args.force_after,
        parallel: args.parallel.map(usize::from),
        surge: usize::from(args.surge),
        ..options
    };
    check(&options, flags)?;
    Ok(options)
}

/// Whether the actor has the settings that were given.
fn check(options: &DrainOptions, flags: &DrainFlags) -> Result<()> {
    let actor = options.actor();
    if options.force_after.is_some() && force_setting(options).is_none() {
        let text = format!("--force-after: {} has no setting that passes budgets after a time", actor.as_str());
        return Err(Failure::usage(text));
    }
    let runs_kubectl = matches!(actor, Actor::Kubectl | Actor::Kured | Actor::SystemUpgradeController);
    let given = [
        (flags.force, "--force"),
        (flags.ignore_daemonsets, "--ignore-daemonsets"),
        (flags.delete_emptydir_data, "--delete-emptydir-data"),
        (flags.grace_period >= 0, "--grace-period"),
        (!flags.pod_selector.trim().is_empty(), "--pod-selector"),
        (flags.disable_eviction, "--disable-eviction"),
        (flags.skip_wait_for_delete_timeout != 0, "--skip-wait-for-delete-timeout"),
    ];
    match given.iter().find(|(given, _)| *given && !runs_kubectl) {
        Some((_, flag)) => {
            let text = format!("{flag} is a flag of kubectl drain, and --by {} does not run it", actor.as_str());
            Err(Failure::usage(text))
        }
        None => Ok(()),
    }
}

fn flags_of(flags: &DrainFlags) -> Result<DrainOptions> {
    let pod_selector = match flags.pod_selector.trim() {
        "" => None,
        text => match LabelSelector::parse(text) {
            Ok(selector) => Some((selector, text.to_owned())),
            Err(words) => return Err(Failure::usage(format!("--pod-selector: {words}"))),
        },
    };
    Ok(DrainOptions {
        force: flags.force,
        ignore_daemonsets: flags.ignore_daemonsets,
        delete_emptydir_data: flags.delete_emptydir_data,
        grace_period: flags.grace_period,
        timeout: flags.timeout,
        pod_selector,
        disable_eviction: flags.disable_eviction,
        skip_wait_for_delete: flags.skip_wait_for_delete_timeout,
        chunk_size: flags.chunk_size,
        dry_run: flags.dry_run.clone(),
        ..DrainOptions::default()
    })
}

/// Finds the nodes. As kubectl, it takes `node/NAME`, and `node NAME…` where no node has that name.
fn request(args: &DrainPlanArgs, snapshot: &Snapshot, options: DrainOptions) -> Result<Request> {
    super::require(snapshot, Kind::Node)?;
    let named = |name: &str| snapshot.nodes.named("", name);
    let is_type = |word: &str| Kind::from_word(word) == Some(Kind::Node);
    let mut names = args.nodes.iter().map(|name| names::of(Kind::Node, name)).collect::<Result<Vec<_>>>()?;
    if names.len() > 1 && names.first().is_some_and(|first| is_type(first) && named(first).is_none()) {
        names.remove(0);
    }
    let mut nodes: Vec<Arc<Node>> = Vec::new();
    for name in names {
        let Some(node) = named(name) else { return Err(no_such_node(snapshot, name)) };
        if !nodes.iter().any(|n| Arc::ptr_eq(n, node)) {
            nodes.push(node.clone());
        }
    }
    let each_alone = nodes.is_empty() && args.selector.is_none() && args.parallel.is_none();
    if nodes.is_empty() {
        let takes = |n: &&Arc<Node>| args.selector.as_ref().is_none_or(|s| s.matches(&n.meta.labels));
        nodes.extend(snapshot.nodes.iter().filter(takes).cloned());
    }
    if nodes.is_empty() {
        let what =
            args.selector.as_ref().map_or_else(|| "no node".to_owned(), |s| format!("no node with the labels {s}"));
        let failure = Failure::new(FailureKind::NotFound, format!("there is {what}"));
        return Err(match args.selector {
            Some(_) => failure.hint("kubectl get nodes --show-labels lists the labels of the nodes"),
            None => failure,
        });
    }
    Ok(Request { nodes, each_alone, options, after: args.after })
}

fn no_such_node(snapshot: &Snapshot, name: &str) -> Failure {
    let known = snapshot.nodes.iter().map(|n| &*n.meta.name);
    Failure::new(FailureKind::NotFound, format!("there is no node {name:?}")).hint(names::hint(
        name,
        known,
        std::iter::empty(),
    ))
}

fn exit_status(plan: &Plan, accept_forced: bool) -> u8 {
    let any = |v: Verdict| plan.nodes.iter().any(|n| n.verdict == v);
    if any(Verdict::Blocked) || (any(Verdict::Forced) && !accept_forced) {
        2
    } else if any(Verdict::Unknown) {
        3
    } else {
        0
    }
}
