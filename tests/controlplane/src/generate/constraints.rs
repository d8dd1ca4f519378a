//! Where a pod may run: selectors, affinities, spread, tolerations, ports.

use serde_json::{Value, json};

use super::pending::{APPS, Purpose};
use crate::random::Choice;

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

/// Adds constraints to pods.
pub struct Constraints<'a>(&'a mut Choice);

impl<'a> Constraints<'a> {
    /// Constraints chosen from this source.
    pub fn new(choice: &'a mut Choice) -> Self {
        Self(choice)
    }

    /// What a running pod has that bears on others: anti-affinity, ports.
    pub fn of_running(&mut self, pod: &mut Value) {
        if self.0.chance(15) {
            let term = self.pod_term();
            pod["spec"]["affinity"]["podAntiAffinity"] =
                json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        }
        if self.0.chance(12) {
            self.host_port(pod);
        }
    }

    /// What a Pending pod asks for. With [`Purpose::Preemption`] less, so that most nodes come into question.
    pub fn of_pending(&mut self, pod: &mut Value, nodes: i64, purpose: Purpose) {
        let often = if purpose == Purpose::Messages { 170 } else { self.0.weighted(&[(1, 30), (1, 120)]) };
        let say = |choice: &mut Choice, percent: u32| choice.chance(percent * often / 100);
        if say(self.0, 14) {
            pod["spec"]["nodeSelector"] = match self.0.number(0, 3) {
                0 => json!({"disk": "ssd"}),
                1 => json!({ZONE: self.0.one(&["za", "zb", "zz"])}),
                2 => json!({"disk": "hdd", "kubernetes.io/os": "linux"}),
                _ => json!({HOST: format!("n{}", self.0.number(0, nodes))}),
            };
        }
        if say(self.0, 18) {
            let terms: Vec<Value> = (0..self.0.weighted(&[(3, 1), (1, 2)])).map(|_| self.node_term(nodes)).collect();
            pod["spec"]["affinity"]["nodeAffinity"] =
                json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        }
        if say(self.0, 30) {
            let tolerations: Vec<Value> = (0..self.0.number(1, 2)).map(|_| self.toleration()).collect();
            pod["spec"]["tolerations"] = json!(tolerations);
        }
        if say(self.0, 16) {
            let term = self.pod_term();
            pod["spec"]["affinity"]["podAffinity"] = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        }
        if say(self.0, 20) {
            let terms: Vec<Value> = (0..self.0.weighted(&[(3, 1), (1, 2)])).map(|_| self.pod_term()).collect();
            pod["spec"]["affinity"]["podAntiAffinity"] =
                json!({"requiredDuringSchedulingIgnoredDuringExecution": terms});
        }
        if say(self.0, 22) {
            let mut spread = vec![self.spread(ZONE)];
            if self.0.chance(30) {
                spread.push(self.spread(HOST));
            }
            pod["spec"]["topologySpreadConstraints"] = json!(spread);
        }
        if say(self.0, 14) {
            self.host_port(pod);
        }
    }

    fn host_port(&mut self, pod: &mut Value) {
        let mut port = json!({"containerPort": 80, "hostPort": self.0.weighted(&[(3, 8080), (1, 9090)])});
        if self.0.chance(30) {
            port["hostIP"] = json!(self.0.one(&["10.0.0.1", "10.0.0.2", "0.0.0.0"]));
        }
        if self.0.chance(20) {
            port["protocol"] = json!("UDP");
        }
        pod["spec"]["containers"][0]["ports"] = json!([port]);
    }

    fn node_term(&mut self, nodes: i64) -> Value {
        match self.0.number(0, 7) {
            0 => json!({"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]}),
            1 => json!({"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["hdd"]}]}),
            2 => json!({"matchExpressions": [{"key": "disk", "operator": "Exists"}]}),
            3 => json!({"matchExpressions": [{"key": ZONE, "operator": "DoesNotExist"}]}),
            4 => json!({"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["6"]}]}),
            5 => {
                json!({"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["5"]}, {"key": ZONE, "operator": "In", "values": ["za", "zb"]}]})
            }
            6 => {
                json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [format!("n{}", self.0.number(0, nodes))]}]})
            }
            _ => json!({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}),
        }
    }

    fn toleration(&mut self) -> Value {
        match self.0.number(0, 5) {
            0 => json!({"key": "dedicated", "operator": "Equal", "value": "a", "effect": "NoSchedule"}),
            1 => json!({"key": "dedicated", "operator": "Exists"}),
            2 => json!({"operator": "Exists"}),
            3 => {
                json!({"key": "dedicated", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 60})
            }
            4 => json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}),
            _ => json!({"operator": "Exists", "effect": "NoExecute"}),
        }
    }

    fn selector(&mut self) -> Value {
        match self.0.number(0, 5) {
            0..3 => json!({"matchLabels": {"app": self.0.one(APPS)}}),
            3 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "cache"]}]}),
            4 => json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
            _ => json!({}),
        }
    }

    fn pod_term(&mut self) -> Value {
        let topology = self.0.weighted(&[(5, HOST), (4, ZONE), (1, "disk")]);
        let mut term = json!({"topologyKey": topology, "labelSelector": self.selector()});
        match self.0.number(0, 9) {
            0 => term["namespaces"] = json!(["other"]),
            1 => term["namespaceSelector"] = json!({}),
            2 => term["namespaceSelector"] = json!({"matchLabels": {"team": "b"}}),
            3 => term["matchLabelKeys"] = json!(["pod-template-hash"]),
            4 => term["mismatchLabelKeys"] = json!(["pod-template-hash"]),
            _ => {}
        }
        term
    }

    fn spread(&mut self, topology: &str) -> Value {
        let mut spread = json!({"maxSkew": self.0.number(1, 2), "topologyKey": topology,
            "whenUnsatisfiable": self.0.weighted(&[(6, "DoNotSchedule"), (1, "ScheduleAnyway")]), "labelSelector": self.selector()});
        let hard = spread["whenUnsatisfiable"] == "DoNotSchedule";
        if hard && self.0.chance(40) {
            spread["minDomains"] = json!(self.0.number(1, 4));
        }
        if self.0.chance(25) {
            spread["nodeTaintsPolicy"] = json!(self.0.one(&["Honor", "Ignore"]));
        }
        if self.0.chance(25) {
            spread["nodeAffinityPolicy"] = json!(self.0.one(&["Honor", "Ignore"]));
        }
        if self.0.chance(15) {
            spread["matchLabelKeys"] = json!(["pod-template-hash"]);
        }
        spread
    }
}
