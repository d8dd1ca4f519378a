//! One request at a time: sent, repeated where the server asks for it, and read whole. Nothing but GET leaves here.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use kube::client::{Body, ClientBuilder};
use prost::bytes::Bytes;
use tower::BoxError;
use tower::filter::FilterLayer;

use super::explain::{self, Endpoint};
use super::progress::Observer;
use super::status::{Encoding, Status};
use super::target::Target;
use crate::error::{Failure, Result};

/// Tries after the first one.
const RETRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest wait that a server can ask for. One that asks for more is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// All waits of one client together, also of requests that wait at the same time.
const PATIENCE: Duration = Duration::from_secs(300);
/// The longest answer, uncompressed. A page is that of 500 objects, of which the API server keeps none above 1.5 MiB;
/// what is longer is asked for in smaller pages.
const LONGEST_BODY: usize = 256 << 20;

/// Sends requests to one API server.
pub struct Client {
    kube: kube::Client,
    timeout: Option<Duration>,
    endpoint: Endpoint,
    /// How far the server's clock is ahead of this machine's, as its first answer tells.
    skew: OnceLock<SignedDuration>,
    patience: Patience,
}

/// How long was waited between tries so far.
#[derive(Default)]
struct Patience(Mutex<Duration>);

impl Patience {
    /// Whether there is some left for a wait; if so, it is used.
    fn allows(&self, pause: Duration) -> bool {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let enough = pause <= LONGEST_WAIT && *waited + pause <= PATIENCE;
        if enough {
            *waited += pause;
        }
        enough
    }
}

/// An answer with status 2xx.
#[derive(Debug)]
pub struct Reply {
    pub encoding: Encoding,
    /// The body, uncompressed.
    pub body: Bytes,
}

/// No answer that could be used, though there is a server.
#[derive(Debug)]
pub enum Refusal {
    /// The server said something else, after all retries.
    Status(u16, Status),
    /// The answer is longer than is read of one.
    TooLong,
    /// The connection broke or the answer did not come in time, again and again.
    Broken(String),
}

/// What one try came to.
enum Try {
    Done(Reply),
    Refused {
        code: u16,
        status: Status,
        retry_after: Option<Duration>,
    },
    Broken(String),
    /// As long as anyone wanted to wait, and no answer.
    Late(String),
    TooLong,
}

/// Why a body was not read to its end.
enum BodyError {
    Broken(kube::Error),
    TooLong,
}

impl Client {
    /// A client of `target`. Must be called where a runtime is entered; connects to nothing yet.
    ///
    /// # Errors
    /// Certificates, keys or names that cannot be used.
    pub fn new(target: &Target, endpoint: Endpoint) -> Result<Self> {
        let builder = ClientBuilder::try_from(target.config.clone()).map_err(|e| explain::unusable(&e, &endpoint))?;
        let kube = builder.with_layer(&FilterLayer::new(get_only)).build();
        Ok(Self { kube, timeout: target.timeout, endpoint, skew: OnceLock::new(), patience: Patience::default() })
    }

    /// The endpoint about the connection, for words.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The time by the server's clock, which is the one that all times of its objects are of.
    pub fn now(&self) -> Timestamp {
        let skew = self.skew.get().copied().unwrap_or_default();
        Timestamp::now().checked_add(skew).unwrap_or_else(|_| Timestamp::now())
    }

