//! Completion: the scripts that ship, and what they are told.

use std::process::Command;

use serde_json::json;

use kubectl_pdb::cli::Shell;
use kubectl_pdb::complete::script;
use kubectl_pdb::plugin::Plugin;

use crate::fake_api::FakeApi;
use crate::program::run;

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
        (Shell::Bash, Plugin::Pdb, "kubectl-pdb.bash"),
        (Shell::Fish, Plugin::Pdb, "kubectl-pdb.fish"),
        (Shell::Powershell, Plugin::Pdb, "kubectl-pdb.ps1"),
        (Shell::Zsh, Plugin::Pdb, "_kubectl-pdb"),
        (Shell::Kubectl, Plugin::Pdb, "kubectl_complete-pdb"),
        (Shell::Kubectl, Plugin::DrainPlan, "kubectl_complete-drain_plan"),
    ];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
    for (shell, plugin, file) in scripts {
        let (path, text) = (format!("{folder}/{file}"), script(shell, plugin));
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let shipped = std::fs::read_to_string(&path).unwrap();
        assert_eq!(shipped, text, "write it anew: BLESS=1 cargo test --test it scripts_that_ship");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), scripts.len(), "a file that no shell reads");
    for shell in ["bash", "fish", "powershell", "zsh", "kubectl"] {
        assert_eq!(asked(shell, &[]), run(["completion", shell]).out, "{shell}");
    }
}

/// kubectl may also find the program itself under the name that it looks for.
#[cfg(unix)]
#[test]
fn called_by_the_name_that_completes_it_answers_at_once() {
    let folder = std::env::temp_dir().join(format!("kubectl-pdb-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let named = |name: &str, words: &[&str]| {
        let link = folder.join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubectl-pdb"), &link).unwrap();
        let output = Command::new(&link).args(words).env_clear().env("HOME", "/nonexistent").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let status = named("kubectl_complete-pdb", &["stat"]);
    assert!(status.starts_with("status\t") && status.ends_with("\n:4\n"), "{status}");
    let flag = named("kubectl_complete-drain_plan", &["--pod-sel"]);
    assert!(flag.starts_with("--pod-selector\t"), "{flag}");
    let help = named("kubectl-drain_plan", &["--help"]);
    assert!(help.contains("Usage: kubectl drain-plan "), "{help}");
    std::fs::remove_dir_all(&folder).unwrap();
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
