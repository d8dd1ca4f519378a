//! Lists: asked for in pages, several lists at once, the bytes handed on as they come.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use prost::bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::client::{Client, Refusal};
use super::list_meta::ListHead;
use super::progress::Observer;
use super::status::Encoding;
use crate::error::Result;

/// Items of a page: kubectl's own `--chunk-size`; and of a page where one of that many is too long.
const PAGE: u32 = 500;
const SMALL_PAGE: u32 = 50;
/// Pages of one list: more objects than any cluster has of a kind.
const PAGES: u32 = 20_000;
/// Lists that are read at the same time. HTTP/1.1 takes a connection for each.
const AT_ONCE: usize = 4;
/// Pages that wait to be decoded, and their kilobytes, so that memory is bounded. There is room enough for the small
/// lists to wait while the long one, which takes longest, is read on.
pub const AHEAD: usize = 64;
const KILOBYTES_AHEAD: usize = 16 << 10;
/// How often one list is begun anew, when its pages expire faster than they are read.
const RESTARTS: u32 = 3;

/// Answers in JSON, whatever the kind.
pub const JSON: &str = "application/json";
/// Answers in protobuf where the server has it, which it has for all but custom resources.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf, application/json";

/// Metadata alone, in JSON.
pub const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// Metadata alone, in protobuf before JSON.
pub const PROTOBUF_METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, \
    application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json";

/// A list to read.
#[derive(Debug, Clone)]
pub struct ListRequest {
    path: String,
    /// The kind of its objects, where it is known what the server calls a list of them.
    kind: Option<&'static str>,
    accept: &'static str,
    fields: String,
}

impl ListRequest {
    /// The list at `path`, like `/apis/policy/v1/namespaces/shop/poddisruptionbudgets`, in JSON.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), kind: None, accept: JSON, fields: String::new() }
    }

    /// What it is a list of: an answer that is a list of something else is none.
    #[must_use]
    pub fn of(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    /// The encodings to ask for.
    #[must_use]
    pub fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    /// Only what this field selector matches; empty is everything.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = selector.into();
        self
    }

    /// The path and query of its first page.
    pub(super) fn first_page(&self) -> String {
        self.page("", PAGE)
    }

    /// Whether an answer of this kind is what was asked for.
    fn is_answered_by(&self, kind: &str) -> bool {
        let of = kind.strip_suffix("List");
        of.is_some() && self.kind.is_none_or(|wanted| of == Some(wanted) || of == Some("PartialObjectMetadata"))
    }

    fn page(&self, token: &str, limit: u32) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("limit", &limit.to_string());
        let more = [("fieldSelector", &*self.fields), ("continue", token)];
        query.extend_pairs(more.iter().filter(|(_, value)| !value.is_empty()));
        format!("{}?{}", self.path, query.finish())
    }
}

/// What comes of a list while it is read.
#[derive(Debug)]
pub enum ListEvent {
    /// A page of it.
    Page(Page),
    /// The pages so far are void: the list is read anew.
    Restart,
}

/// A page of a list, as the server sent it.
#[derive(Debug)]
pub struct Page {
    /// JSON or protobuf.
    pub encoding: Encoding,
    /// The whole body: a list object in its encoding.
    pub body: Bytes,
}

/// An event on its way, with the number of its request; a page takes up room until it is dropped.
pub type Sent = (usize, ListEvent, Option<OwnedSemaphorePermit>);

/// What became of a list, or of a single object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListOutcome {
    /// All of it was read.
    Read {
        /// Requests it took.
        pages: u32,
        /// Bytes of all bodies, uncompressed.
        bytes: u64,
        /// From the first request to the last answer.
        took: Duration,
    },
    /// 403, in the words of a missing right where the server's message has them.
    Forbidden {
        /// Who may not do what.
        message: String,
    },
    /// 404: the server knows no such resource.
    Absent,
    /// Anything else, after retries.
    Failed {
        /// Why, in the server's words or the network's.
        message: String,
    },
}

impl From<Refusal> for ListOutcome {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Status(403, status) => {
                let right = status.missing_right().map(|right| right.to_string());
                Self::Forbidden { message: right.unwrap_or_else(|| status.words(403)) }
            }
            Refusal::Status(404, _) => Self::Absent,
            Refusal::Status(code, status) => Self::Failed { message: status.words(code) },
            Refusal::TooLong => Self::Failed { message: "the answer is too long".into() },
            Refusal::Broken(message) => Self::Failed { message },
        }
    }
}

/// How much was read of all lists together, for the counter: objects are counted in lists of several pages only.
#[derive(Debug, Default)]
struct Tally {
    items: u64,
    total: u64,
    bytes: u64,
}

/// The way to whoever decodes.
#[derive(Clone)]
struct Queue {
    to: mpsc::Sender<Sent>,
    room: Arc<Semaphore>,
}

impl Queue {
    /// Sends an event once there is room for it. False where nobody waits for it any more.
    async fn send(&self, index: usize, event: ListEvent) -> bool {
        let room = match &event {
            ListEvent::Restart => None,
            ListEvent::Page(page) => {
                let kilobytes = (page.body.len() >> 10).clamp(1, KILOBYTES_AHEAD) as u32;
                // The semaphore is never closed.
                Arc::clone(&self.room).acquire_many_owned(kilobytes).await.ok()
            }
        };
        self.to.send((index, event, room)).await.is_ok()
    }
}