    /// Gets `path` (with its query). 429, what begins with 5 and broken connections are tried again a few times; a
    /// server that keeps silent, or asks for more patience than there is, is not.
    ///
    /// # Errors
    /// What ends the program: nothing could be connected to, or the credentials are not accepted.
    pub async fn get(&self, path: &str, accept: &str, observer: &dyn Observer) -> Result<Result<Reply, Refusal>> {
        let mut wait = FIRST_WAIT;
        let mut tries = 0;
        loop {
            tries += 1;
            let last = tries > RETRIES;
            let (why, asked) = match self.attempt(path, accept).await? {
                Try::Done(reply) => return Ok(Ok(reply)),
                Try::Refused { code: 401, status, .. } => {
                    return Err(explain::unauthorized(&status.words(401), &self.endpoint, Timestamp::now()));
                }
                Try::Refused { code, status, retry_after } => {
                    if last || !matches!(code, 429 | 500..=504) || !self.patience.allows(retry_after.unwrap_or(wait)) {
                        return Ok(Err(Refusal::Status(code, status)));
                    }
                    (status.words(code), retry_after)
                }
                Try::TooLong => return Ok(Err(Refusal::TooLong)),
                Try::Late(why) => return Ok(Err(Refusal::Broken(why))),
                Try::Broken(why) if last || !self.patience.allows(wait) => return Ok(Err(Refusal::Broken(why))),
                Try::Broken(why) => (why, None),
            };
            let pause = asked.unwrap_or(wait);
            observer.retrying(resource_of(path), &why, pause);
            tokio::time::sleep(pause).await;
            wait *= 2;
        }
    }

    async fn attempt(&self, path: &str, accept: &str) -> Result<Try> {
        let started = Instant::now();
        let outcome = match self.timeout {
            None => self.exchange(path, accept).await,
            Some(limit) => match tokio::time::timeout(limit, self.exchange(path, accept)).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    Ok(Try::Late(format!("no whole answer within {} s (--request-timeout)", limit.as_secs_f32())))
                }
            },
        };
        let took = started.elapsed();
        match &outcome {
            Ok(Try::Done(reply)) => {
                log::debug!("GET {path} 200 in {} ms, {} bytes", took.as_millis(), reply.body.len());
            }
            Ok(Try::Refused { code, .. }) => log::debug!("GET {path} {code} in {} ms", took.as_millis()),
            Ok(Try::Broken(why) | Try::Late(why)) => {
                log::debug!("GET {path} broke after {} ms: {why}", took.as_millis());
            }
            Ok(Try::TooLong) => log::debug!("GET {path} is longer than {LONGEST_BODY} bytes"),
            Err(failure) => log::debug!("GET {path} failed after {} ms: {failure}", took.as_millis()),
        }
        outcome
    }

    async fn exchange(&self, path: &str, accept: &str) -> Result<Try> {
        let request = Request::get(path).header(ACCEPT, accept).body(Body::empty());
        let request = request.map_err(|e| Failure::usage(format!("{path:?} cannot be asked for")).caused_by(e))?;
        let response = match self.kube.send(request).await {
            Ok(response) => response,
            Err(e) if explain::is_connect(&e) => return Err(explain::unreachable(&e, &self.endpoint)),
            Err(e) => return Ok(broken(&e)),
        };
        let (head, body) = response.into_parts();
        let body = match whole(body, header(&head.headers, CONTENT_LENGTH.as_str()), LONGEST_BODY).await {
            Ok(body) => body,
            Err(BodyError::Broken(e)) => return Ok(broken(&e)),
            Err(BodyError::TooLong) => return Ok(Try::TooLong),
        };
        self.skew.get_or_init(|| skew(header(&head.headers, DATE.as_str()), Timestamp::now()));
        let encoding = Encoding::of(header(&head.headers, CONTENT_TYPE.as_str()));
        if head.status == StatusCode::OK {
            return Ok(Try::Done(Reply { encoding, body }));
        }
        let retry_after = retry_after(header(&head.headers, RETRY_AFTER.as_str()), self.now());
        Ok(Try::Refused { code: head.status.as_u16(), status: Status::of(encoding, &body), retry_after })
    }
}

