//! Bad input is told in words that help, and never ends in a panic.

use crate::program::{Ran, program, run};
use std::io::Write;
use std::process::Stdio;

/// Runs `status -A --from -` with this on standard input.
fn status_of(input: &[u8]) -> Ran {
    let mut child = program()
        .args(["status", "-A", "-o", "json", "--from", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the executable runs");
    // The program may end before it has read all.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("it ends").into()
}

fn list(items: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"List","items":[{items}]}}"#)
}

const BUDGET: &str = r#"{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"n"},
"spec":{"minAvailable":RULE,"selector":{"matchLabels":{"app":"x"}}}}"#;
const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"NAME","namespace":"n","labels":{"app":"x"}},
"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":CPU}}}]},
"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}"#;

fn pod(name: &str, cpu: &str) -> String {
    POD.replace("NAME", name).replace("CPU", cpu)
}

#[test]
fn what_cannot_be_read_is_named_with_its_place() {
    for (input, words) in [
        (String::new(), "there is no Kubernetes object in it"),
        ("hello".to_owned(), "not a Kubernetes object"),
        ("<html>".to_owned(), "standard input"),
        ("{}".to_owned(), "is no Kubernetes object"),
        ("[1,2]".to_owned(), "not a Kubernetes object"),
        (r#"{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod""#.to_owned(), "cut short"),
        (
            list(&pod("p", "\"ten\"")),
            "line 2, column 70: Pod n/p: spec.containers[0].resources.requests.cpu: invalid value: string \"ten\", expected a quantity",
        ),
        (
            list(&BUDGET.replace("RULE", "99999999999")),
            "line 2, column 34: PodDisruptionBudget n/b: spec.minAvailable: ",
        ),
        (list(&BUDGET.replace("RULE", "1.5")), "PodDisruptionBudget n/b"),
        (list(&BUDGET.replace("RULE", "true")), "a 32-bit integer or a string such as 50%"),
        ("a: [1,".to_owned(), "neither JSON nor YAML"),
    ] {
        let ran = status_of(input.as_bytes());
        assert_eq!(ran.status, 1, "{input}: {}", ran.err);
        assert!(ran.err.starts_with("error: "), "{input}: {}", ran.err);
        assert!(ran.err.contains(words), "{input}: {}", ran.err);
        assert!(ran.out.is_empty(), "{input}");
    }
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("{}".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert!(status_of(&utf16).err.contains("UTF-16"));
}

#[test]
fn a_wrong_command_line_is_told_what_would_be_right() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    for (args, words) in [
        ("", "Usage: kubectl pdb"),
        ("stauts", "'status'"),
        ("status --exit-cod", "'--exit-code'"),
        ("status starer -n edge --from budgets", "did you mean starter?"),
        ("status starter --from budgets", "it is in namespace edge: give -n"),
        ("status -A --now noon --from budgets", "2026-01-31T12:00:00Z"),
        ("status -A -o jsn --from budgets", "json"),
        ("status -A --interval 0s --from budgets", "longer than 0"),
        ("status -A --context c --from budgets", "give one of the two"),
        ("status", "--from FILE"),
        ("drain-plan n11 --from drain", "did you mean n1"),
        ("drain-plan n1 --timeout 5x --from drain", "30s"),
        ("why-pending cart-60788521-nv4z -n shop --from pending", "did you mean cart-60788521-nv4zt?"),
        ("why-pending cart-60788521-nv4zt --from pending", "it is in namespace shop: give -n"),
        ("why-pending deploment/cart -n shop --from pending", "did you mean deployment?"),
        ("explain zero-by-rul", "did you mean zero-by-rule?"),
        ("explain -o html", "drain-plan"),
        ("schema status -o html", "drain-plan"),
        ("man stats", "did you mean status?"),
    ] {
        let args = args.split_whitespace().map(|word| match word {
            "budgets" | "drain" | "pending" => format!("{examples}/{word}"),
            _ => word.to_owned(),
        });
        let ran = run(args);
        assert!(
            ran.status == 1 && ran.out.is_empty() && ran.err.contains(words),
            "{words}: {} {}",
            ran.status,
            ran.err
        );
    }
}

#[test]
fn absurd_rules_are_judged() {
    // rule, verdict: a huge count is never met; the API server refuses what is negative, and a string that is no
    // percentage.
    for (rule, verdict) in [
        ("2147483647", "never"),
        ("-3", "broken"),
        ("\"half\"", "broken"),
        ("\"5.5%\"", "broken"),
        ("\"-50%\"", "broken"),
    ] {
        let ran = status_of(list(&format!("{},{}", BUDGET.replace("RULE", rule), pod("p", "1"))).as_bytes());
        assert_eq!(ran.status, 0, "{rule}: {}", ran.err);
        let item = &ran.json()["items"][0];
        assert_eq!(item["verdict"], verdict, "{rule}: {item}");
    }
}

#[test]
fn owners_in_a_ring_and_owners_that_are_gone_end() {
    let owned = |name: &str, by: &str| {
        pod(name, "1").replace(
            r#""labels""#,
            &format!(
                r#""ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{by}","uid":"u-{by}","controller":true}}],"labels""#
            ),
        )
    };
    let set = |name: &str, by: &str| {
        format!(
            r#"{{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{{"name":"{name}","namespace":"n","uid":"u-{name}","ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{by}","uid":"u-{by}","controller":true}}]}},"spec":{{"replicas":1}}}}"#
        )
    };
    let budget = BUDGET.replace("RULE", "\"50%\"");
    let ring = list(&[budget.clone(), owned("p", "a"), set("a", "b"), set("b", "a")].join(","));
    assert_eq!(status_of(ring.as_bytes()).status, 0);
    let gone = list(&[budget, owned("p", "zzz"), set("a", "b")].join(","));
    let ran = status_of(gone.as_bytes());
    assert_eq!(ran.json()["items"][0]["verdict"], "broken", "{}", ran.out);
}

#[test]
fn a_huge_annotation_and_control_characters_do_no_harm() {
    let huge = "x".repeat(100 << 20);
    let named =
        pod("p\\u001b[2Jq", "1").replace(r#""labels""#, &format!(r#""annotations":{{"note":"{huge}"}},"labels""#));
    let input = list(&[BUDGET.replace("RULE", "1"), named].join(","));
    let ran = status_of(input.as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(!ran.out.contains(&huge[..100]), "foreign annotations are not kept");
    assert!(!ran.out.contains('\u{1b}'), "no escape code reaches the terminal");
}

#[test]
fn yaml_and_several_documents_are_read() {
    let yaml = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b, namespace: n}\nspec:\n  maxUnavailable: 0\n  selector: {}\n---\n\
                apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: n}\n";
    let ran = status_of(yaml.as_bytes());
    assert_eq!(ran.json()["items"][0]["pods"][0]["name"], "p", "{}", ran.err);
}