/// Reads the lists, a few at once, and sends what comes with the number of its request.
///
/// # Errors
/// Those of [`Client::get`]: then no list is of use.
pub async fn read_all(
    client: &Client,
    requests: &[ListRequest],
    to: mpsc::Sender<Sent>,
    observer: &dyn Observer,
) -> Result<Vec<ListOutcome>> {
    let to = Queue { to, room: Arc::new(Semaphore::new(KILOBYTES_AHEAD)) };
    let started = Instant::now();
    let tally = std::cell::RefCell::new(Tally::default());
    let lists = requests.iter().enumerate().map(|(index, request)| {
        let (to, tally) = (to.clone(), &tally);
        async move { read(client, index, request, to, tally, observer).await.map(|outcome| (index, outcome)) }
    });
    let all = stream::iter(lists).buffer_unordered(AT_ONCE).try_collect::<Vec<_>>();
    let mut outcomes = ticking(all, observer).await?;
    let bytes = tally.borrow().bytes;
    log::info!("{} lists: {bytes} bytes, {} ms", outcomes.len(), started.elapsed().as_millis());
    outcomes.sort_by_key(|(index, _)| *index);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

/// Tells the observer of the passing of time while `work` goes on.
pub async fn ticking<T>(work: impl Future<Output = T>, observer: &dyn Observer) -> T {
    let mut work = std::pin::pin!(work);
    let result = loop {
        match tokio::time::timeout(Duration::from_millis(200), &mut work).await {
            Ok(result) => break result,
            Err(_) => observer.tick(),
        }
    };
    observer.done();
    result
}

async fn read(
    client: &Client,
    index: usize,
    request: &ListRequest,
    to: Queue,
    tally: &std::cell::RefCell<Tally>,
    observer: &dyn Observer,
) -> Result<ListOutcome> {
    let started = Instant::now();
    let (mut pages, mut bytes, mut restarts) = (0, 0, 0);
    let mut token = String::new();
    let mut limit = PAGE;
    let mut seen = HashSet::new();
    loop {
        let reply = match client.get(&request.page(&token, limit), request.accept, observer).await? {
            Ok(reply) => reply,
            Err(Refusal::TooLong) if limit > SMALL_PAGE => {
                limit = SMALL_PAGE;
                continue;
            }
            // The server keeps the state a list was begun in for some minutes only.
            Err(Refusal::Status(410, _)) if !token.is_empty() && restarts < RESTARTS => {
                restarts += 1;
                token.clear();
                seen.clear();
                log::info!("{}: the list expired while it was read, and is read anew", request.path);
                if !to.send(index, ListEvent::Restart).await {
                    return Ok(ListOutcome::Failed { message: "nobody reads it".into() });
                }
                continue;
            }
            Err(refusal) => {
                let outcome = ListOutcome::from(refusal);
                log::info!("{}: {}", request.path, words(&outcome));
                return Ok(outcome);
            }
        };
        let head = match ListHead::of(reply.encoding, &reply.body) {
            Ok(head) => head,
            Err(why) => return Ok(ListOutcome::Failed { message: format!("the answer is no list: {why}") }),
        };
        if !request.is_answered_by(&head.kind) {
            return Ok(ListOutcome::Failed {
                message: format!("the answer is a {}, which was not asked for", head.kind),
            });
        }
        pages += 1;
        bytes += reply.body.len() as u64;
        let (items, total, all_bytes) = {
            let mut tally = tally.borrow_mut();
            let expected = if head.is_last() { 0 } else { u64::from(PAGE) };
            tally.items += expected;
            tally.bytes += reply.body.len() as u64;
            if pages == 1 {
                tally.total += expected + head.remaining;
            }
            (tally.items, tally.total, tally.bytes)
        };
        observer.read(items, total, all_bytes);
        if !to.send(index, ListEvent::Page(Page { encoding: reply.encoding, body: reply.body })).await {
            return Ok(ListOutcome::Failed { message: "nobody reads it".into() });
        }
        if head.is_last() {
            let outcome = ListOutcome::Read { pages, bytes, took: started.elapsed() };
            log::info!("{}: {}", request.path, words(&outcome));
            return Ok(outcome);
        }
        if !seen.insert(head.token.clone()) || pages == PAGES {
            return Ok(ListOutcome::Failed { message: "the pages of the list do not end".into() });
        }
        token = head.token;
    }
}

pub fn words(outcome: &ListOutcome) -> String {
    match outcome {
        ListOutcome::Read { pages, bytes, took } => format!("{pages} pages, {bytes} bytes, {} ms", took.as_millis()),
        ListOutcome::Forbidden { message } => format!("forbidden: {message}"),
        ListOutcome::Absent => "absent".into(),
        ListOutcome::Failed { message } => format!("failed: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_page() {
        let request = ListRequest::new("/api/v1/pods").fields("spec.nodeName=n-1");
        assert_eq!(
            request.page("a/b==", PAGE),
            "/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3Dn-1&continue=a%2Fb%3D%3D"
        );
        assert_eq!(ListRequest::new("/api/v1/pods").first_page(), "/api/v1/pods?limit=500");
    }
}
