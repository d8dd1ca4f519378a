//! `-o html` for everybody: what an accessibility checker asks of a page, asked without a browser.

use crate::html::pages;
use crate::page::{Element, parse};
use crate::program::{in_parallel, recorded_cases, run};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];

/// What is wrong with a page for those who hear it, or go through it with the keyboard.
fn faults(page: &str) -> Vec<String> {
    let (page, mut faults) = parse(page);
    let one_of_each = [
        ("html", page.children().filter(|e| e.name == "html" && e.attr("lang") == Some("en")).collect()),
        ("title", page.named(&["title"])),
        ("h1", page.named(&["h1"])),
        ("main", page.named(&["main"])),
        (
            "header",
            page.named(&["body"]).into_iter().flat_map(Element::children).filter(|e| e.name == "header").collect(),
        ),
        (
            "footer",
            page.named(&["body"]).into_iter().flat_map(Element::children).filter(|e| e.name == "footer").collect(),
        ),
    ];
    for (name, found) in one_of_each {
        if found.len() != 1 || found.iter().any(|e: &&Element| e.text().is_empty()) {
            faults.push(format!("{name} is there {} times, or empty", found.len()));
        }
    }
    let speaks = |e: &Element| {
        HEADINGS.contains(&&*e.name)
            || matches!(&*e.name, "a" | "summary" | "th" | "caption" | "button")
            || e.has_class("tag")
    };
    faults.extend(
        page.all().into_iter().filter(|e| speaks(e) && e.text().is_empty()).map(|e| format!("{} is empty", e.shape())),
    );
    // Headings may go up any number of levels, and down by one.
    let mut above = 0;
    for heading in page.named(HEADINGS) {
        let level: usize = heading.name[1..].parse().unwrap();
        if level > above + 1 {
            faults.push(format!("h{level} stands below h{above}: {}", heading.text()));
        }
        above = level;
    }
    for svg in page.named(&["svg"]) {
        let is_named = svg.attr("role") == Some("img") && svg.attr("aria-label").is_some_and(|name| !name.is_empty());
        if !is_named && svg.attr("aria-hidden") != Some("true") {
            faults.push(format!("a picture has no words: {}", svg.shape()));
        }
    }
    for parent in page.all() {
        for table in parent.children().filter(|e| e.name == "table") {
            let heads = table.children().filter(|e| e.name == "thead");
            let headers = heads.flat_map(|e| e.named(&["th"])).filter(|e| e.attr("scope") == Some("col")).count();
            if headers == 0 || table.named(&["tr"]).iter().any(|row| row.children().count() != headers) {
                faults.push(format!("a row has not a cell for each of {headers} headers: {}", table.text()));
            }
            // What is scrolled has to be reached without a mouse.
            if parent.attr("role") != Some("region") || parent.attr("tabindex") != Some("0") {
                faults.push("a table cannot be scrolled by keys".to_owned());
            }
        }
    }
    let mut names = BTreeSet::new();
    for region in page.all().into_iter().filter(|e| e.attr("role") == Some("region")) {
        let name = region.attr("aria-label").unwrap_or_default();
        if name.is_empty() || !names.insert(name) {
            faults.push(format!("a region is called {name:?}, as nothing else may be"));
        }
    }
    faults
}

#[test]
fn every_page_can_be_heard_and_walked_through() {
    let bad = in_parallel(&recorded_cases(), |(args, file)| {
        let args = args.iter().map(String::as_str);
        let page = run(args.chain(["-o", "html", "--from", file])).out;
        faults(&page).into_iter().map(|fault| format!("{file}: {fault}")).collect::<Vec<_>>()
    })
    .concat();
    assert!(bad.is_empty(), "{} faults, such as\n{}", bad.len(), bad[..bad.len().min(5)].join("\n"));
}

#[test]
fn a_mark_is_told_by_its_shape() {
    let (plan, _) = parse(&pages()[1]);
    let captions = plan.named(&["figcaption"]);
    let shapes: Vec<String> = captions.iter().flat_map(|c| c.named(&["svg"])).map(Element::shape).collect();
    let different: BTreeSet<_> = shapes.iter().collect();
    assert!(shapes.len() > 1 && shapes.len() == different.len(), "{shapes:?}");
}

/// The colours of a scheme by their names in the style sheet.
fn scheme(block: &str) -> BTreeMap<String, [f64; 3]> {
    let colour = Regex::new(r"--([a-z-]+): #([0-9a-f]{6});").unwrap();
    let of = |hex: &str| [0, 2, 4].map(|at| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0);
    colour.captures_iter(block).map(|found| (found[1].to_owned(), of(&found[2]))).collect()
}

/// WCAG 2's contrast ratio.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let linear = |c: f64| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
    let luminance = |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn words_and_marks_stand_out_in_light_and_dark() {
    let page = pages().remove(1);
    let style = parse(&page).0.named(&["style"])[0].text();
    let roots: Vec<&str> = style.split(":root {").skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
    let [light, dark] = roots[..] else { panic!("a light and a dark scheme: {roots:?}") };
    let (light, dark) = (scheme(light), scheme(dark));
    assert_eq!(light.keys().collect::<Vec<_>>(), dark.keys().collect::<Vec<_>>());
    let rules = style.split("@media (prefers-color-scheme: dark)").nth(1).unwrap().split_once("}\n}").unwrap().1;
    assert!(!Regex::new(r"#[0-9a-fA-F]{3}|rgb|hsl").unwrap().is_match(rules), "a colour of no scheme");

    let used = |rule: &str, property: &str| {
        let found = Regex::new(&format!(r"(?:^|[ ;{{]){property}: var\(--([a-z-]+)\)")).unwrap();
        found.captures(rule).map(|name| name[1].to_owned())
    };
    let mut judged = 0;
    for rule in rules.split_inclusive('}') {
        let under =
            used(rule, "background").map_or_else(|| vec!["page".to_owned(), "card".to_owned()], |one| vec![one]);
        let mut over = Vec::new();
        over.extend(used(rule, "color").map(|name| (name, 4.5)));
        over.extend(used(rule, "stroke").map(|name| (name, 3.0)));
        // Letters of a picture need more than its shapes; what is filled as the page is has a frame.
        let is_text = rule.contains("svg text") || rule.contains("svg .note");
        over.extend(
            used(rule, "fill")
                .filter(|n| is_text || n != "page" && n != "card")
                .map(|n| (n, if is_text { 4.5 } else { 3.0 })),
        );
        for ((name, least), under) in over.iter().flat_map(|o| under.iter().map(move |u| (o, u))) {
            for (scheme, which) in [(&light, "light"), (&dark, "dark")] {
                let ratio = contrast(scheme[name], scheme[under]);
                assert!(ratio >= *least, "{which}: {name} on {under} is {ratio:.2}, less than {least}: {rule}");
                judged += 1;
            }
        }
    }
    assert!(judged > 0, "no rule has a colour");
}
