//! The Common Expression Language as Kubernetes has it: selectors of devices are written in it. Mirrors
//! `k8s.io/apiserver/pkg/cel/environment/base.go` (which libraries there are) and cel-go's interpreter (values, errors).
//!
//! The crate `cel` parses; evaluation is our own, for expressions come from whoever may write a claim: an evaluation is
//! bounded in steps, says what it does not know instead of guessing, and fails in cel-go's own words, which
//! kube-scheduler passes on.
//!
//! | library | what of it is evaluated |
//! |---|---|
//! | standard functions and macros, optional types, `cel.bind` | all but durations and timestamps |
//! | comprehensions with two variables | `all`, `exists`, `existsOne`, `transformList` |
//! | strings (version 2) | all but `format` and `strings.quote` |
//! | lists, sets, regular expressions, Kubernetes' lists | all but `sortBy` |
//! | quantity, semver | all |
//! | IP, CIDR, URL, format, authorizer | nothing |

mod error;
mod eval;
mod functions;
mod kubernetes;
mod lists;
mod macros;
mod operators;
mod program;
mod steps;
mod strings;
mod value;

pub use error::Error;
pub use program::Program;
pub use value::{Map, Value};
