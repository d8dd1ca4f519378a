//! Servers, and what stands before them, that misbehave: the right answer or a plain failure, in bounded time, and no
//! token in any output. All of it over TLS, as credentials go no other way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use kubectl_pdb::snapshot::Kind;
use serde_json::{Value, json};

use crate::fake_api::{FakeApi, Running, authority, path_of};
use crate::program::{Ran, here, in_parallel, program, read_json};
use crate::reply::Reply;
use crate::verdicts::better;

const NOTHING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/empty-kubeconfig.yaml");
const PODS: &str = "/api/v1/pods";
const SETS: &str = "/apis/apps/v1/statefulsets";
const SECRET: &str = "s3cr3t-token";
/// Far above what any run takes; one that hangs is ended then.
const HANGS: Duration = Duration::from_secs(120);

/// Five pods of a StatefulSet under a budget: three pages of pods.
fn cluster() -> FakeApi {
    let labels = json!({"app": "db"});
    let pod = |i: usize| {
        json!({
            "metadata": {"name": format!("db-{i}"), "namespace": "shop", "uid": format!("p{i}"), "labels": labels,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s",
                    "controller": true}]},
            "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        })
    };
    let set = json!({"metadata": {"name": "db", "namespace": "shop", "uid": "s"},
        "spec": {"replicas": 5, "selector": {"matchLabels": labels}}});
    let budget = json!({
        "metadata": {"name": "db", "namespace": "shop", "generation": 1},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
        "status": {"observedGeneration": 1, "expectedPods": 5, "desiredHealthy": 4, "currentHealthy": 5,
            "disruptionsAllowed": 1},
    });
    FakeApi::new()
        .token(SECRET)
        .page(2)
        .list(PODS, "PodList", (0..5).map(pod).collect())
        .list("/api/v1/nodes", "NodeList", vec![json!({"metadata": {"name": "n"}})])
        .list("/api/v1/namespaces", "NamespaceList", vec![json!({"metadata": {"name": "shop"}})])
        .list("/api/v1/replicationcontrollers", "ReplicationControllerList", vec![])
        .list(SETS, "StatefulSetList", vec![set])
        .list("/apis/apps/v1/deployments", "DeploymentList", vec![])
        .list("/apis/apps/v1/replicasets", "ReplicaSetList", vec![])
        .list("/apis/autoscaling/v2/horizontalpodautoscalers", "HorizontalPodAutoscalerList", vec![])
        .list("/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudgetList", vec![budget])
}

/// Runs the program until it ends, or hangs.
fn run_with(args: &[&str]) -> Ran {
    let mut child = program().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Both outputs are small, and fit into their pipes.
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap().into()
}

fn status(url: &str, more: &[&str]) -> Ran {
    let authority = authority().to_str().unwrap();
    let args = ["status", "-A", "-o", "json", "-v", "10", "--kubeconfig", NOTHING, "--server", url];
    let ran = run_with(&[&args, &["--certificate-authority", authority, "--token", SECRET][..], more].concat());
    assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET), "the token is shown: {}{}", ran.err, ran.out);
    ran
}

