//! Manifest files: what `helm template` and `kustomize build` print, and what people write, each object with its file and
//! line.

use super::split::{Cut, Splitter};
use super::unreadable::cannot_read;
use super::yaml;
use crate::check::{Content, Manifest};
use crate::error::Result;
use serde_json::Value;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders within folders are read so far.
const DEEPEST: usize = 32;

const HELM: &str = "helm template";
const KUSTOMIZE: &str = "kustomize build";
const YTT: &str = "ytt";
const OPENSHIFT: &str = "oc process";
const ENVSUBST: &str = "envsubst";
const ANOTHER: &str = "its template engine";

/// Reads manifest files, folders with all that is below them (`.yaml`, `.yml` and `.json`; hidden ones are left out) and
/// `-` for standard input.
///
/// # Errors
/// A file or folder that cannot be read. What stands in a file is never an error: it is told where it stands.
pub fn read(paths: &[String]) -> Result<Vec<Manifest>> {
    let mut all = Vec::new();
    for path in paths {
        if path == "-" {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|e| cannot_read("standard input", e))?;
            all.extend(documents("standard input", &bytes));
            continue;
        }
        let mut files = Vec::new();
        find(Path::new(path), 0, &mut files)?;
        for file in files {
            let shown = file.strip_prefix(".").unwrap_or(&file);
            let name = shown.display().to_string();
            let bytes = fs::read(&file).map_err(|e| cannot_read(&name, e))?;
            all.extend(documents(&name, &bytes));
        }
    }
    Ok(all)
}

/// The manifest files below a path, in order of their names; the path itself where it is a file.
fn find(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let name = path.display().to_string();
    if !fs::metadata(path).map_err(|e| cannot_read(&name, e))?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect())
        .map_err(|e| cannot_read(&name, e))?;
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        let is_manifest = entry.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
        if hidden {
            continue;
        }
        if entry.is_dir() && !entry.is_symlink() && depth < DEEPEST {
            find(&entry, depth + 1, files)?;
        } else if is_manifest && entry.is_file() {
            files.push(entry);
        }
    }
    Ok(())
}

/// The objects of one file, and what else stands in it.
pub fn documents(file: &str, bytes: &[u8]) -> Vec<Manifest> {
    let name: Arc<str> = Arc::from(file);
    let made = |line: usize, template: Option<String>, content: Content| Manifest {
        file: name.clone(),
        line,
        template,
        content,
    };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![made(1, None, Content::Unreadable("it is no UTF-8 text".to_owned()))];
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') && !["{{", "{%"].iter().any(|mark| text.trim_start().starts_with(mark)) {
        return json(text).into_iter().map(|(line, content)| made(line, None, content)).collect();
    }
    let mut all = Vec::new();
    for (line, document) in split(text) {
        let template = document.lines().find_map(|l| l.strip_prefix("# Source: ")).map(|t| t.trim().to_owned());
        let found = objects(file, line, document);
        all.extend(found.into_iter().map(|(line, content)| made(line, template.clone(), content)));
    }
    all
}

/// The documents of a YAML file, each with the line on which it begins. A line that begins with `---` ends a document
/// wherever it stands (YAML 1.2, 9.1.2).
fn split(text: &str) -> Vec<(usize, &str)> {
    let is_marker = |line: &str| {
        line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
    };
    let mut documents = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if is_marker(line.trim_end_matches('\n')) {
            documents.push((first, text.get(start..at).unwrap_or_default()));
            // What follows the marker on its line belongs to the next document.
            (start, first) = (at + "---".len(), number);
        }
        at += line.len();
    }
    documents.push((first, text.get(start..).unwrap_or_default()));
    documents
}

/// How many lines of a document come before its first word.
fn lead(document: &str) -> usize {
    let says_nothing = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with(['#', '%']);
    document.lines().take_while(says_nothing).count()
}

