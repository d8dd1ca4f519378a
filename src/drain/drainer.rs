//! How a drainer goes about a node, declared. The simulation plays what stands here, so another drainer is another
//! profile: `actors.rs` has them.

use super::actor::{Actor, ActorPlan};
use super::filters::PodDeleteStatus;
use super::options::Flag;
use super::refusal::Refusal;
use super::view::View;
use crate::snapshot::pod::Pod;
use jiff::Timestamp;

/// How a drainer goes about a node.
#[derive(Debug, Clone)]
pub struct Drainer {
    /// Who it is.
    pub actor: Actor,
    /// What people call it, as the subject of a sentence.
    pub name: &'static str,
    /// Where all this is written.
    pub source: Source,
    /// How it keeps new pods away from the node.
    pub fences: Fences,
    /// Which nodes are fenced before the first one is drained.
    pub cordons: Cordons,
    /// Of the flags of `kubectl drain`, those whose effect it has without being told.
    pub passes: Vec<Flag>,
    /// What it does about a pod that needs a flag which it does not pass.
    pub without_flag: WithoutFlag,
    /// Which pods it evicts, and which it leaves alone.
    pub filter: fn(&View<'_>, &Pod) -> PodDeleteStatus,
    /// The same in words: which pods it leaves alone.
    pub leaves: &'static str,
    /// What keeps it from evicting a pod that it waits for, at a time.
    pub holds: fn(&View<'_>, &Pod, Timestamp) -> Option<Hold>,
    /// The pods of a lower wave are gone before those of the next one are tried; in a wave all are tried at once.
    pub wave: fn(&View<'_>, &Pod) -> i64,
    /// The same in words; empty where all pods are tried at once.
    pub waves: &'static str,
    /// How a pod is removed.
    pub removes: Removes,
    /// How long each pod has to end.
    pub grace: Grace,
    /// When it tries a refused eviction again.
    pub retry: Retry,
    /// Whether it tries again after every error, and not only where a budget refuses.
    pub retries_errors: bool,
    /// How long it works on one node, and what it does then; `None` is without end.
    pub deadline: Option<Deadline>,
    /// Whether the deadline of a node is that of its NodeClaim.
    pub ends_claims: bool,
    /// What it reports after so many seconds, while it goes on trying.
    pub reports: Option<(i64, &'static str)>,
    /// Pods whose deletion is overdue by more seconds than this are not waited for; `None` waits.
    pub skips_overdue: Option<i64>,
    /// Whether that is so only on a node whose kubelet is not heard of any more.
    pub skips_if_silent: bool,
    /// Its setting that makes it go past budgets after a time; `None` where there is none.
    pub force_setting: Option<&'static str>,
    /// How many nodes it drains at the same time, in words.
    pub parallel: &'static str,
}

/// Where a profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Code with its version, or the title of a page.
    pub title: &'static str,
    /// Where it is.
    pub place: &'static str,
    /// When it was read.
    pub read: &'static str,
    /// How well it is known.
    pub known: Known,
}

/// How well a profile is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It was held against the real one.
    Measured,
    /// It follows its code.
    Code,
    /// It follows its documentation, and its code is not public.
    Documentation,
}

impl Source {
    /// The source in a line, with how well it is known.
    pub fn line(&self) -> String {
        let Self { title, place, read, known } = self;
        match known {
            Known::Measured => format!("{title} ({place}), measured"),
            Known::Code => format!("by the code of {title} ({place}, read {read}); not measured here"),
            Known::Documentation => format!("by the documentation of {title} ({place}, {read}); not measured here"),
        }
    }
}

/// How new pods are kept away from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fences {
    /// The node is cordoned.
    Cordon,
    /// The node gets this taint.
    Taint(&'static str),
    /// Somebody else has cordoned the node.
    ByOthers,
}

impl Fences {
    /// What is done to the node.
    pub fn words(self) -> String {
        match self {
            Self::Cordon => "cordon".to_owned(),
            Self::Taint(taint) => format!("taint {taint}"),
            Self::ByOthers => "none: somebody else cordons the node first".to_owned(),
        }
    }
}

/// Which nodes are fenced before the first one is drained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cordons {
    /// All of the command.
    All,
    /// Each when its turn comes.
    Each,
}

/// What is done about a pod that needs a flag that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutFlag {
    /// Whoever drains is told that the flag is needed; it is taken as given.
    Assumed,
    /// The drain of the node ends in an error before any pod is evicted.
    Fails,
}

