//! The words of verdicts, outcomes and stages: what each means, and what to do next.

/// A word that an answer uses for how something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// The command that uses it.
    pub command: &'static str,
    /// What it says of what.
    pub kind: &'static str,
    /// What it means, without a full stop.
    pub meaning: &'static str,
    /// What to do next.
    pub next: &'static str,
}

const fn word(
    command: &'static str,
    kind: &'static str,
    word: &'static str,
    meaning: &'static str,
    next: &'static str,
) -> Word {
    Word { word, command, kind, meaning, next }
}

/// All of them, by command, the worst first.
pub const WORDS: &[Word] = &[
    word(
        "status",
        "verdict",
        "never",
        "no eviction is ever allowed with the present rule and number of replicas",
        "Change the rule or the number of replicas: kubectl pdb status NAME prints the commands and their risk.",
    ),
    word(
        "status",
        "verdict",
        "broken",
        "the API server or the disruption controller cannot use the budget as written",
        "Correct the budget: kubectl pdb status NAME names the pods, owners or other budgets at fault.",
    ),
    word(
        "status",
        "verdict",
        "unhealthy",
        "no eviction is allowed until broken pods are repaired",
        "Repair the pods that are named, not the budget: kubectl logs -p POD and kubectl describe pod POD.",
    ),
    word(
        "status",
        "verdict",
        "unknown",
        "not evaluated: something it depends on was not read, or the controller has not looked yet",
        "Read the gaps below the answer. If the controller has not looked, see whether kube-controller-manager runs.",
    ),
    word(
        "status",
        "verdict",
        "waits",
        "no eviction is allowed now, and that ends by itself",
        "Wait until the pods that are named are Ready: kubectl pdb status NAME --wait.",
    ),
    word(
        "status",
        "verdict",
        "unused",
        "the budget selects no pods: it protects and blocks nothing",
        "Compare its selector with the labels of the pods; delete the budget if its application no longer exists.",
    ),
    word("status", "verdict", "allows", "at least 1 eviction is allowed now", "Nothing is to be done."),
    word(
        "drain-plan",
        "verdict",
        "blocked",
        "the drain never ends, or ends in an error, unless somebody changes something",
        "kubectl pdb drain-plan NODE prints what blocks it, and the commands that unblock it.",
    ),
    word(
        "drain-plan",
        "verdict",
        "forced",
        "the drain ends by deleting pods past a budget",
        "Read which pods are deleted and when; repair what holds their budgets before that.",
    ),
    word(
        "drain-plan",
        "verdict",
        "unknown",
        "not evaluated: something it depends on was not read, or cannot be seen",
        "Read the gaps below the answer, and give the rights or the files that are missing.",
    ),
    word(
        "drain-plan",
        "verdict",
        "waits",
        "every pod is evicted in the end, some of them only after refusals (429)",
        "Drain it; kubectl drain retries every 5 s until the evictions are allowed.",
    ),
    word(
        "drain-plan",
        "verdict",
        "kept",
        "the autoscaler does not remove this node",
        "kubectl pdb drain-plan NODE --by ACTOR says which pod or setting keeps it.",
    ),
    word("drain-plan", "verdict", "drains", "every eviction is granted at the first try", "Drain it."),
    word(
        "why-pending",
        "stage",
        "not-created",
        "the workload's controller has not created the pod",
        "kubectl pdb why-pending TYPE/NAME says what refuses it.",
    ),
    word(
        "why-pending",
        "stage",
        "gated",
        "scheduling gates keep the scheduler from looking at the pod",
        "Ask the controller that the gate is named after.",
    ),
    word(
        "why-pending",
        "stage",
        "unscheduled",
        "no node can run the pod, or the scheduler has not tried yet",
        "kubectl pdb why-pending POD says what speaks against each node.",
    ),
    word(
        "why-pending",
        "stage",
        "nominated",
        "a node is reserved for the pod, which waits for other pods to end there, or for a volume",
        "Wait; if it lasts, kubectl pdb why-pending POD names what it waits for.",
    ),
    word(
        "why-pending",
        "stage",
        "bound",
        "the pod has its node, and its containers do not run or are not Ready",
        "kubectl describe pod POD and kubectl logs POD.",
    ),
    word(
        "why-pending",
        "stage",
        "unknown",
        "not evaluated: something it depends on was not read",
        "Read the gaps below the answer, and give the rights or the files that are missing.",
    ),
];

/// What a command's word means, without a full stop.
pub fn meaning(command: &str, word: &str) -> &'static str {
    WORDS.iter().find(|w| w.command == command && w.word == word).map_or("", |w| w.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_a_next_step() {
        for w in WORDS {
            assert!(w.next.ends_with('.') && !w.meaning.ends_with('.') && !w.meaning.is_empty(), "{w:?}");
            assert_eq!(meaning(w.command, w.word), w.meaning, "{w:?} is there twice");
        }
        assert_eq!(meaning("status", "no-such-word"), "");
    }
}
