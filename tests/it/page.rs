//! A page as the tree of its elements. Stricter than a browser: what is opened is closed, in its order.

use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use std::collections::BTreeMap;

/// Elements that have no end.
const VOID: &[&str] = &["meta", "br", "hr", "link", "img", "input", "col"];

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    attributes: BTreeMap<String, String>,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Element(Element),
    Text(String),
}

/// The page, and what is wrong with its syntax.
pub fn parse(page: &str) -> (Element, Vec<String>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut faults = Vec::new();
    let mut open = vec![Element::default()];
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
                let element = Element { name: text(&tag.name), attributes, children: Vec::new() };
                if tag.self_closing || VOID.contains(&&*element.name) {
                    put(&mut open, Child::Element(element));
                } else {
                    open.push(element);
                }
            }
            Token::EndTag(tag) => {
                let element = if open.len() > 1 { open.pop().unwrap() } else { Element::default() };
                if element.name != text(&tag.name) {
                    faults.push(format!("{:?} is closed by {:?}", element.name, text(&tag.name)));
                }
                put(&mut open, Child::Element(element));
            }
            Token::String(string) => put(&mut open, Child::Text(text(&string))),
            Token::Error(error) => faults.push(error.to_string()),
            Token::Comment(_) | Token::Doctype(_) => {}
        }
    }
    faults.extend(open.iter().skip(1).map(|element| format!("{:?} is never closed", element.name)));
    (open.swap_remove(0), faults)
}

fn put(open: &mut [Element], child: Child) {
    open.last_mut().unwrap().children.push(child);
}

impl Element {
    /// The elements right below it.
    pub fn children(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// All elements below it, in the order of the page.
    pub fn all(&self) -> Vec<&Element> {
        self.children().flat_map(|child| std::iter::once(child).chain(child.all())).collect()
    }

    /// The elements below it of these names.
    pub fn named(&self, names: &[&str]) -> Vec<&Element> {
        self.all().into_iter().filter(|e| names.contains(&&*e.name)).collect()
    }

    pub fn attr(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.attr("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
    }

    /// All text in it.
    pub fn text(&self) -> String {
        let of = |child: &Child| match child {
            Child::Element(element) => element.text(),
            Child::Text(text) => text.clone(),
        };
        self.children.iter().map(of).collect::<String>().trim().to_owned()
    }

    /// What is drawn, whatever its colours: names and attributes but for the classes.
    pub fn shape(&self) -> String {
        let attributes = self.attributes.iter().filter(|(name, _)| *name != "class");
        let below: Vec<String> = self.children().map(Element::shape).collect();
        format!("{}{:?}[{}]", self.name, attributes.collect::<Vec<_>>(), below.join(" "))
    }
}

#[test]
fn a_tree_of_what_is_there() {
    let (page, faults) = parse("<p class='a b'>x <b>y</b><br>&lt;</p><style>a > b {}</style>");
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(page.named(&["p"])[0].text(), "x y<");
    assert_eq!(page.named(&["style"])[0].text(), "a > b {}");
    assert!(page.named(&["p"])[0].has_class("b"));
    for broken in ["<p><b></p></b>", "<p>", "</p>", "<p a=1 a=2></p>"] {
        assert!(!parse(broken).1.is_empty(), "{broken}");
    }
}