/// What keeps a drainer from evicting a pod that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// Until when; `None` until the pod ends by itself.
    pub until: Option<Timestamp>,
    /// The annotation or label that says so.
    pub by: &'static str,
}

/// How a pod is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removes {
    /// By an eviction; an error that is no refusal ends the try of that pod alone.
    ByEviction,
    /// By a deletion, which no budget is asked about; the first error ends the drain of the node.
    ByDeletion,
}

/// How long a pod has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grace {
    /// Its own grace period.
    Own,
    /// So many seconds, whatever its own.
    Seconds(i64),
    /// Its own grace period, and no more than so many seconds.
    AtMost(i64),
}

/// When a refused eviction is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Every so many seconds.
    Every(i64),
    /// In rounds: `lasts` seconds of tries every `every` seconds, then a pause; a longer pause once `slow_after` have passed.
    Rounds {
        /// Seconds between two tries of a round.
        every: i64,
        /// Seconds that a round lasts.
        lasts: i64,
        /// Seconds between two rounds.
        pause: i64,
        /// Seconds after which pauses are longer.
        slow_after: i64,
        /// Seconds of such a pause.
        slow_pause: i64,
    },
}

impl Retry {
    /// Seconds to the second try.
    pub fn first(self) -> i64 {
        match self {
            Self::Every(seconds) | Self::Rounds { every: seconds, .. } => seconds.max(1),
        }
    }

    /// The first try that is at least `waited` seconds after the beginning, in seconds after the beginning.
    pub fn next(self, waited: i64) -> i64 {
        let round_up = |n: i64, step: i64| {
            let step = step.max(1);
            (n / step + i64::from(n % step != 0)).saturating_mul(step)
        };
        let Self::Rounds { every, lasts, pause, slow_after, slow_pause } = self else {
            return round_up(waited, self.first());
        };
        let mut begins = 0;
        while begins < slow_after {
            let ends = begins + lasts;
            let next = ends + if ends >= slow_after { slow_pause } else { pause };
            let tried = begins + round_up((waited - begins).max(0), every);
            if tried < ends {
                return tried;
            }
            begins = next;
            if waited <= begins {
                return begins;
            }
        }
        // From here on every round is like the one before.
        let whole = lasts + slow_pause;
        let rounds = (waited - begins).max(0) / whole;
        let begins = begins.saturating_add(rounds.saturating_mul(whole));
        let tried = begins + round_up((waited - begins).max(0), every);
        if tried < begins + lasts { tried } else { begins + whole }
    }

    /// How often, in words.
    pub fn words(self) -> String {
        match self {
            Self::Every(seconds) => format!("every {seconds} s"),
            Self::Rounds { every, lasts, pause, slow_after, slow_pause } => format!(
                "every {every} s for {lasts} s, then again after {pause} s ({slow_pause} s once {slow_after} s have passed)"
            ),
        }
    }
}

/// How long a drainer works on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Seconds since it began with the node.
    pub after: i64,
    /// What it does then.
    pub then: AtDeadline,
    /// The setting that it stands in, or is made of.
    pub setting: &'static str,
}

