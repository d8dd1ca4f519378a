//! The remedies in the product's answers that are said to have been tried, and can be run.

use serde_json::Value;

/// A remedy marked `verified`, with commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// The code of its finding.
    pub code: String,
    /// What it does, in the product's words.
    pub text: String,
    /// The lines to run, one after the other.
    pub lines: Vec<String>,
    /// The lines that take it back, where there are any.
    pub undo: Vec<String>,
    /// What its finding is about: `Kind/namespace/name`.
    pub objects: Vec<String>,
}

impl Remedy {
    /// The kind of command: `patch pdb`, `set resources deployment`, `uncordon`.
    pub fn kind(&self) -> String {
        let kinds: Vec<String> = self.lines.iter().map(|line| kind(line)).collect();
        kinds.join(", ")
    }

    /// Whether it is the same kind of remedy for the same kind of trouble.
    pub fn like(&self, other: &Self) -> bool {
        self.code == other.code && self.kind() == other.kind()
    }
}

/// The first words of a command that are neither flags nor names.
fn kind(line: &str) -> String {
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('-')).skip(1);
    let verb = words.next().unwrap_or_default();
    let of = |word: Option<&str>| word.map(|w| w.split('/').next().unwrap_or(w).to_owned()).unwrap_or_default();
    match verb {
        "uncordon" | "cordon" | "drain" => verb.to_owned(),
        "set" | "rollout" => {
            let what = words.next().unwrap_or_default();
            format!("{verb} {what} {}", of(words.next()))
        }
        _ => format!("{verb} {}", of(words.next())),
    }
}

/// What the findings of an item offer: the remedies that can be run, each once, and how many are said to have been tried
/// and have no command.
pub fn of(findings: &Value) -> (Vec<Remedy>, usize) {
    let (mut all, mut without): (Vec<Remedy>, usize) = (Vec::new(), 0);
    for finding in findings.as_array().into_iter().flatten() {
        let verified = finding["remedies"].as_array().into_iter().flatten().filter(|r| r["verified"] == true);
        for remedy in verified {
            let lines = either(remedy, "commands", "command");
            if lines.is_empty() {
                without += 1;
            } else if !all.iter().any(|known| known.lines == lines) {
                all.push(Remedy {
                    code: finding["code"].as_str().unwrap_or_default().to_owned(),
                    text: remedy["text"].as_str().unwrap_or_default().to_owned(),
                    lines,
                    undo: either(remedy, "undos", "undo"),
                    objects: strings(&finding["objects"]),
                });
            }
        }
    }
    (all, without)
}

/// A list of lines, or the one line.
fn either(remedy: &Value, list: &str, one: &str) -> Vec<String> {
    let lines = strings(&remedy[list]);
    if !lines.is_empty() {
        return lines;
    }
    let lines = strings(&remedy[one]);
    if lines.is_empty() { remedy[one].as_str().map(str::to_owned).into_iter().collect() } else { lines }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_was_tried_and_can_be_run() {
        let findings = json!([{"code": "budget-never", "objects": ["PodDisruptionBudget/shop/web"], "remedies": [
            {"text": "a", "command": "kubectl patch pdb web --type=merge -p '{}' -n shop", "undo": "kubectl x", "verified": true},
            {"text": "b", "command": "kubectl delete pdb web -n shop", "verified": false},
            {"text": "c", "verified": true},
            {"text": "d", "commands": ["kubectl cordon n1", "kubectl rollout restart deployment/web -n shop"],
                "command": "kubectl cordon n1", "undos": ["kubectl uncordon n1"], "verified": true}]}]);
        let (all, without) = of(&findings);
        assert_eq!(without, 1);
        let kinds: Vec<String> = all.iter().map(Remedy::kind).collect();
        assert_eq!(kinds, ["patch pdb", "cordon, rollout restart deployment"]);
        assert_eq!(all[1].undo, ["kubectl uncordon n1"]);
    }
}
