//! The first lines of answers, as a person reads them.

use crate::program::{here, run};

/// What the answer to a recorded case begins with, its lines joined.
fn beginning(case: &str, args: &[&str]) -> String {
    let cluster = here(&format!("cases/why-pending/{case}/cluster.json"));
    let from = cluster.to_str().expect("UTF-8");
    let ran = run(["why-pending", "-n", "shop", "--from", from].iter().chain(args));
    let first: Vec<&str> = ran.out.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    first.join(" ")
}

#[test]
fn the_cause_is_read_first() {
    for (case, target, want) in [
        (
            "own-architecture-that-no-node-has",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             1 node does not match the pod's rules: it selects kubernetes.io/arch=amd64, and they have arm64 (a1)",
        ),
        (
            "own-spread-over-a-label-that-is-missing",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             n1 lacks the label topology.kubernetes.io/zone",
        ),
        (
            "own-disk-pressure-beside-a-control-plane",
            "web",
            "shop/web: Pending for 30min: no node can run it, and evicting pods of lower priority would not help. \
             1 node has the taint node.kubernetes.io/disk-pressure:NoSchedule, which the pod does not tolerate: n1, as \
             its kubelet reports disk pressure",
        ),
        (
            "own-nobody-has-scheduled-yet",
            "web",
            "shop/web: Pending for 60min: fits now on n1; the scheduler has not tried yet.",
        ),
        (
            "own-evicted-by-the-kubelet",
            "web",
            "shop/web: the pod has ended on node n1 (Evicted): The node was low on resource: memory. Threshold quantity: \
             100Mi, available: 50Mi; this pod does not run again. next: kubectl describe pod web -n shop",
        ),
        (
            "own-suspended-cron-job",
            "cronjob/nightly",
            "CronJob shop/nightly is suspended (spec.suspend): it makes no Jobs; it has not made a Job yet, no Job of it \
             is active.",
        ),
    ] {
        assert_eq!(beginning(case, &[target]), want, "{case}");
    }
}