/// What a drainer does at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtDeadline {
    /// It ends in an error, which means this for what it was about.
    Fails(&'static str),
    /// The same where an eviction has not been granted by then; pods that are ending are waited for.
    FailsUnevicted(&'static str),
    /// It deletes what is left, past every budget; each pod has its grace period from then on.
    Deletes,
    /// It deletes each pod so long before as the pod has grace, past every budget: all are gone by then.
    DeletesBefore,
    /// It goes on although pods are left: they end with the machine. This is what happens to the node.
    TakesNode(&'static str),
}

impl AtDeadline {
    /// Whether the drain of the node ends then in any case.
    pub fn forces(self) -> bool {
        match self {
            Self::Deletes | Self::DeletesBefore | Self::TakesNode(_) => true,
            Self::Fails(_) | Self::FailsUnevicted(_) => false,
        }
    }

    /// What is done then, as it follows the drainer's name.
    pub fn words(self) -> String {
        match self {
            Self::Fails(what) | Self::FailsUnevicted(what) => format!("gives up: {what}"),
            Self::Deletes => "deletes the pods that are left, past their budgets".to_owned(),
            Self::DeletesBefore => {
                "has deleted every pod, past its budget, each its own grace period before".to_owned()
            }
            Self::TakesNode(what) => what.to_owned(),
        }
    }
}

impl Drainer {
    /// How long a pod has to end once it is removed, in seconds.
    pub fn grace_of(&self, pod: &Pod) -> i64 {
        let own = pod.spec.termination_grace.max(0);
        match self.grace {
            Grace::Own => own,
            Grace::Seconds(seconds) => seconds,
            Grace::AtMost(seconds) => own.min(seconds),
        }
    }

    /// Whether a pod that was so refused is not tried again.
    pub fn gives_up_on(&self, refusal: Refusal) -> bool {
        refusal.is_final() && (!self.retries_errors || matches!(refusal, Refusal::NotTried | Refusal::WithoutFlag(_)))
    }

    /// The profile as a reader sees it.
    pub fn told(&self) -> ActorPlan {
        let (actor, title) = (self.actor, self.name);
        ActorPlan { actor, title, settings: self.settings(), source: self.source.line() }
    }

    /// Its settings, in words: what it is, and what this drainer does.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![("fence", self.fences.words())];
        let flags: Vec<&str> = self.passes.iter().map(|f| f.as_str()).collect();
        all.push(("flags", if flags.is_empty() { "none".to_owned() } else { flags.join(" ") }));
        all.push(("leavesAlone", self.leaves.to_owned()));
        all.push(("order", if self.waves.is_empty() { "all pods at once" } else { self.waves }.to_owned()));
        let removes = match self.removes {
            Removes::ByEviction => "eviction",
            Removes::ByDeletion => "deletion, past every budget",
        };
        all.push(("removesBy", removes.to_owned()));
        all.push((
            "grace",
            match self.grace {
                Grace::Own => "each pod's own grace period".to_owned(),
                Grace::Seconds(seconds) => format!("{seconds} s"),
                Grace::AtMost(seconds) => format!("each pod's own grace period, at most {seconds} s"),
            },
        ));
        all.push(("retry", self.retry.words()));
        let (deadline, then) = match (self.deadline, self.reports) {
            (Some(d), _) => (format!("{} ({})", seconds(d.after), d.setting), d.then.words()),
            (None, _) if self.ends_claims => {
                let text = "terminationGracePeriod of the NodeClaim, from its deletion; none where it has none";
                (text.to_owned(), AtDeadline::DeletesBefore.words())
            }
            (None, Some((after, what))) => (format!("none; after {} {what}", seconds(after)), "continues".to_owned()),
            (None, None) => ("none".to_owned(), "tries without end".to_owned()),
        };
        all.push(("deadline", deadline));
        all.push(("atDeadline", then));
        all.push(("forceAfter", self.force_setting.unwrap_or("no such setting").to_owned()));
        all.push(("parallel", self.parallel.to_owned()));
        all
    }
}

/// Seconds as a setting: exact, in the largest unit that divides them.
pub fn seconds(seconds: i64) -> String {
    match seconds {
        s if s > 0 && s % 3600 == 0 => format!("{} h", s / 3600),
        s if s > 0 && s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_come_at_their_times() {
        let rounds = Retry::Rounds { every: 5, lasts: 90, pause: 60, slow_after: 600, slow_pause: 300 };
        for (retry, waited, want) in [
            (Retry::Every(5), 0, 0),
            (Retry::Every(5), 1, 5),
            (Retry::Every(20), 21, 40),
            (rounds, 3, 5),
            // The round ends after 90 s; the next one begins 60 s later.
            (rounds, 86, 150),
            (rounds, 140, 150),
            (rounds, 151, 155),
            // The fifth round begins at 600 s, and the pause after it is the long one.
            (rounds, 605, 605),
            (rounds, 700, 990),
            (rounds, 991, 995),
            (rounds, 1_100, 1_380),
        ] {
            assert_eq!(retry.next(waited), want, "{retry:?} {waited}");
        }
    }
}
