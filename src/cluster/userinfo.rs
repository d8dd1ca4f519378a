//! Names and passwords that stand in a URL: told apart from its address, and never shown.

use http::Uri;
use http::uri::Authority;

/// A URL without what stands before its host; of a text that is no URL, too, as far as that can be told.
#[must_use]
pub fn hidden(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
}

/// A URL without its user and password, and these two if it has any.
#[must_use]
pub fn split(url: Uri) -> (Uri, Option<(String, String)>) {
    let Some((user, host)) = url.authority().and_then(|a| a.as_str().rsplit_once('@')) else { return (url, None) };
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let who = Some((decoded(name), decoded(password)));
    let Ok(host) = host.parse::<Authority>() else { return (url, None) };
    let mut parts = url.into_parts();
    parts.authority = Some(host);
    // The parts of a URL, less what may be left out, are one.
    (Uri::from_parts(parts).unwrap_or_default(), who)
}

/// Takes `%40` for `@`. What is no such code stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_taken_out() {
        let rows = [
            ("https://h:6443", "https://h:6443/", None),
            ("https://me:p%40ss@h:6443/k", "https://h:6443/k", Some(("me", "p@ss"))),
            ("http://me@[::1]:80", "http://[::1]:80/", Some(("me", ""))),
            ("https://a:b%zz%@h", "https://h/", Some(("a", "b%zz%"))),
        ];
        for (url, want, who) in rows {
            let who = who.map(|(name, password)| (name.to_owned(), password.to_owned()));
            let (bare, found) = split(url.parse().unwrap());
            assert_eq!((bare.to_string().as_str(), found), (want, who), "{url}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let rows = [
            ("https://me:s3cr3t@h:1/x@y", "https://h:1/x@y"),
            ("ftp://me:s3@cr3t@h", "ftp://h"),
            ("me:s3cr3t@h:1", "h:1"),
            ("https://h", "https://h"),
            ("h", "h"),
            ("", ""),
        ];
        for (url, want) in rows {
            assert_eq!(hidden(url), want);
        }
    }
}
