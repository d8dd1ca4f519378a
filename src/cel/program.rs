//! A parsed expression.

use super::error::{Error, Result};
use super::eval;
use super::value::Value;
use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::parser::PrattParser;

/// The longest expression that the API server admits (`CELSelectorExpressionMaxLength`), in bytes.
const MAX_LENGTH: usize = 10 * 1024;
/// So many parts an expression may have here, and so deep it may be nested. What people write has some dozens.
const MAX_NODES: usize = 2000;
const MAX_DEPTH: usize = 100;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Program {
    root: IdedExpr,
}

impl Program {
    /// Parses an expression.
    ///
    /// # Errors
    /// It cannot be parsed, or is larger than what is evaluated here.
    pub fn parse(expression: &str) -> Result<Self> {
        if expression.len() > MAX_LENGTH {
            return Err(Error::unsupported(format!("an expression of {} bytes", expression.len())));
        }
        let parser = PrattParser::new()
            .enable_optional_syntax(true)
            .enable_ident_escape_syntax(true)
            .max_expression_node_count(MAX_NODES);
        let root = parser.parse(expression).map_err(|e| {
            let first = e.to_string().lines().next().unwrap_or_default().to_owned();
            Error::unsupported(format!("an expression that cannot be parsed ({first})"))
        })?;
        if is_deeper_than(&root, MAX_DEPTH) {
            return Err(Error::unsupported("an expression nested so deep"));
        }
        Ok(Self { root })
    }

    /// Its value, with the variables that `root` knows. Each step of the evaluation is taken from `steps`, and so are the
    /// bytes and elements that it makes.
    ///
    /// # Errors
    /// It has none.
    pub fn value(&self, root: &dyn Fn(&str) -> Option<Value>, steps: &mut u64) -> Result<Value> {
        eval::value_of(&self.root, root, steps)
    }
}

/// Whether an expression is nested deeper. Walks it without recursion, for it may be as deep as it is long.
fn is_deeper_than(root: &IdedExpr, limit: usize) -> bool {
    let mut open = vec![(root, 1)];
    while let Some((e, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        let mut push = |e| open.push((e, depth + 1));
        match &e.expr {
            Expr::Call(c) => c.target.as_deref().into_iter().chain(&c.args).for_each(push),
            Expr::Comprehension(c) => {
                [&c.iter_range, &c.accu_init, &c.loop_cond, &c.loop_step, &c.result].into_iter().for_each(push);
            }
            Expr::List(l) => l.elements.iter().for_each(push),
            Expr::Select(s) => push(&s.operand),
            Expr::Map(m) => {
                for entry in &m.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        push(&entry.key);
                        push(&entry.value);
                    }
                }
            }
            Expr::Struct(s) => {
                for entry in &s.entries {
                    if let EntryExpr::StructField(field) = &entry.expr {
                        push(&field.value);
                    }
                }
            }
            Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        }
    }
    false
}