/// A body in one piece. Its frames are let go as they come: a page takes its own size of memory and no more.
async fn whole(mut body: Body, length: &str, longest: usize) -> Result<Bytes, BodyError> {
    // A server that promises more than this has to deliver it first.
    const PROMISED: usize = 16 << 20;
    let mut all = Vec::with_capacity(length.parse::<usize>().unwrap_or_default().min(PROMISED));
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() {
            if all.len() + data.len() > longest {
                return Err(BodyError::TooLong);
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(all.into())
}

/// How long a server asks to wait: seconds, or until a time by its own clock. `None` where it says neither.
fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    if header.bytes().all(|b| b.is_ascii_digit()) && !header.is_empty() {
        return Some(Duration::from_secs(header.parse().unwrap_or(u64::MAX)));
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(header).ok()?;
    Some(until.duration_since(now).max(SignedDuration::ZERO).unsigned_abs())
}

fn broken(error: &kube::Error) -> Try {
    if explain::is_timeout(error) {
        Try::Late("the API server has stopped answering".into())
    } else {
        Try::Broken(explain::reason(error))
    }
}

/// The layer that makes the program read-only, whatever else is written in it.
fn get_only(request: Request<Body>) -> Result<Request<Body>, BoxError> {
    if request.method() == Method::GET {
        Ok(request)
    } else {
        Err(format!("refused to send {} {}: this program only reads", request.method(), request.uri()).into())
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// From the `Date` of an answer, which counts whole seconds: a smaller difference is none.
fn skew(date: &str, now: Timestamp) -> SignedDuration {
    let server = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date);
    let skew = server.map(|server| server.duration_since(now)).unwrap_or_default();
    if skew.abs() <= SignedDuration::from_secs(2) {
        return SignedDuration::ZERO;
    }
    log::info!("the clock of the API server differs by {} s", skew.as_secs());
    skew
}

/// The path without its query: a continue token is no word for people.
fn resource_of(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_clock() {
        let now: Timestamp = "2026-11-05T12:00:00.5Z".parse().unwrap();
        let rows = [
            ("Thu, 05 Nov 2026 12:00:00 GMT", 0.0),
            ("Thu, 05 Nov 2026 12:05:00 GMT", 299.5),
            ("Thu, 05 Nov 2026 11:00:00 GMT", -3600.5),
            ("", 0.0),
            ("yesterday", 0.0),
        ];
        for (date, seconds) in rows {
            assert_eq!(skew(date, now), SignedDuration::from_secs_f64(seconds), "{date}");
        }
    }

    #[test]
    fn what_a_server_asks_to_wait() {
        let now: Timestamp = "2026-11-05T12:00:00Z".parse().unwrap();
        let rows = [
            ("0", Some(0)),
            ("1", Some(1)),
            ("99999999999999999999", Some(u64::MAX)),
            ("Thu, 05 Nov 2026 12:00:07 GMT", Some(7)),
            ("Thu, 05 Nov 2026 11:00:00 GMT", Some(0)),
            ("Sat, 05 Nov 2033 12:00:00 GMT", Some(220_924_800)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("+1", None),
            ("soon", None),
            ("1h", None),
        ];
        for (header, seconds) in rows {
            assert_eq!(retry_after(header, now), seconds.map(Duration::from_secs), "{header}");
        }
    }

    #[test]
    fn a_body_is_read_up_to_a_length() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let read = |longest| runtime.block_on(whole(Body::from(vec![b'x'; 100]), "99999999999", longest));
        assert_eq!(read(100).ok().map(|body| body.len()), Some(100));
        assert!(matches!(read(99), Err(BodyError::TooLong)));
    }

    #[test]
    fn patience_ends() {
        let patience = Patience::default();
        assert!(!patience.allows(LONGEST_WAIT + Duration::from_nanos(1)));
        let times = (0..1000).take_while(|_| patience.allows(LONGEST_WAIT)).count();
        assert_eq!(times as u64, PATIENCE.as_secs() / LONGEST_WAIT.as_secs());
        assert!(!patience.allows(Duration::from_secs(1)));
    }

    #[test]
    fn nothing_but_get_is_sent() {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(only_get());
    }

    async fn only_get() {
        // Nothing listens there: a request that got so far would fail to connect.
        let config = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
        let kube = ClientBuilder::try_from(config).unwrap().with_layer(&FilterLayer::new(get_only)).build();
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS] {
            let request = Request::builder().method(&method).uri("/api/v1/pods").body(Body::empty()).unwrap();
            let error = kube.send(request).await.unwrap_err();
            assert!(!explain::is_connect(&error), "{method}");
            assert_eq!(
                explain::reason(&error),
                format!("refused to send {method} /api/v1/pods: this program only reads")
            );
        }
        let error = kube.send(Request::get("/api").body(Body::empty()).unwrap()).await.unwrap_err();
        assert!(explain::is_connect(&error));
    }
}