/// What has to come of a fault.
enum Want {
    /// The answer that would have been given without it.
    Answer,
    /// No answer, and these words.
    Failure(&'static str),
    /// An answer with a gap at this resource, in these words, and an unknown verdict.
    Gap(&'static str, &'static str),
}

fn holds(api: &Running, more: &[&str], want: &Want) -> Result<(), String> {
    let ran = status(&api.url, more);
    let document = ran.json();
    let item = &document["items"][0];
    let told = format!("exit {}: {}\n{}", ran.status, ran.err, ran.out);
    let ok = match want {
        Want::Answer => ran.status == 0 && document["complete"] == true && item["verdict"] == "allows",
        Want::Failure(words) => {
            let last = ran.err.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
            ran.status == 1 && ran.out.is_empty() && last.contains(words)
        }
        Want::Gap(resource, words) => {
            let gap = document["gaps"].as_array().into_iter().flatten().find(|gap| gap["resource"] == **resource);
            let said = gap.is_some_and(|gap| gap["effect"].as_str().is_some_and(|effect| effect.contains(words)));
            said && document["complete"] == false && item["verdict"] == "unknown"
        }
    };
    if ok { Ok(()) } else { Err(told) }
}

/// Rows of a fault, the server that has it, flags, and what has to come of it.
type Row = (&'static str, FakeApi, &'static [&'static str], Want);

fn all_hold(rows: Vec<Row>) {
    let rows: Vec<_> = rows.into_iter().map(|(name, api, more, want)| (name, api.start_tls(), more, want)).collect();
    let failures: Vec<_> = in_parallel(&rows, |(name, api, more, want)| {
        holds(api, more, want).err().map(|told| format!("{name}: {told}"))
    });
    let failures: Vec<_> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{} of {} faults:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// A gap at the pods, in these words.
fn pods(words: &'static str) -> Want {
    Want::Gap("pods", words)
}

fn pods_page(token: &str) -> Value {
    json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"continue": token}, "items": []})
}

fn busy() -> Reply {
    Reply::status(429, "TooManyRequests", "too many requests")
}

#[test]
fn servers_that_are_busy_or_forget() {
    let expired = || Reply::status(410, "Expired", "The provided continue parameter is too old");
    let down = || Reply::status(503, "ServiceUnavailable", "the server is starting");
    let broken = || Reply::status(500, "InternalError", "etcdserver: leader changed");
    let once = |reply: Reply| cluster().script(PODS, [reply]);
    let in_a_second = jiff::fmt::rfc2822::to_string(
        &(jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2)).to_zoned(jiff::tz::TimeZone::UTC),
    );
    let until = in_a_second.unwrap();
    all_hold(vec![
        ("nothing", cluster(), &[], Want::Answer),
        ("410 at page two, once", cluster().script(PODS, [Reply::json(&pods_page("2")), expired()]), &[], Want::Answer),
        ("410 at page two, for ever", cluster().later(PODS, expired()), &[], pods("too old (410)")),
        ("429", once(busy()), &[], Want::Answer),
        ("429 with seconds", once(busy().header("Retry-After", "1")), &[], Want::Answer),
        ("429 with a date", once(busy().header("Retry-After", &until)), &[], Want::Answer),
        (
            "429 with a date gone by",
            once(busy().header("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT")),
            &[],
            Want::Answer,
        ),
        ("429 with words", once(busy().header("Retry-After", "soon")), &[], Want::Answer),
        ("429 with a negative number", once(busy().header("Retry-After", "-5")), &[], Want::Answer),
        ("429 for a day", once(busy().header("Retry-After", "86400")), &[], pods("too many requests (429)")),
        (
            "429 until the end of time",
            once(busy().header("Retry-After", "99999999999999999999")),
            &[],
            pods("too many requests (429)"),
        ),
        ("429 for ever", cluster().always(PODS, busy()), &[], pods("too many requests (429)")),
        ("503 once", once(down()), &[], Want::Answer),
        ("503 for ever", cluster().always(PODS, down()), &[], pods("the server is starting (503)")),
        ("500 once", once(broken()), &[], Want::Answer),
        ("500 for ever", cluster().always(PODS, broken()), &[], pods("etcdserver: leader changed (500)")),
        (
            "500 for ever, of what matters less",
            cluster().always(SETS, broken()),
            &[],
            Want::Gap("statefulsets.apps", "leader changed (500)"),
        ),
        ("503 at the greeting", cluster().script("/version", [down()]), &[], Want::Answer),
        (
            "503 at the greeting, for ever",
            cluster().always("/version", down()),
            &[],
            Want::Failure("does not answer: the server is starting (503)"),
        ),
        (
            "504 of a proxy",
            cluster().always(PODS, Reply::new(504, "text/html", "<html>\ngone")),
            &[],
            pods("<html> (504)"),
        ),
    ]);
}

