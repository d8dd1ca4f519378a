//! `why-pending`.

use super::names;
use crate::answer::Answer;
use crate::cli::{Global, WhyPendingArgs};
use crate::error::{Failure, FailureKind, Result};
use crate::input::Scope;
use crate::pending::stage::{is_pending, is_unready};
use crate::pending::{self, Item, KindWord, Request, Target};
use crate::render::{self, Format};
use crate::report::pending::PendingReport;
use crate::report::{Document, Need};
use crate::sched::State;
use crate::snapshot::meta::Meta;
use crate::snapshot::selector::LabelSelector;
use crate::snapshot::{Kind, Snapshot};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The kinds that the answer needs.
pub const NEEDS: &[Need] = &[
    Need::essential(Kind::Pod, "which pods wait, and what uses the room"),
    Need::essential(Kind::Node, "on which nodes a pod fits"),
    Need::helpful(Kind::Namespace, "affinity that chooses namespaces by their labels"),
    Need::helpful(Kind::PersistentVolumeClaim, "pods with claims"),
    Need::helpful(Kind::PersistentVolume, "from which nodes a volume can be reached"),
    Need::helpful(Kind::StorageClass, "whether an unbound claim waits for its pod"),
    Need::helpful(Kind::CSINode, "how many volumes a node can attach"),
    Need::helpful(Kind::CSIDriver, "drivers that track storage capacity"),
    Need::helpful(Kind::CSIStorageCapacity, "whether storage near a node is left"),
    Need::helpful(Kind::VolumeAttachment, "volumes still attached"),
    Need::helpful(Kind::ResourceClaim, "pods with device claims"),
    Need::helpful(Kind::ResourceSlice, "which devices nodes have"),
    Need::helpful(Kind::DeviceClass, "which devices a claim can get"),
    Need::helpful(Kind::DeviceTaintRule, "devices that are kept from claims"),
    Need::helpful(Kind::PodDisruptionBudget, "which victims preemption would rather spare"),
    Need::helpful(Kind::PriorityClass, "where a priority comes from"),
    Need::helpful(Kind::Deployment, "whose pods wait"),
    Need::helpful(Kind::ReplicaSet, "whose pods wait"),
    Need::helpful(Kind::StatefulSet, "whose pods wait"),
    Need::helpful(Kind::DaemonSet, "whose pods wait"),
    Need::helpful(Kind::Job, "whose pods wait"),
    Need::helpful(Kind::CronJob, "whose Jobs wait"),
    Need::helpful(Kind::ReplicationController, "whose pods wait"),
    Need::incidental(Kind::HorizontalPodAutoscaler, "whether an autoscaler scales a workload up from 0"),
    Need::helpful(Kind::ResourceQuota, "quotas that refuse pods"),
    Need::helpful(Kind::LimitRange, "limit ranges that refuse pods"),
    Need::helpful(Kind::ServiceAccount, "service accounts that do not exist"),
    Need::helpful(Kind::PodGroup, "which pods are scheduled together"),
    Need::incidental(Kind::KueueWorkload, "why Kueue holds a pod or a Job"),
    Need::incidental(Kind::KueueLocalQueue, "why Kueue holds a pod or a Job"),
    Need::incidental(Kind::KueueClusterQueue, "why Kueue holds a pod or a Job"),
    Need::incidental(Kind::Service, "who serves a webhook that refuses"),
    Need::incidental(Kind::ValidatingWebhookConfiguration, "who serves a webhook that refuses"),
    Need::incidental(Kind::MutatingWebhookConfiguration, "who serves a webhook that refuses"),
    Need::helpful(Kind::Event, "what was reported"),
    Need::helpful(Kind::NodePool, "whether Karpenter could add a node"),
    Need::incidental(Kind::LeaderWorkerSet, "which workload makes a pod"),
    Need::incidental(Kind::JobSet, "which workload makes a pod"),
    Need::incidental(Kind::VolcanoJob, "which workload makes a pod"),
    Need::incidental(Kind::NodeClaim, "which nodes Karpenter is adding or taking away"),
    Need::incidental(Kind::EC2NodeClass, "which instance types a NodePool has, and whether it is ready"),
    Need::incidental(Kind::EKSNodeClass, "which instance types a NodePool has, and whether it is ready"),
];

