//! Several drains at a time, and nodes that are added before: `--parallel` and `--surge`.

use crate::program::run;
use serde_json::{Value, json};

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/drain");

fn plan(args: &[&str]) -> Value {
    let ran = run([&["drain-plan", "--from", CLUSTER, "-o", "json"], args].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.err))
}

#[test]
fn several_drains_at_a_time_are_told_over_time() {
    let alone = plan(&[]);
    assert_eq!(alone.get("timeline"), None, "nobody asked for it");
    for (parallel, lanes) in [("1", vec![1, 1, 1]), ("2", vec![1, 2, 2]), ("3", vec![1, 2, 3])] {
        let planned = plan(&["--parallel", parallel]);
        let timeline = &planned["timeline"];
        let turns = timeline["nodes"].as_array().unwrap();
        let mut got: Vec<i64> = turns.iter().filter_map(|t| t["lane"].as_i64()).collect();
        got.sort_unstable();
        assert_eq!((timeline["parallel"].to_string(), got.len()), (parallel.to_owned(), lanes.len()));
        assert!(got.iter().all(|lane| lanes.contains(lane)), "{got:?}");
        // What never ends has no end, and stops the whole.
        let endless: Vec<&Value> = turns.iter().filter(|t| t["ends"].is_null()).map(|t| &t["name"]).collect();
        assert_eq!(timeline["seconds"].is_null(), !endless.is_empty(), "{timeline:#}");
        assert!(endless.iter().all(|name| timeline["stoppedBy"].as_array().unwrap().contains(name)), "{timeline:#}");
        for turn in turns.iter().filter(|t| !t["after"].is_null()) {
            let before = turns.iter().find(|t| t["name"] == turn["after"]).unwrap();
            assert!(before["ends"].is_null() || before["ends"].as_i64() <= turn["begins"].as_i64(), "{turn:#}");
        }
    }
    let ran = run(["drain-plan", "--from", CLUSTER, "--parallel", "2"]);
    assert!(ran.out.contains("2 nodes at a time: ") && ran.out.contains("BEGINS"), "{}", ran.out);
}

#[test]
fn nodes_that_are_added_before_take_replacements() {
    let without = plan(&["n1"]);
    let with = plan(&["n1", "--surge", "1"]);
    assert_eq!((&without["nodes"][0]["verdict"], &with["nodes"][0]["verdict"]), (&json!("blocked"), &json!("waits")));
    let places: Vec<&Value> =
        with["nodes"][0]["pods"].as_array().unwrap().iter().map(|p| &p["replacement"]["node"]).collect();
    assert!(places.contains(&&json!("surge-1")), "{places:?}");
    let ran = run(["drain-plan", "--from", CLUSTER, "--parallel", "0"]);
    assert_eq!(ran.status, 1, "no drain at a time is none: {}", ran.out);
}
