//! `check`: manifests judged before they are applied, in every form that is asked for.

use crate::program::{Ran, here, program, run, run_on};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

const BUDGET: &str = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\n\
    spec: {minAvailable: MIN, selector: {matchLabels: {app: web}}}\n";
const WEB: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n\
    spec:\n  replicas: COUNT\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
    spec: {containers: [{name: c, image: c}]}\n";

/// A budget of so many over a Deployment of so many.
fn web(min: &str, count: &str) -> String {
    BUDGET.replace("MIN", min) + &WEB.replace("COUNT", count)
}

/// Checks what comes through a pipe.
fn check(manifests: &str, args: &[&str]) -> Ran {
    run_on(manifests, &[&["check", "-f", "-"], args].concat())
}

/// Above each object of `tests/manifests/` and `examples/faults/` stands what is to be found: `# expect: CODE…`.
#[test]
fn manifests_are_found_as_they_are() {
    let mut bad = String::new();
    let mut objects = 0;
    let folders = [here("manifests"), here("../examples/faults")];
    for path in folders.iter().flat_map(|f| fs::read_dir(f).unwrap()).map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        let mut want: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (line, at) in text.lines().zip(1..) {
            if let Some(codes) = line.strip_prefix("# expect:") {
                want.insert(at + 1, codes.split_whitespace().collect());
            }
        }
        objects += want.len();
        let document = run(["check", "-o", "json", "-f", path.to_str().unwrap()]).json();
        let items = document["items"].as_array().unwrap();
        let got: BTreeMap<usize, Vec<&str>> = items
            .iter()
            .map(|item| {
                let codes = item["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap());
                (usize::try_from(item["line"].as_u64().unwrap()).unwrap(), codes.collect())
            })
            .collect();
        for (line, codes) in &want {
            if got.get(line) != Some(codes) {
                let _ = writeln!(bad, "{}:{line}: expected {codes:?}, found {:?}", path.display(), got.get(line));
            }
        }
        for line in got.keys().filter(|line| !want.contains_key(line) && !got[line].is_empty()) {
            let _ = writeln!(bad, "{}:{line}: found {:?}", path.display(), got[line]);
        }
    }
    assert!(objects >= 30, "{objects} objects");
    assert!(bad.is_empty(), "\n{bad}");
}

#[test]
fn the_status_says_how_it_ended() {
    let template = "kind: PodDisruptionBudget\nspec: {minAvailable: {{ .Values.min }}}\n";
    let spread =
        web("1", "3") + &WEB.replace("COUNT", "1").replace("name: web", "name: other").replace("app: web", "app: x");
    for (title, manifests, args, status) in [
        ("nothing is wrong", web("1", "3"), &[][..], 0),
        ("an error", web("3", "3"), &[], 2),
        ("a warning", web("0", "3"), &[], 0),
        ("a warning that is to fail", web("0", "3"), &["--fail-on=warning"], 2),
        ("a note that is to fail", spread.clone(), &["--fail-on=info"], 2),
        ("a note", spread, &["--fail-on=warning"], 0),
        ("an error that is left out", web("3", "3"), &["--ignore=zero-by-rule:shop/web"], 0),
        ("an error of another object", web("3", "3"), &["--ignore=zero-by-rule:shop/api"], 2),
        ("a template", template.to_owned(), &[], 3),
        ("a template beside an error", format!("{}---\n{template}", web("3", "3")), &[], 2),
        ("no object", "replicas: 3\n".to_owned(), &[], 1),
        ("nothing", String::new(), &[], 1),
        ("no YAML", "kind: [\n".to_owned(), &[], 2),
        ("no such code", web("1", "3"), &["--ignore=nothing"], 1),
        ("no such severity", web("1", "3"), &["--fail-on=bad"], 1),
    ] {
        let ran = check(&manifests, args);
        assert_eq!(ran.status, status, "{title}: {}{}", ran.out, ran.err);
        assert_eq!(ran.err.is_empty(), status != 1, "{title}: {}", ran.err);
    }
    let absent = run(["check", "-f", "/nonexistent.yaml"]).err;
    assert!(absent.starts_with("error: /nonexistent.yaml: no such file\n"), "{absent}");
    for args in [&["check"][..], &["check", "-f", "/nonexistent.yaml"], &["status", "-o", "sarif", "--from", "-"]] {
        let ran = run(args);
        assert!(ran.status == 1 && ran.out.is_empty() && !ran.err.is_empty(), "{args:?}: {}", ran.err);
    }
}

#[test]
fn replicas_are_counted_and_not_made() {
    let ran = check(&web("2147483646", "2147483647"), &["-o", "json"]);
    assert_eq!(ran.json()["items"][0]["verdict"], "allows", "{}", ran.out);
}

#[test]
fn sarif_has_a_rule_for_each_code_and_a_place_for_each_finding() {
    let ran = check(
        &(web("3", "3") + "---\n" + &BUDGET.replace("MIN", "1").replace("name: web", "name: two")),
        &["-o", "sarif"],
    );
    let log = ran.json();
    assert_eq!((&log["version"], ran.status), (&json!("2.1.0"), 2));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["text"].as_str().is_some_and(|t| t.len() > 20), "{rule}");
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1, "{result}");
        assert!(place["artifactLocation"]["uri"].is_string(), "{result}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()), "{result}");
        assert!(result["message"]["text"].is_string(), "{result}");
    }
    let line = &results[0]["locations"][0]["physicalLocation"]["region"]["startLine"];
    assert_eq!(line, &json!(1));
}