#[test]
fn answers_that_break_off_or_do_not_end() {
    let list = || {
        Reply::json(
            &json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "x"}}]}),
        )
    };
    let once = |reply: Reply| cluster().script(PODS, [reply]);
    let ever = |reply: Reply| cluster().always(PODS, reply);
    let soon: &[&str] = &["--request-timeout=500ms"];
    let late = || pods("no whole answer within 0.5 s");
    all_hold(vec![
        ("closed before the head", once(Reply::raw("")), &[], Want::Answer),
        ("closed in the head", once(Reply::raw("HTTP/1.1 200 OK\r\nContent-Le")), &[], Want::Answer),
        ("closed in the body", once(list().closed_at(30)), &[], Want::Answer),
        ("closed in the body, for ever", ever(list().closed_at(30)), &[], pods("")),
        ("reset in the body", once(list().reset_at(30)), &[], Want::Answer),
        ("reset in the body, for ever", ever(list().reset_at(30)), &[], pods("")),
        ("a length that is too long", ever(list().saying_length(10_000).then_silent()), soon, late()),
        ("a length that is too short", ever(list().saying_length(60)), &[], pods("")),
        ("a length that is absurd", ever(list().saying_length(1 << 60)), soon, late()),
        ("a body that drips", ever(list().dripping(Duration::from_millis(50))), soon, late()),
        ("no answer at all", ever(list().after(Duration::from_secs(3600))), soon, late()),
        (
            "gzip that breaks off",
            ever(
                Reply::new(200, "application/json", b"\x1f\x8b\x08\0\0\0\0\0\0\xff\xab".to_vec())
                    .header("Content-Encoding", "gzip"),
            ),
            &[],
            pods(""),
        ),
        ("gzip that is none", ever(list().header("Content-Encoding", "gzip")), &[], pods("")),
        (
            "an encoding that was not asked for",
            ever(Reply::new(200, "application/json", "\x0b\x02").header("Content-Encoding", "br")),
            &[],
            pods(""),
        ),
        (
            "a list cut in an item",
            ever(Reply::new(
                200,
                "application/json",
                r#"{"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"db-0"#,
            )),
            &[],
            pods(""),
        ),
        (
            "a list cut behind an item",
            ever(Reply::new(
                200,
                "application/json",
                r#"{"kind":"PodList","metadata":{},"items":[{"metadata":{"name":"db-0"}}"#,
            )),
            &[],
            pods(""),
        ),
        (
            "a frame of HTTP/2 that sends away",
            ever(Reply::raw(b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec())),
            &[],
            pods(""),
        ),
    ]);
}

