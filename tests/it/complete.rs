//! Completion: the scripts that ship, and what they are told.

use std::process::Command;

use serde_json::json;

use crate::fake_api::FakeApi;

fn asked(shell: &str, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-pdb"))
        .args(words)
        .env_clear()
        .env("COMPLETE", shell)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{shell}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_scripts_that_ship_are_those_of_this_program() {
    let scripts = [
        ("bash", "kubectl-pdb.bash"),
        ("fish", "kubectl-pdb.fish"),
        ("kubectl", "kubectl_complete-pdb"),
        ("powershell", "kubectl-pdb.ps1"),
        ("zsh", "_kubectl-pdb"),
    ];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
    for (shell, file) in scripts {
        let shipped = std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
        assert_eq!(shipped, asked(shell, &[]), "write it anew: COMPLETE={shell} kubectl-pdb > completions/{file}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), scripts.len(), "a file that no shell reads");
}

/// What kubectl is told for the words behind `kubectl pdb`.
fn kubectl(words: &[&str]) -> Vec<String> {
    let answer = asked("kubectl", &[&["--", "kubectl-pdb"], words].concat());
    let mut lines: Vec<_> = answer.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some(":4"), "{answer}");
    lines
}

#[test]
fn commands_flags_and_names_complete() {
    assert_eq!(kubectl(&["stat"]).len(), 1);
    assert!(kubectl(&["stat"])[0].starts_with("status\t"));
    assert!(kubectl(&["status", "--request-t"])[0].starts_with("--request-timeout\t"));
    let object = |name: &str, namespace: &str| json!({"metadata": {"name": name, "namespace": namespace}});
    let api = FakeApi::new()
        .list("/api/v1/namespaces", "NamespaceList", vec![object("infra", ""), object("shop", "")])
        .list(
            "/apis/policy/v1/poddisruptionbudgets",
            "PodDisruptionBudgetList",
            vec![object("web", "shop"), object("api", "shop"), object("dns", "infra")],
        )
        .start();
    let nothing = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/empty-kubeconfig.yaml");
    let live = |words: &[&str]| kubectl(&[&["--kubeconfig", nothing, "--server", &api.url], words].concat());
    assert_eq!(live(&["status", "-n", ""]), ["infra", "shop"]);
    assert_eq!(live(&["status", "-n", "sh"]), ["shop"]);
    assert_eq!(live(&["status", "-n", "shop", ""]).iter().filter(|word| !word.starts_with('-')).count(), 2);
    assert_eq!(live(&["status", "-n", "infra", "d"]), ["dns"]);
    assert_eq!(live(&["status", "-n", "infra", "--from", "file", "d"]), Vec::<String>::new());
    // A server that is away must not hold up the shell with words.
    assert_eq!(
        kubectl(&["--kubeconfig", nothing, "--server", "http://127.0.0.1:9", "status", "-n", "x"]),
        Vec::<String>::new()
    );
}