/// Runs the command.
pub fn run(args: &WhyPendingArgs, global: &Global) -> Result<Answer> {
    let snapshot = read(args, &request(args, global)?, global)?;
    about(args, global, &snapshot)
}

/// The answer about a snapshot.
///
/// # Errors
/// Flags and files that cannot be used, pods that were not read, or are not there.
pub fn about(args: &WhyPendingArgs, global: &Global, snapshot: &Snapshot) -> Result<Answer> {
    let request = request(args, global)?;
    super::require(snapshot, Kind::Pod)?;
    let (answer, state) = if args.filename.is_empty() {
        let state = State::new(snapshot);
        let answer = pending::pending(&request, snapshot, &state).map_err(|t| not_found(&t, &request, snapshot))?;
        (answer, state)
    } else {
        let manifests = crate::file::manifests(&args.filename, None)?;
        let namespace = request.namespace.as_deref().unwrap_or("default");
        let (items, state) = pending::planned(&manifests, snapshot, args.replicas, namespace);
        (pending::Answer { items, ..pending::Answer::default() }, state)
    };
    let pending::Answer { items, findings } = answer;
    let screen = global.screen();
    let shell = Document::new("PendingReport", snapshot, NEEDS, Timestamp::now(), ());
    let shell = Document { findings, ..shell };
    let document = shell.with(PendingReport::new(&items, &state, request.node_by_node()));
    let text = match screen.format {
        Format::Json => render::json(&document)?,
        Format::Yaml => render::yaml(&document)?,
        Format::Html => render::html::pending(&document),
        Format::Name => items.iter().map(|i| format!("{}\n", i.subject.resource_name())).collect(),
        Format::Csv => render::pending::csv(&document.body),
        Format::JsonPath | Format::CustomColumns => render::templated(&document, &global.output(), &screen)?,
        format @ (Format::Sarif | Format::Junit | Format::Github) => {
            return Err(super::not_written("why-pending", format));
        }
        Format::Text | Format::Wide => render::pending::text(&document, &items, &state, &screen, view(args)),
    };
    let status = if args.exit_code && items.iter().any(Item::is_stuck) { 2 } else { 0 };
    Ok(Answer {
        text,
        warnings: super::input_warnings(snapshot),
        nothing: items.is_empty().then(|| nothing(&request, snapshot)),
        status,
    })
}

/// What was looked at, where nothing was found.
fn nothing(request: &Request, snapshot: &Snapshot) -> String {
    if !request.targets.is_empty() {
        return "Nothing that was named is waiting.".to_owned();
    }
    let looked_at = |ns: &str| request.namespace.as_deref().is_none_or(|one| one == ns);
    let place = request.namespace.as_ref().map_or_else(|| "any namespace".to_owned(), |ns| format!("namespace {ns}"));
    let unready = snapshot.pods.iter().filter(|p| looked_at(p.meta.ns()) && is_unready(p)).count();
    let elsewhere = snapshot.pods.iter().filter(|p| !looked_at(p.meta.ns()) && is_pending(p)).count();
    let mut text = format!("No pending pods in {place}");
    match unready {
        0 => {}
        _ if request.not_ready => {}
        1 => text.push_str("; 1 pod runs and is not Ready: --not-ready"),
        n => text.push_str(&format!("; {n} pods run and are not Ready: --not-ready")),
    }
    if elsewhere > 0 {
        text.push_str(&format!(" ({elsewhere} in other namespaces: -A)"));
    }
    text.push('.');
    if let Some(namespace) = &request.namespace {
        text.push_str(&names::namespace_hint(namespace, snapshot));
    }
    text
}

