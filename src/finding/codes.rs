//! The table of finding codes: the word, the severity, and what `explain` says.

use super::severity::Severity;
use std::fmt;

macro_rules! codes {
    ($($name:ident = $code:literal $severity:ident {
        means $meaning:literal
        such_as $example:literal
        cure $cure:literal
    },)*) => {
        /// The code of a finding: other programs rely on these words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "each explains itself")]
        pub enum Code { $($name),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// The severity of a finding of this code.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity),* }
            }

            /// What it means.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning),* }
            }

            /// A case in which it is found.
            pub fn example(self) -> &'static str {
                match self { $(Self::$name => $example),* }
            }

            /// What to do about it.
            pub fn cure(self) -> &'static str {
                match self { $(Self::$name => $cure),* }
            }
        }
    };
}

codes! {
    // Budgets.
    ZeroByRule = "zero-by-rule" Error {
        means "The rule allows nothing even when every pod is Ready: with the present number of replicas, all of \
               them are needed. Waiting does not help."
        such_as "minAvailable 80% over one replica: 80% of 1 is 0.8, rounded up 1, so the only pod is needed."
        cure "Run as many replicas as the remedy names, or set maxUnavailable: 1 instead."
    },
    NoRule = "no-rule" Error {
        means "The budget sets neither minAvailable nor maxUnavailable. The API accepts that, and it allows no \
               eviction at all."
        such_as "A template with an empty value gave a spec that has a selector alone."
        cure "Set one of the two fields, or delete the budget."
    },
    UnhealthyPods = "unhealthy-pods" Warning {
        means "Pods exist and are not Ready, so they do not count as healthy, and the budget allows no eviction."
        such_as "Three pods, maxUnavailable 1, and one of the pods in CrashLoopBackOff: the 1 pod that can be unavailable \
                 is unavailable already."
        cure "Repair the pods that are named; with unhealthyPodEvictionPolicy: AlwaysAllow at least the broken pods can \
              be evicted."
    },
    MissingPods = "missing-pods" Warning {
        means "Fewer pods exist than the budget expects: they are Pending, or were not created."
        such_as "A Deployment wants five replicas and a ResourceQuota lets it have four."
        cure "kubectl pdb why-pending says what keeps them from running."
    },
    DisruptionInProgress = "disruption-in-progress" Info {
        means "Pods were evicted or are terminating, and their replacements are not Ready yet."
        such_as "Another drain has just evicted a pod of the same budget."
        cure "Wait until the replacements are Ready."
    },
    ScaledDown = "scaled-down" Info {
        means "The owner wants fewer pods than exist, or none: its controller deletes the surplus."
        such_as "A Deployment was scaled to 0 and its last pod is terminating."
        cure "Wait; once no pod is left the budget protects and blocks nothing."
    },
    NoPods = "no-pods" Warning {
        means "No pod matches the selector: the budget protects and blocks nothing."
        such_as "The budget selects app=web, and the pods are labelled app=web-v2."
        cure "Correct the selector, or delete the budget if its application no longer exists."
    },
    SelectsNothing = "selects-nothing" Warning {
        means "The budget has no selector. A null selector selects no pod; an empty selector ({}) selects every pod of the \
               namespace."
        such_as "The manifest has no spec.selector."
        cure "Set spec.selector to the labels of the pods that are to be protected."
    },
    Overlap = "overlap" Error {
        means "A pod is matched by more than one budget. The eviction endpoint does not support that: evicting the \
               pod is answered with 500, and kubectl drain gives up on it."
        such_as "One budget selects app=db, another one selects every pod of the namespace."
        cure "Narrow one of the selectors, or delete the budget that is not needed."
    },
    SyncFailed = "sync-failed" Error {
        means "The disruption controller cannot tell how many pods to expect, as some pod's owner has no scale. It \
               then allows 0 and keeps older numbers."
        such_as "maxUnavailable 1 over the pods of a Job, or over pods of a custom resource without the scale \
                 subresource."
        cure "Use an integer minAvailable, which does not need the owners, or exclude those pods from the selector."
    },
    Stale = "stale" Warning {
        means "The controller has not looked at the present spec yet, so the API server refuses evictions (429) \
               until it has; or it reports 0 where the pods would allow more."
        such_as "The budget was changed a second ago, or the controller manager is down."
        cure "Wait a moment; if nothing changes, see whether kube-controller-manager runs."
    },
    OverPermissive = "over-permissive" Warning {
        means "The rule allows every pod to be evicted at the same time, so the budget protects nothing."
        such_as "maxUnavailable 67% over three replicas: 2.01, rounded up 3."
        cure "Choose a smaller maxUnavailable, or a minAvailable of at least 1."
    },
    UnmanagedPods = "unmanaged-pods" Warning {
        means "Pods without a controller are covered. Under maxUnavailable or a percentage they count as healthy and \
               not as expected; where there are no others, the budget never allows an eviction."
        such_as "A pod made by kubectl run carries the label that the budget selects."
        cure "Let a controller make the pod, exclude the pod from the selector, or use an integer minAvailable."
    },
    UnhealthyNotEvictable = "unhealthy-not-evictable" Warning {
        means "The policy IfHealthyBudget, which is the default, refuses to evict broken pods while too few are \
               healthy. With AlwaysAllow they could be evicted at any time."
        such_as "The only replica crashes, and no drain can evict it."
        cure "Set unhealthyPodEvictionPolicy: AlwaysAllow."
    },
    HpaFloor = "hpa-floor" Warning {
        means "An autoscaler can scale down to, or has reached, a number of replicas at which the rule allows no eviction."
        such_as "minAvailable 2 with a HorizontalPodAutoscaler whose minReplicas is 2."
        cure "Raise minReplicas above what the budget needs, or use maxUnavailable."
    },
    OperatorOwned = "operator-owned" Info {
        means "An operator manages this budget and changes it itself; changes made by hand are reverted."
        such_as "CloudNativePG keeps its primary with a budget and moves the primary once the node is cordoned."
        cure "Use the operator's own way to drain a node."
    },
    DrainInProgress = "drain-in-progress" Warning {
        means "The node is being drained already, by what its taints, annotations, its Machine, its NodeClaim or a Plan show. The \
               message says by whom, since when, and whether that drain is slow or never ends."
        such_as "kured holds its lock for the node; the machine config operator was asked to drain it."
        cure "Where it never ends: mend what the message names. A second drain of the node is refused by the same budgets."
    },
    GroupRestart = "group-restart" Warning {
        means "Evicting the pod makes a controller restart or end the whole group that the pod is of: it deletes the other pods, \
               past every budget."
        such_as "A worker of a LeaderWorkerSet with restartPolicy RecreateGroupOnPodRestart; a Job of a JobSet that fails."
        cure "Drain when the group has saved its work, and all nodes that have pods of one group together; or keep the pods of a \
              group on one node."
    },
    InvalidBudget = "invalid-budget" Error {
        means "The API server refuses the budget as it is written, so it is never created or changed to this."
        such_as "Both minAvailable and maxUnavailable are set, or minAvailable is 120%."
        cure "Correct the field that the message names."
    },
    Quorum = "quorum" Warning {
        means "The budget keeps fewer members of a store than a majority. Evictions that it allows can end the quorum, and \
               the store then refuses writes."
        such_as "etcd with 5 members under minAvailable 2: three can be evicted at once, and the majority is 3."
        cure "Set maxUnavailable: 1, or a minAvailable of at least the majority."
    },
    PartialSelector = "partial-selector" Warning {
        means "The selector matches some pods of a workload, and not the others: the budget does not protect those. Under \
               maxUnavailable or a percentage all pods of the workload are counted as expected."
        such_as "The selector requires a label that only the leader has."
        cure "Select the labels that every pod of the workload has; use a budget of its own for each part that needs one."
    },
    SharedByWorkloads = "shared-by-workloads" Warning {
        means "One budget covers several workloads and counts their pods together: it can allow every pod of one workload \
               to be evicted at once."
        such_as "minAvailable 4 over a Deployment of 5 pods and another of 2."
        cure "Give each workload a budget of its own."
    },
    RolloutPastBudget = "rollout-past-budget" Warning {
        means "A rollout of the workload makes more pods unavailable at once than the budget allows. Budgets limit \
               evictions; a rollout is limited by its own strategy alone."
        such_as "rollingUpdate.maxUnavailable 60% beside a budget of minAvailable 80%."
        cure "Set rollingUpdate.maxUnavailable of the Deployment no higher than what the budget allows."
    },
    NotGuarded = "not-guarded" Warning {
        means "Something deletes pods of this budget now, whatever it allows: the scheduler's preemption, a NoExecute \
               taint. Budgets limit evictions through the API alone."
        such_as "A node has a NoExecute taint that the pod tolerates for 600 s."
        cure "Remove the taint's cause, add a toleration, or raise the priority of what must keep running."
    },
    RemovedApi = "removed-api" Error {
        means "The manifest is of an API version that the API server no longer has: it cannot be applied."
        such_as "A PodDisruptionBudget of policy/v1beta1, which ended with Kubernetes 1.25."
        cure "Set the apiVersion that the message names, and look at what it changes."
    },
    ImmutableField = "immutable-field" Error {
        means "The API server refuses the manifest, as it changes a field of an existing object that nobody can change. The \
               object stays as it is."
        such_as "The selector of a Deployment, or the volumeClaimTemplates of a StatefulSet, differs from that in the cluster."
        cure "Delete the object and apply the manifest (a StatefulSet with --cascade=orphan keeps its pods), or use another \
              name."
    },
    InvalidWorkload = "invalid-workload" Error {
        means "The API server refuses the workload as it is written, so it is never created or changed to this."
        such_as "The selector of a Deployment does not match the labels of its template."
        cure "Correct the field that the message names."
    },
    Duplicate = "duplicate" Warning {
        means "Two documents write the same object. The document applied last replaces the other one, and is checked alone."
        such_as "A folder with a base and with the patches of an overlay."
        cure "Delete one of the two; check what kustomize build prints in place of the folder that it reads."
    },
    Unrendered = "unrendered" Warning {
        means "The file is a template (Helm, Kustomize) and holds no objects until it is rendered: nothing in it was \
               checked."
        such_as "templates/pdb.yaml of a chart, with {{ .Values.minAvailable }} in it."
        cure "Check what the chart makes: helm template . | kubectl pdb check -f -, or kustomize build . in its place."
    },
    NoBudget = "no-budget" Warning {
        means "No budget covers the pods of a workload that has several replicas: drains can evict all of them at once."
        such_as "A Deployment of 3 replicas, and check --require-budgets."
        cure "Create a PodDisruptionBudget with maxUnavailable: 1 over its pods."
    },
    NotJudged = "not-judged" Warning {
        means "Something that the answer depends on could not be read, so it is not evaluated."
        such_as "The user is not allowed to list Deployments, so the number of pods that their budgets expect is not known."
        cure "Ask for the right that is named among the gaps, or put the missing list into the file."
    },
    // Drains.
    DaemonSet = "daemonset" Info {
        means "A DaemonSet's pod. Its controller ignores the cordon and would make it again at once, so drain ignores \
               it, and refuses to begin without --ignore-daemonsets."
        such_as "The log collector that runs on every node."
        cure "Drain with --ignore-daemonsets."
    },
    Mirror = "mirror" Info {
        means "The mirror of a static pod: the kubelet runs it from a file on the node, and drain ignores it."
        such_as "kube-apiserver on a control plane node."
        cure "Nothing is to be done."
    },
    Completed = "completed" Info {
        means "The pod has ended: it is evicted without using a budget."
        such_as "The pod of a Job that succeeded."
        cure "Nothing is to be done."
    },
    Terminating = "terminating" Info {
        means "The pod is being deleted already, or is to be deleted; or the budget is being deleted, and limits evictions \
               until it is removed."
        such_as "Somebody deleted it ten seconds ago; its grace period is 30 s."
        cure "Wait for its grace period to end."
    },
    EmptyDir = "empty-dir" Warning {
        means "The pod has scratch space on the node (emptyDir) that is lost with it: drain refuses without \
               --delete-emptydir-data."
        such_as "A cache that keeps its files in an emptyDir."
        cure "Make sure that nothing of worth is there, then drain with --delete-emptydir-data."
    },
    Unmanaged = "unmanaged" Warning {
        means "The pod has no controller: nothing makes a new one. Drain refuses without --force."
        such_as "A debugging pod from kubectl run."
        cure "Save its data, then drain with --force; a pod that is needed belongs into a Deployment."
    },
    Orphaned = "orphaned" Warning {
        means "The pod's controller does not exist any more. Drain refuses without --force where it was a DaemonSet; a budget that \
               counts by owners fails to sync."
        such_as "A DaemonSet was deleted with --cascade=orphan, and its pods still run."
        cure "Delete the pod, or drain with --force."
    },
    BudgetNever = "budget-never" Error {
        means "A budget refuses the eviction (429), and always will with its present rule and pods: the drain retries \
               every five seconds, without end."
        such_as "maxUnavailable 0, or minAvailable as high as the number of replicas."
        cure "Change the rule or the number of replicas first: kubectl pdb status NAME prints the command."
    },
    BudgetWaits = "budget-waits" Warning {
        means "A budget refuses the eviction (429) until pods are Ready."
        such_as "1 of 3 pods is still starting, and only 1 can be unavailable."
        cure "Wait; the drain continues by itself. If the pod does not become Ready, repair it."
    },
    BudgetShared = "budget-shared" Info {
        means "Earlier evictions of the same plan use the budget up; the next has to wait for the replacement."
        such_as "Two of three pods are on the node, and 1 can be unavailable at a time."
        cure "Nothing is to be done where replacements become Ready; drain in the order of the plan to save the \
              waiting."
    },
    ReplacementUnschedulable = "replacement-unschedulable" Error {
        means "The pod that replaces the evicted one cannot be scheduled on any other node: it will be Pending."
        such_as "The node being drained is the only one of its zone, and a topology spread constraint requires a pod in each zone."
        cure "Add a node on which it fits, uncordon a node, or loosen the rule that is named."
    },
    ReplacementPreempts = "replacement-preempts" Warning {
        means "The replacement fits only by preempting pods of lower priority."
        such_as "The other nodes are full of batch work."
        cure "Accept that the named pods are evicted, or add room first."
    },
    PinnedVolume = "pinned-volume" Error {
        means "The pod's volume exists on this node (or zone) only."
        such_as "A local PersistentVolume, or a disk of the only node in its zone."
        cure "Move the data first, or accept that the pod is down until the node is back."
    },
    PinnedNode = "pinned-node" Error {
        means "The pod can run on this node only: its nodeSelector, node affinity or nodeName says so."
        such_as "A nodeSelector on kubernetes.io/hostname."
        cure "Change the selector, or accept that the pod is down until the node is back."
    },
    Finalizer = "finalizer" Warning {
        means "A finalizer keeps the pod from being deleted until somebody removes the finalizer; the drain waits for that without end."
        such_as "A finalizer whose controller was uninstalled."
        cure "See that the finalizer's controller runs, or remove the finalizer."
    },
    LongGrace = "long-grace" Warning {
        means "The pod can need long to end: its grace period is long."
        such_as "terminationGracePeriodSeconds 3600 on a queue worker."
        cure "Plan the time, or shorten it with --grace-period if the pod's work is not needed."
    },
    StuckTerminating = "stuck-terminating" Error {
        means "The pod is being deleted, or would be, and does not end."
        such_as "The kubelet of its node does not answer, so nobody confirms that it has stopped."
        cure "Repair the node, or, once the machine is surely off, delete the pod with --grace-period=0 --force."
    },
    Webhook = "webhook" Warning {
        means "An admission webhook sees the eviction or the deletion, and can deny it or fail."
        such_as "failurePolicy Fail, and the only pod of the webhook runs on the node that is drained."
        cure "Run the webhook elsewhere first, or exclude evictions from its rules."
    },
    Timeout = "timeout" Error {
        means "The drain's own deadline (--timeout) passes before the pod is deleted: kubectl ends in an error."
        such_as "--timeout=120s and a preStop hook that sleeps for ten minutes."
        cure "Give the drain more time; without --timeout it waits without end."
    },
    Quota = "quota" Error {
        means "A ResourceQuota refuses the pod."
        such_as "The namespace has used up its requests.cpu."
        cure "Raise the quota, or lower the requests of the pods."
    },
    Ordered = "ordered" Info {
        means "The workload makes a new pod only after an older one has ended or is Ready."
        such_as "A StatefulSet with OrderedReady does not make web-1 while web-0 is not Ready."
        cure "Wait, or repair the pod that is waited for."
    },
    IndexOverlap = "index-overlap" Warning {
        means "An Indexed Job starts the replacement while the old pod of the same index still runs: two workers of \
               one index at once."
        such_as "Two trainers of rank 3 write the same checkpoint."
        cure "Set podReplacementPolicy: Failed on the Job."
    },
    NodeTerminating = "node-terminating" Warning {
        means "Karpenter is ending the node: its NodeClaim is being deleted. With a terminationGracePeriod its pods are \
               deleted past their budgets when that has passed since the deletion; without, Karpenter waits for them."
        such_as "NodeClaim general-x was deleted at 11:50 with a terminationGracePeriod of 30m: the node is empty by 12:20."
        cure "Wait, or let the budgets allow the evictions before the deadline."
    },
    NodeExpires = "node-expires" Warning {
        means "The NodeClaim of the node reaches its expireAfter within a day. Karpenter then deletes it, whatever its \
               NodePool's disruption budgets and do-not-disrupt say."
        such_as "A NodeClaim of 244 hours with expireAfter 244h10m."
        cure "Drain the node before, at a time of your own."
    },
    GraceBudget = "grace-budget" Warning {
        means "preStop and shutdown need longer than the grace period that the pod will get, so it is killed in the \
               middle."
        such_as "preStop sleeps 60 s, terminationGracePeriodSeconds is 30."
        cure "Raise terminationGracePeriodSeconds above the sum; a NodeClaim's terminationGracePeriod caps it once that is deleted."
    },
    NoPrestop = "no-prestop" Warning {
        means "A load balancer sends requests to the pod, and no container has a preStop hook: the pod is stopped while \
               requests still arrive."
        such_as "A Service of type LoadBalancer, and containers that end at once at SIGTERM."
        cure "Add a preStop hook that waits until the load balancer has removed the pod (sleep, 10 s or more)."
    },
    ShellAsInit = "shell-as-init" Warning {
        means "A shell is PID 1 of a container and hands SIGTERM to none of its programs: they are killed when the grace \
               period is over."
        such_as "command: [sh, -c, \"prepare; java -jar app.jar\"]."
        cure "Start the program with exec in the script, or run an init such as tini in the image."
    },
    Downtime = "downtime" Warning {
        means "All pods of the workload are on the nodes that are drained, and no budget protects them: the workload is down for a while."
        such_as "A Deployment of one replica."
        cure "Run a second replica on another node, and give it a budget."
    },
    NodeUnreachable = "node-unreachable" Error {
        means "The node's kubelet does not answer, so a deletion there does not end."
        such_as "Ready is Unknown since the machine lost power."
        cure "Repair the node, or remove it (kubectl delete node) once the machine is surely off."
    },
    ReplacementNeverReady = "replacement-never-ready" Error {
        means "Pods of this workload do not become Ready today, so waiting does not help."
        such_as "A new image crashes: each replacement will, too."
        cure "Repair the workload, or roll it back, before the drain."
    },
    RolloutInProgress = "rollout-in-progress" Warning {
        means "A rollout of the workload uses the same budget."
        such_as "A Deployment is replacing its pods one by one."
        cure "Wait for kubectl rollout status to end."
    },
    ReadinessGateAbsent = "readiness-gate-absent" Warning {
        means "The namespace requests load-balancer readiness gates and the pod has none: it can be Ready \
               before the load balancer sends it traffic."
        such_as "The pod is older than the label elbv2.k8s.aws/pod-readiness-gate-inject."
        cure "Restart the workload so that its pods get the gate."
    },
    Reloader = "reloader" Warning {
        means "A config change restarts this workload by itself, perhaps during the drain."
        such_as "The annotation reloader.stakater.com/auto on a StatefulSet without a budget."
        cure "Do not change its configuration during the drain."
    },
    IdentityAgent = "identity-agent" Warning {
        means "The pod's credentials come from an agent that the target node must run."
        such_as "EKS Pod Identity, and the agent is not Ready on the other nodes."
        cure "See that the agent's DaemonSet is Ready on the node of the new pod."
    },
    Identity = "identity" Info {
        means "Where the pod's credentials come from; the replacement gets the same."
        such_as "A role of the service account (IRSA): AWS_WEB_IDENTITY_TOKEN_FILE is set."
        cure "Nothing has to be done."
    },
    AutoscalerKeeps = "autoscaler-keeps" Info {
        means "An annotation keeps autoscalers from evicting the pod. It does not stop kubectl drain."
        such_as "karpenter.sh/do-not-disrupt: \"true\"."
        cure "Ask whoever set it whether the pod can be evicted."
    },
    // Pending pods.
    Gated = "gated" Warning {
        means "Scheduling gates keep the scheduler from looking at the pod."
        such_as "A queue (Kueue) holds the pod until its turn comes."
        cure "Ask the controller that the gate is named after; that controller removes the gate."
    },
    NoScheduler = "no-scheduler" Warning {
        means "Nothing has looked at the pod: no scheduler of its name seems to run."
        such_as "spec.schedulerName has a typing error."
        cure "Correct the name, or start that scheduler."
    },
    OtherScheduler = "other-scheduler" Info {
        means "Another scheduler than kube-scheduler looks after the pod, by rules of its own."
        such_as "schedulerName: volcano."
        cure "Ask that scheduler: its events and its log."
    },
    NoNodes = "no-nodes" Error {
        means "There are no nodes."
        such_as "A new cluster whose node group is empty."
        cure "Add a node."
    },
    NodePool = "node-pool" Info {
        means "Whether Karpenter could add a node for the pod: what its own event says, else what its NodePools say by \
               its rules. A cloud's instance types are not in the API, so it is never more than could."
        such_as "NodePool general could, if that has an instance type large enough; NodePool gpu has a taint that the \
                 pod does not tolerate."
        cure "If a NodePool could, see Karpenter's events and log; if none could, change the rule that is named."
    },
    SchedulerError = "scheduler-error" Error {
        means "The scheduler's last attempt ended in an error, mostly after it had chosen a node: binding was refused, \
               preparing it timed out, a plugin failed. The condition's reason is SchedulerError."
        such_as "An admission webhook on pods/binding has no backend, so that no pod can be bound."
        cure "Remove the cause that the message names; the scheduler then tries again by itself."
    },
    NotEnqueued = "not-enqueued" Error {
        means "The scheduler does not queue the pod (PreEnqueue) and writes nothing about it: what it refers to does not \
               exist yet."
        such_as "A device claim was not made from its template, as a quota refuses it."
        cure "Let whoever is named make what is missing; the scheduler then queues the pod by itself."
    },
    QueueBehind = "queue-behind" Warning {
        means "There is room for the pod, and pods before it in the scheduler's queue (higher priority, then older) use it \
               up."
        such_as "report-1 and checkout-1 both fit on n1, which has room for one of them; checkout-1 has the higher priority."
        cure "Add room, or raise the priority of the pod that matters more."
    },
    PreemptedBy = "preempted-by" Info {
        means "The pod, or the one that it replaces, was preempted: the scheduler evicted it to make room for a pod of higher \
               priority."
        such_as "nightly-4hd2k was preempted on n1 by shop/checkout-1; nightly-9zqwm is its replacement."
        cure "Add room, or give the workload a priority that others do not preempt."
    },
    FitsNow = "fits-now" Info {
        means "In the present state the pod fits."
        such_as "A node was added after the last attempt."
        cure "Wait for the scheduler's next attempt, at most a few minutes away."
    },
    StaleCondition = "stale-condition" Info {
        means "What is recorded on the pod speaks of an earlier state."
        such_as "The condition counts four nodes, and there are six."
        cure "Go by what is computed here."
    },
    Insufficient = "insufficient" Error {
        means "No node has enough of a resource free."
        such_as "The pod requests 2 CPU, and the nearest node has 1.4 CPU free."
        cure "Lower the request, make room on the node that is named, or add a node."
    },
    LargerThanAnyNode = "larger-than-any-node" Error {
        means "No node that the pod is allowed to use could run it, even without any other pod."
        such_as "The pod requests 64Gi of memory and the largest node has 32Gi."
        cure "Lower the request, or add a node that is large enough."
    },
    TooManyPods = "too-many-pods" Error {
        means "The node's pod slots are used up."
        such_as "110 pods run there, the kubelet's default limit."
        cure "Add a node, or raise maxPods."
    },
    HostPort = "host-port" Error {
        means "The host port is in use on the node."
        such_as "Two pods with hostPort 443."
        cure "Use a Service instead of the host's port, or spread the pods over more nodes."
    },
    ExtendedResource = "extended-resource" Error {
        means "A device or other extended resource is not free, or not there."
        such_as "nvidia.com/gpu: 2 where each node has one."
        cure "Lower the request, wait for the pods that use it to end, or add such a node."
    },
    ResourceClaim = "resource-claim" Error {
        means "A device claim is not met."
        such_as "A ResourceClaim whose selector matches no free device."
        cure "Read the claim's conditions; loosen its selector, or free a device."
    },
    Cordoned = "cordoned" Warning {
        means "The node is cordoned."
        such_as "It is being drained."
        cure "kubectl uncordon NODE, when its maintenance is over."
    },
    StartupTaint = "startup-taint" Error {
        means "The taint is one that a component sets until it has started on the node, and removes by itself."
        such_as "node.cilium.io/agent-not-ready, until the Cilium agent runs on the node."
        cure "See why the component that is named does not run on the node. Do not tolerate the taint."
    },
    Taint = "taint" Error {
        means "The node has a taint that the pod does not tolerate."
        such_as "dedicated=gpu:NoSchedule."
        cure "Add a toleration if the pod belongs there, or remove the taint."
    },
    NodeAffinity = "node-affinity" Error {
        means "The pod's node selector or affinity rules the node out."
        such_as "nodeSelector disktype=ssd, and the node has no such label."
        cure "Label a node, or change the selector."
    },
    NodeName = "node-name" Error {
        means "The pod names another node, or one that does not exist."
        such_as "spec.nodeName of a machine that was replaced."
        cure "Remove spec.nodeName, and use a node selector."
    },
    NodeFeature = "node-feature" Error {
        means "The node's kubelet does not declare a feature that the pod needs."
        such_as "A container's restart rule restarts all containers, and the node's kubelet is older than 1.36."
        cure "Upgrade the node, or remove from the pod what needs the feature."
    },
    NodeNotReady = "node-not-ready" Error {
        means "The node is not Ready or not reachable, and tainted for that."
        such_as "Its kubelet stopped."
        cure "Repair the node."
    },
    PodAffinity = "pod-affinity" Error {
        means "The pod's podAffinity requires other pods there, which do not run there."
        such_as "It must share a zone with app=cache, which runs nowhere."
        cure "Start those pods, or make the affinity preferred instead of required."
    },
    PodAntiAffinity = "pod-anti-affinity" Error {
        means "The pod's podAntiAffinity does not allow pods that run there."
        such_as "Three replicas, at most one on each node, and two nodes."
        cure "Add a node, or make the anti-affinity preferred instead of required."
    },
    ExistingAntiAffinity = "existing-anti-affinity" Error {
        means "The podAntiAffinity of pods that run there does not allow this pod."
        such_as "A database whose podAntiAffinity does not allow app=batch on its node."
        cure "Change the labels or the rule of the pod that is named, or add a node."
    },
    TopologySpread = "topology-spread" Error {
        means "The pod would break a topology spread constraint: the numbers of pods per domain would differ by more than maxSkew."
        such_as "maxSkew 1, and the zone with the fewest pods has no room."
        cure "Make room in that zone, set nodeTaintsPolicy: Honor, or whenUnsatisfiable: ScheduleAnyway."
    },
    VolumeUnbound = "volume-unbound" Error {
        means "A claim is not bound to a volume."
        such_as "No PersistentVolume of that size and class is there."
        cure "Make a volume, or name a StorageClass that makes one."
    },
    StorageCapacity = "storage-capacity" Error {
        means "The storage that the class's driver reports is not enough for a claim, or nothing is reported for the nodes."
        such_as "A claim of 5Gi, and 2Gi are free in the node's zone."
        cure "Free or add storage, request less, or look at the driver that reports it."
    },
    VolumeMissing = "volume-missing" Error {
        means "A claim, or the volume it is bound to, does not exist."
        such_as "The pod names the claim data, which was deleted."
        cure "Make the claim again, or correct its name in the pod."
    },
    VolumeDeleted = "volume-deleted" Error {
        means "A claim is being deleted."
        such_as "It has a deletionTimestamp, and waits for the pods that use it."
        cure "Delete the pods that use it, and make it again under the same name."
    },
    VolumeProvisioner = "volume-provisioner" Error {
        means "A claim waits for its class's provisioner, which has not answered."
        such_as "The CSI driver's controller is not running."
        cure "Look at the claim's events and the provisioner's log."
    },
    VolumeZone = "volume-zone" Error {
        means "The volume is in another zone."
        such_as "The disk is in eu-1a, and the only node with room is in eu-1b."
        cure "Add room in the volume's zone."
    },
    VolumeNodeAffinity = "volume-node-affinity" Error {
        means "The volume is not reachable from the node."
        such_as "A local volume of another node."
        cure "Make room on the volume's node."
    },
    VolumeLimit = "volume-limit" Error {
        means "The node has as many volumes attached as it can."
        such_as "25 disks, the limit of its machine type."
        cure "Add a node, or wait for volumes to be detached."
    },
    VolumeInUse = "volume-in-use" Error {
        means "The volume is used by another pod and cannot be shared."
        such_as "A ReadWriteOncePod claim during a rolling update."
        cure "Wait for the other pod to end, or use the strategy Recreate."
    },
    PolicyNever = "policy-never" Warning {
        means "The pod's preemptionPolicy is Never: it waits and evicts no other pod."
        such_as "A PriorityClass with preemptionPolicy: Never."
        cure "Use a class that preempts, or make room."
    },
    NothingLower = "nothing-lower" Info {
        means "Nothing of lower priority runs there, so preemption finds no pod to evict."
        such_as "All pods have priority 0."
        cure "Make room otherwise, or give the pod a PriorityClass."
    },
    NotHelpful = "not-helpful" Info {
        means "Evicting pods from the node would not help."
        such_as "The pod does not tolerate the node's taint, however empty the node is."
        cure "See to the reason that is named for the node."
    },
    NominatedWaits = "nominated-waits" Info {
        means "A node is nominated for the pod, which waits for its victims to end."
        such_as "A victim has a grace period of 30 s."
        cure "Wait."
    },
    VictimStuck = "victim-stuck" Error {
        means "A victim of preemption does not end."
        such_as "A finalizer keeps it from being deleted."
        cure "Take care of the victim that is named."
    },
    NominationStale = "nomination-stale" Warning {
        means "The nominated node cannot run the pod any more."
        such_as "It was cordoned after the nomination."
        cure "The scheduler looks again by itself; see what speaks against the other nodes."
    },
    RoomRetaken = "room-retaken" Warning {
        means "Another pod uses the room that preemption made."
        such_as "A pod of another scheduler was put there."
        cure "Let only one scheduler use the node, or make room again."
    },
    CrossNode = "cross-node" Warning {
        means "Only pods on other nodes stand in the way, and the scheduler does not evict pods of other nodes."
        such_as "podAntiAffinity over a zone: the pod that is not allowed runs on another node of the zone."
        cure "Delete that pod by hand, so that it is replaced elsewhere."
    },
    PriorityOfOthers = "priority-of-others" Info {
        means "The room belongs to a nominated pod of equal or higher priority."
        such_as "Two urgent pods wait for one node."
        cure "Wait, or add room for both."
    },
    BudgetsViolated = "budgets-violated" Warning {
        means "Preemption would violate budgets: it honours them only as best effort."
        such_as "All pods of lower priority are under budgets that allow nothing."
        cure "Lower the pod's priority, or accept it."
    },
    VictimCannotMove = "victim-cannot-move" Warning {
        means "A victim can run nowhere else."
        such_as "A DaemonSet's pod, or one with a local volume."
        cure "Give the victim a higher priority."
    },
    SameOwner = "same-owner" Warning {
        means "The victims belong to the pod's own workload."
        such_as "A rollout raised the priority, and the new pods push out the old ones."
        cure "Expect that no capacity is won."
    },
    DefaultClass = "default-class" Info {
        means "The priority comes from a default class that nobody chose."
        such_as "A PriorityClass with globalDefault: true was added later; older pods have 0."
        cure "Set priorityClassName where it matters."
    },
    LimitRange = "limit-range" Error {
        means "A LimitRange refuses the pod."
        such_as "The container requests 4Gi where at most 2Gi is allowed."
        cure "Change the request, or the LimitRange."
    },
    PriorityClass = "priority-class" Error {
        means "The pod's PriorityClass does not exist."
        such_as "priorityClassName: critical was never created in this cluster."
        cure "Create it, or correct the name."
    },
    ServiceAccount = "service-account" Error {
        means "The pod's service account does not exist."
        such_as "It was to be created by another chart."
        cure "Create it, or correct serviceAccountName."
    },
    AdmissionWebhook = "admission-webhook" Error {
        means "An admission webhook refuses the pod."
        such_as "A policy that forbids the image tag latest."
        cure "Read the webhook's words in the message."
    },
    PodSecurity = "pod-security" Error {
        means "The API server refuses the pod, as its namespace enforces a level of the Pod Security Standards that the \
               pod does not meet."
        such_as "The namespace got the label pod-security.kubernetes.io/enforce=restricted, and the pod does not set \
                 runAsNonRoot."
        cure "Set the fields of securityContext that the message names."
    },
    AdmissionPolicy = "admission-policy" Error {
        means "A ValidatingAdmissionPolicy or MutatingAdmissionPolicy refuses a pod, its eviction or its deletion; or \
               whether it does cannot be told from what is read."
        such_as "A policy demands a label that the pods of the workload do not have; its binding denies evictions in a \
                 namespace."
        cure "Change the pod as the policy's message says, or the policy's binding."
    },
    AdmissionPlugin = "admission-plugin" Error {
        means "An admission plugin of the API server refuses the pod, one that has no code of its own: PodNodeSelector, \
               PodTolerationRestriction and others."
        such_as "The pod's nodeSelector contradicts the one that its namespace's annotation sets."
        cure "Change the pod or the namespace's setting, as the message says."
    },
    RuntimeClass = "runtime-class" Error {
        means "The RuntimeClass that the pod names does not exist, or contradicts the pod."
        such_as "The template names runtimeClassName kata, and no such RuntimeClass is there."
        cure "Create the RuntimeClass, or correct its name in the template."
    },
    InvalidPod = "invalid-pod" Error {
        means "The pod that the template makes is not valid for the API server."
        such_as "A LimitRange sets a default request above the limit that the template sets."
        cure "Correct the field that the message names."
    },
    NamespaceTerminating = "namespace-terminating" Error {
        means "The namespace is being deleted, or does not exist: nothing new can be made in it."
        such_as "Somebody deleted the namespace, and a finalizer keeps it."
        cure "Use another namespace, or make the namespace again once it is deleted."
    },
    ControllerForbidden = "controller-forbidden" Error {
        means "The controller that makes the pods does not have the right (RBAC) to create them."
        such_as "The ClusterRole system:controller:replicaset-controller was changed, and lost create on pods."
        cure "Give the controller the right that the message names."
    },
    CreateFailed = "create-failed" Warning {
        means "The API server did not create the pod, for a reason that no admission plugin gave. The controller tries \
               again."
        such_as "etcdserver: request timed out."
        cure "Look at the API server if that continues."
    },
    ControllerBehind = "controller-behind" Warning {
        means "A workload's controller has not processed its present spec."
        such_as "A Deployment wants 5 pods, its ReplicaSet 2, and status.observedGeneration is behind."
        cure "Look at kube-controller-manager: whether it runs, and what it reports."
    },
    Running = "running" Info {
        means "Nothing is missing: so many pods are there, so many Ready."
        such_as "Deployment shop/web wants 3 pods: 3 are there, 3 Ready."
        cure "Nothing is to be done."
    },
    JobFailed = "job-failed" Error {
        means "A Job has failed for good: it makes no more pods."
        such_as "Its pods failed more often than backoffLimit allows (BackoffLimitExceeded)."
        cure "Read why its pods failed, correct that, and make the Job anew."
    },
    IndexFailed = "index-failed" Error {
        means "An index of an Indexed Job has failed for good (backoffLimitPerIndex): no more pods are made for it."
        such_as "Index 3 failed more often than backoffLimitPerIndex allows; the others continue."
        cure "Read why the pods of that index failed; run what is missing in a new Job."
    },
    OverParallelism = "over-parallelism" Warning {
        means "A Job has more pods than its parallelism, while old ones are being deleted: replacements are made at once."
        such_as "podReplacementPolicy TerminatingOrFailed, and a pod with a long grace period is being deleted."
        cure "Wait for the old pods, or make the Job with podReplacementPolicy: Failed."
    },
    ReplacementPolicy = "replacement-policy" Warning {
        means "The Job makes a new pod only when the old one has ended."
        such_as "podReplacementPolicy: Failed, and the old pod is terminating."
        cure "Wait for the old pod."
    },
    ImagePull = "image-pull" Error {
        means "An image cannot be pulled."
        such_as "ImagePullBackOff: the tag does not exist, or the pull secret is wrong."
        cure "Correct the image, or the pull secret."
    },
    VolumeAttach = "volume-attach" Error {
        means "A volume cannot be attached or mounted."
        such_as "It is still attached to a node that does not exist any more."
        cure "Look at the VolumeAttachment and the CSI driver."
    },
    ConfigMissing = "config-missing" Error {
        means "A Secret or ConfigMap that the pod names does not exist."
        such_as "CreateContainerConfigError: secret \"db\" not found."
        cure "Create it, or correct its name."
    },
    Init = "init" Error {
        means "An init container does not finish."
        such_as "It waits for a database that does not answer."
        cure "Read its log: kubectl logs POD -c CONTAINER."
    },
    KubeletReject = "kubelet-reject" Error {
        means "The node's kubelet rejected the pod."
        such_as "OutOfcpu: another pod used the room first."
        cure "Delete the pod; its controller makes a new pod."
    },
    Sandbox = "sandbox" Error {
        means "The pod's sandbox or network cannot be set up."
        such_as "The CNI plugin has no free addresses."
        cure "Look at the node's CNI plugin and container runtime."
    },
}

impl Code {
    /// The code of a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.as_str() == word)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<&str> = Self::ALL.iter().map(|c| c.as_str()).collect();
        schemars::json_schema!({"description": "What was found; `explain` tells more.", "type": "string", "enum": words})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_told_apart_and_explained() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(*code));
            for text in [code.meaning(), code.example(), code.cure()] {
                assert!(text.ends_with('.') && !text.contains("  "), "{code}: {text}");
            }
        }
        assert_eq!(Code::parse("no-such-code"), None);
    }
}
