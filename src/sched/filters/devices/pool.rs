//! A pool of devices, as some of its slices make it.

use super::ids::{Counters, Entry, PoolId};
use std::collections::BTreeMap;

/// A pool as a node reaches it.
#[derive(Debug)]
pub struct Pool {
    /// Which pool.
    pub id: PoolId,
    /// A slice of it is not there: nothing can be had of it, nor can all of something be.
    pub incomplete: bool,
    /// Its slices contradict each other.
    pub invalid: bool,
    /// Devices that the node reaches (those in slices whose devices have their own places may be elsewhere), in the order
    /// in which they are tried.
    pub devices: Vec<Entry>,
    /// Devices of the pool elsewhere; they share its counters.
    pub elsewhere: Vec<Entry>,
    /// Counter sets by name.
    pub counters: BTreeMap<String, Counters>,
    /// Whether some device waits for conditions before it is bound; such pools come last.
    pub binding: bool,
}