fn read(args: &WhyPendingArgs, request: &Request, global: &Global) -> Result<Snapshot> {
    let mut input = global.input()?;
    if let ([Target::Pod(name)], Some(namespace), []) = (&*request.targets, &request.namespace, &*args.filename)
        && let Some(snapshot) = input.read_bound(NEEDS, namespace, name)?
    {
        return Ok(snapshot);
    }
    // What takes the room, and what repels or attracts the pod, may be in any namespace.
    input.read(NEEDS, &Scope::All)
}

fn view(args: &WhyPendingArgs) -> render::pending::View {
    if args.names.is_empty() && args.filename.is_empty() {
        render::pending::View::Many { all_namespaces: args.all_namespaces, every_row: args.all }
    } else {
        render::pending::View::Detail
    }
}

fn request(args: &WhyPendingArgs, global: &Global) -> Result<Request> {
    let selector = args.selector.as_deref().map(LabelSelector::parse).transpose();
    Ok(Request {
        targets: args.names.iter().map(|n| target(n)).collect(),
        namespace: match global.scope(args.all_namespaces) {
            Scope::All => None,
            Scope::Namespace(ns) => Some(ns),
        },
        selector: selector.map_err(Failure::usage)?,
        not_ready: args.not_ready,
    })
}

/// Built-in kinds of workloads. Custom owners are known by their objects alone.
const WORKLOADS: &[Kind] = &[
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::ReplicationController,
];

fn target(text: &str) -> Target {
    let Some((word, name)) = text.split_once('/') else { return Target::Pod(text.to_owned()) };
    let word = word.to_ascii_lowercase();
    let (plain, group) = match word.split_once('.') {
        Some((plain, group)) => (plain, Some(group)),
        None => (&*word, None),
    };
    match Kind::from_word(&word) {
        Some(Kind::Pod) => Target::Pod(name.to_owned()),
        Some(kind) => {
            let info = kind.info();
            let group = group.map(|_| info.group.to_owned());
            Target::Workload(KindWord { kind: info.name.to_ascii_lowercase(), group }, name.to_owned())
        }
        None => {
            let group = group.map(str::to_owned);
            Target::Workload(KindWord { kind: plain.to_owned(), group }, name.to_owned())
        }
    }
}

fn not_found(target: &Target, request: &Request, snapshot: &Snapshot) -> Failure {
    let (what, name, of_kind): (_, &str, Vec<&Meta>) = match target {
        Target::Pod(name) => ("pod".to_owned(), name, snapshot.pods.iter().map(|p| &p.meta).collect()),
        Target::Workload(kind, name) => {
            let workloads: Vec<&Meta> = snapshot.workloads.iter().filter(|w| kind.is(w)).map(|w| &w.meta).collect();
            let built_in = || WORKLOADS.iter().map(|k| k.info().name.to_ascii_lowercase());
            if workloads.is_empty() && !built_in().any(|known| kind.kind == known) {
                let owners = snapshot.workloads.iter().map(|w| w.kind.to_lowercase());
                let known: BTreeSet<String> = owners.chain(built_in()).chain(["pod".to_owned()]).collect();
                let known = known.iter().map(|k| &**k);
                let hint = match snapshot.pods.iter().any(|p| p.meta.ns() == kind.kind) {
                    true => format!("a namespace is given by -n: {name} -n {}", kind.kind),
                    false => names::hint(&kind.kind, known, std::iter::empty()),
                };
                let text = format!("{:?} is not a kind of workload, and no object of that kind owns pods", kind.kind);
                return Failure::new(FailureKind::NotFound, text).hint(hint);
            }
            (kind.kind.clone(), name, workloads)
        }
    };
    let looked_at = |meta: &&Meta| request.namespace.as_deref().is_none_or(|ns| ns == meta.ns());
    let known = of_kind.iter().copied().filter(looked_at).map(|meta| &*meta.name);
    let elsewhere = of_kind.iter().filter(|meta| &*meta.name == name).map(|meta| meta.ns().to_owned());
    let place = request.namespace.as_ref().map_or_else(String::new, |ns| format!(" in namespace {ns:?}"));
    Failure::new(FailureKind::NotFound, format!("there is no {what} {name:?}{place}"))
        .hint(names::hint(name, known, elsewhere))
}