#[test]
fn github_gets_an_annotation_for_each_finding() {
    let folder = std::env::temp_dir().join(format!("kubectl-pdb-check-{}", std::process::id()));
    fs::create_dir_all(folder.join("a,b")).unwrap();
    fs::write(folder.join("a,b").join("web.yaml"), format!("# a comment\n{}", web("3", "3"))).unwrap();
    let ran = program().current_dir(&folder).args(["check", "-f", ".", "-o", "github"]).output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let ran = Ran::from(ran);
    assert!(ran.out.starts_with("::error file=a%2Cb/web.yaml,line=2,title=zero-by-rule::"), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
}

#[test]
fn junit_fails_what_is_at_or_above_the_severity() {
    let manifests = web("0", "3");
    let (fails, passes) =
        (check(&manifests, &["-o", "junit", "--fail-on=warning"]), check(&manifests, &["-o", "junit"]));
    assert!(
        fails.out.contains("<failure type=\"over-permissive\"") && fails.out.contains("failures=\"1\""),
        "{}",
        fails.out
    );
    assert!(!passes.out.contains("<failure") && passes.out.contains("failures=\"0\""), "{}", passes.out);
    for text in [&fails.out, &passes.out] {
        let cases = text.lines().filter(|l| l.trim_start().starts_with("<testcase"));
        let closed = text.matches("</testcase>").count() + cases.clone().filter(|l| l.ends_with("/>")).count();
        assert_eq!(cases.count(), closed, "{text}");
    }
}

#[test]
fn an_object_can_leave_codes_out_itself() {
    let marked = web("3", "3").replacen(
        "namespace: shop}",
        "namespace: shop, annotations: {kubectl-pdb/ignore: zero-by-rule}}",
        1,
    );
    let ran = check(&marked, &[]);
    assert!(ran.status == 0 && ran.out.contains("(1 ignored)"), "{}", ran.out);
}

#[test]
fn every_object_is_counted() {
    let more = "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n\
        ---\napiVersion: v1\nkind: Pod\nmetadata: {name: test, namespace: shop, annotations: {helm.sh/hook: test}, \
        labels: {app: web}}\nspec: {containers: [{name: c, image: c}]}\n---\nvalues: 1\n";
    let ran = check(&(web("1", "3") + more), &[]);
    assert_eq!(
        ran.out,
        "3 objects in 1 file, 2 of them checked: no findings; 1 hook left out, as a hook does not run beside the \
         application; 1 document without a Kubernetes object\n"
    );
}

#[test]
fn a_template_and_an_older_version_are_told() {
    let old = web("3", "4").replace("policy/v1", "policy/v1beta1");
    let ran = check(&old, &["-o", "json"]);
    let finding = &ran.json()["items"][0]["findings"][0];
    assert_eq!(finding["code"], "removed-api", "{}", ran.out);
    let rendered = format!("---\n# Source: web/templates/pdb.yaml\n{}", web("3", "3"));
    let item: Value = check(&rendered, &["-o", "json"]).json()["items"][0].clone();
    assert_eq!((&item["template"], &item["line"]), (&json!("web/templates/pdb.yaml"), &json!(3)));
    assert!(check(&rendered, &["-o", "github"]).out.contains("file=web/templates/pdb.yaml,line=1,"));
}

#[test]
fn what_a_snapshot_holds_is_checked_without_other_manifests() {
    let cluster = here("cases/status/s000-quorum/cluster.json");
    let ran = run(["check", "-o", "json", "--from", cluster.to_str().unwrap()]);
    let document = ran.json();
    let items = document["items"].as_array().unwrap();
    let etcd = items.iter().find(|i| i["kind"] == "PodDisruptionBudget").unwrap();
    assert_eq!((&etcd["name"], &etcd["findings"][0]["code"]), (&json!("etcd"), &json!("quorum")), "{etcd}");
}

#[test]
fn the_page_and_the_names_have_what_the_text_has() {
    let manifests = web("3", "3");
    assert_eq!(check(&manifests, &["-o", "name"]).out, "poddisruptionbudget/web\n");
    let page = check(&manifests, &["-o", "html"]).out;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("zero-by-rule"), "{page}");
    assert!(check(&manifests, &["--severity=error"]).out.contains("1 error"));
    assert!(check(&web("0", "3"), &["--severity=error"]).out.contains("no findings"));
}

/// Both pods of the budget are on n1: it refuses both, or lets the second go once the first has its replacement.
#[test]
fn what_manifests_change_in_a_cluster_is_told() {
    let cluster = here("cases/drain-plan/own-webhook-object-selector-never-matches/cluster.json");
    let cluster = cluster.to_str().unwrap();
    let pdb = |min: i32| {
        format!(
            "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {{name: api, namespace: web}}\n\
             spec: {{minAvailable: {min}, selector: {{matchLabels: {{app: api}}}}}}\n"
        )
    };
    for (min, status, want) in [
        (2, 2, &["node n1: drains → blocked", "budget web/api: allows → never"][..]),
        (1, 0, &["node n1: drains → waits"]),
    ] {
        let ran = check(&pdb(min), &["--from", cluster, "-o", "json"]);
        let changes = ran.json()["changes"].as_array().cloned().unwrap_or_default();
        let told: Vec<String> = changes
            .iter()
            .map(|c| {
                let text = |field: &str| c[field].as_str().unwrap_or_default();
                let kind = ["node", "budget", "pod"].into_iter().find(|kind| c[kind].is_string()).unwrap_or_default();
                format!("{kind} {}: {} → {}", text(kind), text("before"), text("after"))
            })
            .collect();
        assert_eq!((told, ran.status), (want.iter().map(ToString::to_string).collect(), status), "minAvailable {min}");
    }
}