fn objects(file: &str, line: usize, document: &str) -> Vec<(usize, Content)> {
    let lead = lead(document);
    if document.lines().nth(lead).is_none_or(|l| l.trim() == "...") {
        return Vec::new();
    }
    let first = line + lead;
    if document.lines().any(|l| l.starts_with("#@") || l.contains(": #@ ")) {
        return vec![(first, Content::Unrendered(YTT))];
    }
    match serde_saphyr::from_str_with_options::<Value>(document, yaml::options()) {
        Ok(Value::Null) => Vec::new(),
        Ok(value) => {
            let lines: Vec<usize> = item_lines(document).into_iter().map(|at| line + at).collect();
            flatten(file, first, value, &lines)
        }
        // Jinja has both, and Helm has no `{%`.
        Err(_) if document.contains("{%") || document.contains("<%") => vec![(first, Content::Unrendered(ANOTHER))],
        Err(_) if document.contains("{{") => vec![(first, Content::Unrendered(HELM))],
        Err(error) => {
            let words = error.to_string();
            let words = words.lines().next().unwrap_or_default();
            // The parser counts from the document's first line.
            let at =
                error.location().map_or(first, |l| line + usize::try_from(l.line()).unwrap_or(1).saturating_sub(1));
            vec![(at, Content::Unreadable(words.to_owned()))]
        }
    }
}

/// On which lines of a document, from 0, the items of a List in block style begin.
fn item_lines(document: &str) -> Vec<usize> {
    let mut lines = document.lines().enumerate().skip_while(|(_, l)| !l.trim_end().eq("items:"));
    lines.next();
    let mut indent = None;
    let mut found = Vec::new();
    for (at, line) in lines {
        let depth = line.len() - line.trim_start().len();
        let is_item = line.trim_start().starts_with("- ") || line.trim() == "-";
        if is_item && indent.is_none_or(|known| known == depth) {
            indent = Some(depth);
            found.push(at);
        } else if depth == 0 && !line.trim().is_empty() && !line.starts_with('#') {
            break;
        }
    }
    found
}

/// An object, or the items of a List, each with its line.
fn flatten(file: &str, line: usize, value: Value, lines: &[usize]) -> Vec<(usize, Content)> {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_kustomization =
        file.rsplit('/').next().is_some_and(|f| matches!(f, "kustomization.yaml" | "kustomization.yml"));
    if (kind.is_empty() && is_kustomization)
        || matches!(&*kind, "Kustomization" | "Component") && is_of_kustomize(&value)
    {
        return vec![(line, Content::Unrendered(KUSTOMIZE))];
    }
    match value {
        Value::Object(mut list) if kind.ends_with("List") && list.get("items").is_some_and(Value::is_array) => {
            let Some(Value::Array(items)) = list.remove("items") else { return Vec::new() };
            let head = Value::Object(list);
            let exact = lines.len() == items.len();
            let place = |at: usize| lines.get(at).copied().filter(|_| exact).unwrap_or(line);
            items
                .into_iter()
                .enumerate()
                .flat_map(|(at, item)| flatten(file, place(at), typed(item, &head), &[]))
                .collect()
        }
        // Without a kind it is one of a chart's own files: Chart.yaml, values.yaml.
        Value::Object(_) if !kind.is_empty() => match engine(&value) {
            Some(with) => vec![(line, Content::Unrendered(with))],
            None => vec![(line, Content::Object(value))],
        },
        _ => vec![(line, Content::NoObject)],
    }
}

/// An item of a list of one kind, which need not say itself what it is.
fn typed(mut item: Value, list: &Value) -> Value {
    let kind = list.get("kind").and_then(Value::as_str).and_then(|k| k.strip_suffix("List"));
    if let (Some(fields), Some(kind)) = (item.as_object_mut(), kind.filter(|k| !k.is_empty())) {
        fields.entry("kind").or_insert_with(|| kind.into());
        fields.entry("apiVersion").or_insert_with(|| list["apiVersion"].clone());
    }
    item
}