#[test]
fn answers_that_are_something_else() {
    let ever = |reply: Reply| cluster().always(PODS, reply);
    let login = || Reply::new(200, "text/html; charset=utf-8", "<!DOCTYPE html><title>Log in</title>");
    let json = |text: &str| Reply::new(200, "application/json", text);
    let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}).to_string();
    all_hold(vec![
        ("a login page", ever(login()), &[], pods("neither JSON nor protobuf")),
        (
            "a login page at the greeting",
            cluster().always("/version", login()),
            &[],
            Want::Failure("does not answer as an API server"),
        ),
        ("a login page for the groups", cluster().always("/apis", login()), &[], Want::Answer),
        (
            "a login page of what matters less",
            cluster().always(SETS, login()),
            &[],
            Want::Gap("statefulsets.apps", "neither JSON nor protobuf"),
        ),
        (
            "protobuf promised",
            ever(Reply::new(200, "application/vnd.kubernetes.protobuf", list.clone())),
            &[],
            pods("does not begin as Kubernetes' protobuf does"),
        ),
        ("JSON promised", ever(json("k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList")), &[], pods("")),
        ("nothing", ever(json("")), &[], pods("")),
        ("null", ever(json("null")), &[], pods("")),
        ("an array", ever(json("[]")), &[], pods("")),
        ("an empty object", ever(json("{}")), &[], pods("")),
        (
            "a list of something else",
            ever(json(r#"{"kind":"NodeList","metadata":{},"items":[]}"#)),
            &[],
            pods("NodeList"),
        ),
        ("one pod", ever(json(r#"{"kind":"Pod","metadata":{"name":"x"}}"#)), &[], pods("its kind is \"Pod\"")),
        ("items that are none", ever(json(r#"{"kind":"PodList","metadata":{},"items":[1]}"#)), &[], pods("")),
        ("no content", ever(Reply::new(204, "application/json", "")), &[], pods("HTTP status 204")),
        ("a part", ever(Reply::new(206, "application/json", list)), &[], pods("(206)")),
        (
            "the same page again and again",
            ever(Reply::json(&pods_page("2"))),
            &[],
            pods("the pages of the list do not end"),
        ),
        (
            "two pages in turn",
            cluster().script(PODS, ["a", "b", "a", "b"].map(|token| Reply::json(&pods_page(token)))),
            &[],
            pods("the pages of the list do not end"),
        ),
        (
            "401",
            ever(Reply::status(401, "Unauthorized", "Unauthorized")),
            &[],
            Want::Failure("does not accept the credentials"),
        ),
    ]);
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_body_takes_no_more_than_its_share() {
    let begin = br#"{"kind":"PodList","apiVersion":"v1","metadata":{},"items":["#.repeat(10_000);
    let api = cluster().always(PODS, Reply::new(200, "application/json", begin).endless()).start_tls();
    let authority = authority().to_str().unwrap();
    let limited = "ulimit -v 1500000; exec \"$0\" \"$@\"";
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args([
        "-c",
        limited,
        env!("CARGO_BIN_EXE_kubectl-pdb"),
        "status",
        "-A",
        "-o",
        "json",
        "--kubeconfig",
        NOTHING,
    ]);
    shell.args(["--server", &api.url, "--certificate-authority", authority, "--token", SECRET]);
    let ran: Ran = shell.output().unwrap().into();
    let gap = &ran.json()["gaps"][0];
    assert_eq!(gap["resource"], "pods", "{}", ran.err);
    assert!(gap["effect"].as_str().unwrap().contains("the answer is too long"), "{gap}");
}

#[test]
fn no_other_host_is_asked() {
    for (code, words) in [(301, "(301)"), (302, "(302)"), (303, "(303)"), (307, "(307)"), (308, "(308)")] {
        let other = cluster().start_tls();
        let moved =
            |path: &str| Reply::new(code, "text/html", "moved").header("Location", &format!("{}{path}", other.url));
        let api = cluster().always(PODS, moved(PODS)).start_tls();
        holds(&api, &[], &pods(words)).unwrap();
        let api = cluster().always("/version", moved("/version")).start_tls();
        holds(&api, &[], &Want::Failure(words)).unwrap();
        assert_eq!(other.asked(), Vec::<String>::new());
    }
}

#[test]
fn addresses_of_the_newer_protocol() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return; // This machine has none.
    }
    let api = cluster().start_on("[::1]:0", true);
    assert!(api.url.starts_with("https://[::1]:"), "{}", api.url);
    holds(&api, &[], &Want::Answer).unwrap();
}

/// A kubeconfig for `url` with this user.
fn kubeconfig(name: &str, url: &str, user: &Value) -> PathBuf {
    let file = std::env::temp_dir().join(format!("kubectl-pdb-faults-{name}-{}.json", std::process::id()));
    let cluster = json!({"server": url, "certificate-authority": authority()});
    let config = json!({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}]});
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

/// A plugin that gives another token each time it runs, of which the second is good, and counts its runs.
#[cfg(unix)]
#[test]
fn a_plugin_is_asked_again_when_what_it_gave_is_refused() {
    let count = std::env::temp_dir().join(format!("kubectl-pdb-faults-runs-{}", std::process::id()));
    let script = r#"echo run >>"$COUNT"; n=$(wc -l <"$COUNT"); [ "$n" = 2 ] && t="$GOOD" || t=s3cr3t-old
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}' "$t""#;
    let plugin = |good: &str| {
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "interactiveMode": "Never",
            "args": ["-c", script], "env": [{"name": "COUNT", "value": count}, {"name": "GOOD", "value": good},
                {"name": "PATH", "value": "/usr/bin:/bin"}]}})
    };
    for (good, status) in [(SECRET, 0), ("s3cr3t-never", 1)] {
        let _ = std::fs::remove_file(&count);
        let api = cluster().start_tls();
        let file = kubeconfig("plugin", &api.url, &plugin(good));
        let ran = run_with(&["status", "-A", "-v", "10", "--kubeconfig", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(ran.status, status, "{}", ran.err);
        assert!(!format!("{}{}", ran.out, ran.err).contains("s3cr3t"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 2);
        std::fs::remove_file(&count).unwrap();
    }
}

#[test]
fn no_secret_of_a_kubeconfig_is_shown() {
    let api = cluster().start_tls();
    let with_password = api.url.replace("https://", "https://me:s3cr3t@");
    for (name, url, user) in [
        ("url", with_password.as_str(), json!({})),
        ("url-and-token", with_password.as_str(), json!({"token": "s3cr3t-2"})),
        ("no-url", "https://me:s3cr3t@:x", json!({"token": "s3cr3t-2"})),
        ("closed", "https://me:s3cr3t@127.0.0.1:1", json!({"token": "s3cr3t-2"})),
        ("token", api.url.as_str(), json!({"token": "s3cr3t\u{7}"})),
        ("password", api.url.as_str(), json!({"username": "me", "password": "s3cr3t"})),
        (
            "key",
            api.url.as_str(),
            json!({"client-certificate-data": "czNjcjN0", "client-key-data": "s3cr3t no base64"}),
        ),
        ("type", api.url.as_str(), json!({"token": {"s3cr3t": 1}})),
        ("list", api.url.as_str(), json!({"token": ["s3cr3t"]})),
        ("number", api.url.as_str(), json!({"username": {"s3cr3t": "s3cr3t"}})),
    ] {
        let file = kubeconfig(name, url, &user);
        let ran = run_with(&["status", "-A", "-o", "json", "-v", "10", "--kubeconfig", file.to_str().unwrap()]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(ran.status, 1, "{name}: {}", ran.err);
        assert!(!format!("{}{}", ran.out, ran.err).contains("s3cr3t"), "{name}: {}{}", ran.out, ran.err);
    }
}

/// A recorded cluster as a server has it: every built-in kind, with or without objects.
fn recorded(file: &Path) -> (FakeApi, Vec<(String, String)>) {
    let mut kinds: BTreeMap<Kind, Vec<Value>> = Kind::ALL.iter().map(|kind| (*kind, Vec::new())).collect();
    for object in read_json(file)["items"].as_array().unwrap() {
        let group = object["apiVersion"].as_str().and_then(|v| v.split_once('/')).map_or("", |(group, _)| group);
        let is_of = |kind: &&Kind| kind.info().group == group && object["kind"] == kind.info().name;
        if let Some(kind) = Kind::ALL.iter().find(is_of) {
            kinds.entry(*kind).or_default().push(object.clone());
        }
    }
    let served = |kind: &Kind| !kind.info().custom && *kind != Kind::CustomResourceDefinition;
    let mut api = FakeApi::new();
    let mut paths = Vec::new();
    for (kind, objects) in kinds.into_iter().filter(|(kind, _)| served(kind)) {
        let info = kind.info();
        let path = path_of(kind);
        api = api.list(&path, &format!("{}List", info.name), objects);
        paths.push((kind.resource(), path));
    }
    (api, paths)
}

/// Each list in turn is forbidden, or not there: a gap says so, or there is no answer; nothing looks better for it.
#[test]
fn each_kind_in_turn_is_refused() {
    for (case, args) in [
        ("status/r23-at-the-autoscaler-floor", &["status", "-A"][..]),
        ("drain-plan/r84-drain-where-the-quota-refuses-the-replacement", &["drain-plan"]),
        ("why-pending/r102-device-claim-held-by-lower", &["why-pending", "-A"]),
    ] {
        let file = here("cases").join(case).join("cluster.json");
        let ask = |api: &Running| {
            let connection = ["-o", "json", "--kubeconfig", NOTHING, "--server", &api.url];
            run_with(&[args, &connection].concat())
        };
        let (api, paths) = recorded(&file);
        let api = api.start();
        let whole = ask(&api).json();
        assert_eq!(whole["complete"], true, "{case}: {whole}");
        let asked = api.asked();
        let read = paths.iter().filter(|(_, path)| asked.iter().any(|line| line.starts_with(&format!("GET {path}?"))));
        // What is wanted of pods whose ReplicaSet is not known, is not known either, and taken as what runs.
        let read = read.filter(|(resource, _)| !(case.starts_with("status/") && resource == "replicasets.apps"));
        let failures = in_parallel(&read.collect::<Vec<_>>(), |(resource, path)| {
            let replies = [
                (403, Reply::status(403, "Forbidden", "no")),
                (404, Reply::status(404, "NotFound", "the server could not find the requested resource")),
            ];
            let wrong = replies.into_iter().filter_map(|(code, reply)| {
                let ran = ask(&recorded(&file).0.always(path, reply).start());
                let document = ran.json();
                let gaps = document["gaps"].as_array().into_iter().flatten();
                let is_said = gaps.into_iter().any(|gap| gap["resource"] == **resource && gap["reason"] != "");
                let better = better(&whole, &document);
                let refused = ran.status == 1 && ran.out.is_empty();
                let ok = refused || (is_said && better.is_empty());
                (!ok).then(|| format!("{case}: {resource} {code}: {better:?} gap {is_said}, exit {}", ran.status))
            });
            wrong.collect::<Vec<_>>()
        });
        let failures: Vec<_> = failures.into_iter().flatten().collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
