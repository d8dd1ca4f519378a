//! Random clusters, each from a seed.

pub mod allocation;
pub mod budgets;
pub mod constraints;
pub mod devices;
pub mod oddities;
pub mod pending;
pub mod perturb;
pub mod queue;
pub mod storage;
pub mod worlds;

#[cfg(test)]
mod tests {
    use super::pending::Purpose;
    use jiff::Timestamp;

    #[test]
    fn a_seed_gives_the_same_cluster() {
        let now = Timestamp::UNIX_EPOCH;
        for seed in 0..20 {
            assert_eq!(super::budgets::cluster(seed, now), super::budgets::cluster(seed, now));
            assert_eq!(super::allocation::cluster(seed), super::allocation::cluster(seed));
            for purpose in [Purpose::Messages, Purpose::Preemption] {
                assert_eq!(super::pending::cluster(seed, purpose), super::pending::cluster(seed, purpose));
            }
            assert_ne!(super::budgets::cluster(seed, now), super::budgets::cluster(seed + 1, now));
        }
    }
}