/// What renders an object that is a template although it can be read as it is: where it is quoted, only the fields that no
/// object has such text in tell.
fn engine(object: &Value) -> Option<&'static str> {
    const FIELDS: [&str; 9] = [
        "/metadata/name",
        "/metadata/generateName",
        "/metadata/namespace",
        "/metadata/labels",
        "/spec/selector",
        "/spec/replicas",
        "/spec/minReplicas",
        "/spec/minAvailable",
        "/spec/maxUnavailable",
    ];
    let version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if object.get("kind").and_then(Value::as_str) == Some("Template") && version.starts_with("template.openshift.io/") {
        return Some(OPENSHIFT);
    }
    let marks = |text: &str| match text {
        _ if text.contains("{%") || text.contains("<%") => Some(ANOTHER),
        _ if text.contains("{{") => Some(HELM),
        _ if text.contains("$(") => Some(KUSTOMIZE),
        _ if text.contains("${") => Some(ENVSUBST),
        _ => None,
    };
    FIELDS.iter().filter_map(|field| object.pointer(field)).find_map(|value| marked(value, &marks))
}

/// The first mark in the texts of a value: selectors and labels are not deep.
fn marked(value: &Value, marks: &impl Fn(&str) -> Option<&'static str>) -> Option<&'static str> {
    match value {
        Value::String(text) => marks(text),
        Value::Array(items) => items.iter().find_map(|item| marked(item, marks)),
        Value::Object(fields) => fields.iter().find_map(|(key, item)| marks(key).or_else(|| marked(item, marks))),
        _ => None,
    }
}

fn is_of_kustomize(value: &Value) -> bool {
    value.get("apiVersion").and_then(Value::as_str).is_some_and(|v| v.starts_with("kustomize.config.k8s.io/"))
}

/// The objects of a JSON file.
fn json(text: &str) -> Vec<(usize, Content)> {
    let mut splitter = Splitter::new(text.as_bytes());
    let mut all = Vec::new();
    let mut head = Value::Null;
    loop {
        match splitter.next() {
            Ok(Some(Cut::Begins(bytes))) => head = serde_json::from_slice(&bytes).unwrap_or_default(),
            Ok(Some(Cut::Ends(_))) => head = Value::Null,
            Ok(Some(Cut::Object(piece))) => {
                let line = piece.start.line;
                match serde_json::from_slice::<Value>(piece.bytes) {
                    Ok(value) => all.extend(flatten("", line, typed(value, &head), &[])),
                    Err(error) => {
                        all.push((line + error.line().saturating_sub(1), Content::Unreadable(error.to_string())));
                    }
                }
            }
            Ok(None) => return all,
            Err(error) => {
                all.push((1, Content::Unreadable(error.to_string())));
                return all;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line, and name or what else it is, of each document.
    fn read(file: &str, text: &str) -> Vec<(usize, String)> {
        let what = |m: &Manifest| match &m.content {
            Content::Object(o) => o.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            Content::Unrendered(with) => format!("render with {with}"),
            Content::NoObject => "no object".to_owned(),
            Content::Unreadable(_) => "unreadable".to_owned(),
        };
        documents(file, text.as_bytes()).iter().map(|m| (m.line, what(m))).collect()
    }

    #[test]
    fn every_document_has_its_line() {
        let pod = |name: &str| format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {name}\n");
        let rows = |rows: &[(usize, &str)]| rows.iter().map(|(l, w)| (*l, (*w).to_owned())).collect::<Vec<_>>();
        for (title, file, text, want) in [
            ("one", "a.yaml", pod("a"), rows(&[(1, "a")])),
            ("several", "a.yaml", format!("---\n{}---\n# a comment\n\n{}---\n", pod("a"), pod("b")), rows(&[(2, "a"), (9, "b")])),
            ("on the marker's line", "a.yaml", "--- {kind: Pod, metadata: {name: a}}\n".to_owned(), rows(&[(1, "a")])),
            (
                "a marker within a text is none",
                "a.yaml",
                format!("{}data: |\n  ---\n  x\n", pod("a")),
                rows(&[(1, "a")]),
            ),
            (
                "a List",
                "a.yaml",
                "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  metadata:\n    name: a\n- kind: Pod\n  metadata: {name: b}\n".to_owned(),
                rows(&[(4, "a"), (7, "b")]),
            ),
            (
                "a List of a kind",
                "a.json",
                "{\"kind\": \"PodList\", \"apiVersion\": \"v1\", \"items\": [\n{\"metadata\": {\"name\": \"a\"}},\n{\"metadata\": {\"name\": \"b\"}}]}".to_owned(),
                rows(&[(2, "a"), (3, "b")]),
            ),
            (
                "a template",
                "a.yaml",
                "{{- if .Values.pdb }}\nkind: PodDisruptionBudget\nspec:\n  minAvailable: {{ .Values.min }}\n{{- end }}\n".to_owned(),
                rows(&[(1, "render with helm template")]),
            ),
            (
                "a quoted template",
                "a.yaml",
                "kind: PodDisruptionBudget\nmetadata: {name: '{{ .Release.Name }}'}\n".to_owned(),
                rows(&[(1, "render with helm template")]),
            ),
            (
                "a quoted label",
                "a.yaml",
                "kind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {matchExpressions: [{values: ['{{ .x }}']}]}}\n".to_owned(),
                rows(&[(1, "render with helm template")]),
            ),
            (
                "a variable",
                "a.yaml",
                "kind: Deployment\nmetadata: {name: a}\nspec: {replicas: \"${N}\"}\n".to_owned(),
                rows(&[(1, "render with envsubst")]),
            ),
            ("a variable of a program", "a.yaml", format!("{}spec: {{args: ['${{N}}', '$(M)']}}\n", pod("a")), rows(&[(1, "a")])),
            (
                "Jinja",
                "a.yaml",
                "{% if x %}\nkind: Pod\n{% endif %}\nname: {{ x }}\n".to_owned(),
                rows(&[(1, "render with its template engine")]),
            ),
            (
                "ytt",
                "a.yaml",
                "#@ load(\"@ytt:data\", \"data\")\nkind: Deployment\nmetadata:\n  name: #@ data.values.name\n".to_owned(),
                rows(&[(2, "render with ytt")]),
            ),
            (
                "a template of OpenShift",
                "a.json",
                "{\"kind\": \"Template\", \"apiVersion\": \"template.openshift.io/v1\", \"objects\": []}".to_owned(),
                rows(&[(1, "render with oc process")]),
            ),
            ("braces in a text", "a.yaml", format!("{}  annotations: {{x: '{{{{ $value }}}}'}}\n", pod("a")), rows(&[(1, "a")])),
            ("a kustomization", "kustomization.yaml", "resources: [a.yaml]\n".to_owned(), rows(&[(1, "render with kustomize build")])),
            ("values of a chart", "values.yaml", "replicas: 1\n".to_owned(), rows(&[(1, "no object")])),
            ("nothing", "a.yaml", "# only words\n---\n\n".to_owned(), rows(&[])),
            ("no YAML", "a.yaml", "kind: [Pod\n".to_owned(), rows(&[(1, "unreadable")])),
            ("half of a JSON file", "a.json", "{\"kind\": \"Pod\", ".to_owned(), rows(&[(1, "unreadable")])),
        ] {
            assert_eq!(read(file, &text), want, "{title}");
        }
    }

    #[test]
    fn a_rendered_template_names_its_source() {
        let text = "---\n# Source: web/templates/pdb.yaml\nkind: Pod\nmetadata: {name: a}\n";
        assert_eq!(documents("-", text.as_bytes())[0].template.as_deref(), Some("web/templates/pdb.yaml"));
    }
}
