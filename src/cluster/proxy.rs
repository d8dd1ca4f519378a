//! Which proxy leads to the API server: the cluster's own `proxy-url`, else `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`
//! as Go's `golang.org/x/net/http/httpproxy` reads them. kube matches `NO_PROXY` against the proxy instead of the
//! server, and refuses lists that Go takes.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

use super::environment::Environment;
use super::userinfo;
use crate::error::{Failure, Result};

/// The proxy that the environment names for `target`, if it is to be used for it.
///
/// # Errors
/// The variable that counts is no address, or of a scheme that no proxy has.
pub fn from_environment(host: &dyn Environment, target: &Uri) -> Result<Option<Uri>> {
    let any = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, host.var(name)?)));
    let found = match target.scheme_str() {
        Some("https") => any(["HTTPS_PROXY", "https_proxy"]),
        Some("http") => any(["HTTP_PROXY", "http_proxy"]),
        _ => None,
    };
    let Some((name, value)) = found else { return Ok(None) };
    let no_proxy = any(["NO_PROXY", "no_proxy"]).map(|(_, list)| list).unwrap_or_default();
    if !applies(&no_proxy, target) {
        return Ok(None);
    }
    // A proxy without a scheme is an http one.
    let with_scheme = if value.contains("://") { value.clone() } else { format!("http://{value}") };
    parse(&with_scheme).map(Some).map_err(|why| {
        Failure::usage(format!("${name} is {:?}: {why}", userinfo::hidden(&value)))
            .hint("set it like http://proxy.example.com:3128, or name the API server in NO_PROXY")
    })
}

/// The `proxy-url` of a cluster. It goes before the environment, and `NO_PROXY` has no say in it.
///
/// # Errors
/// It is no URL of a proxy.
pub fn from_kubeconfig(cluster: &str, url: &str) -> Result<Uri> {
    parse(url).map_err(|why| {
        Failure::bad_input(format!("the proxy-url of the cluster {cluster:?} is {:?}: {why}", userinfo::hidden(url)))
    })
}

fn parse(url: &str) -> Result<Uri, String> {
    // Go resolves the server's name at the proxy for both; the client knows only the one name.
    let url = url.replacen("socks5h://", "socks5://", 1);
    let uri: Uri = url.parse().map_err(|e| format!("it is not a URL ({e})"))?;
    match uri.scheme_str() {
        _ if uri.host().is_none_or(str::is_empty) => Err("it names no host".into()),
        Some("http" | "https" | "socks5") => Ok(uri),
        scheme => Err(format!("a proxy is http, https or socks5, not {}", scheme.unwrap_or("without a scheme"))),
    }
}

/// Whether a proxy is to be used for `target`: not for the machine itself, nor for what `no_proxy` lists.
/// What is malformed in the list matches nothing.
fn applies(no_proxy: &str, target: &Uri) -> bool {
    let host = target.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let port = target.port_u16().unwrap_or(if target.scheme_str() == Some("http") { 80 } else { 443 }).to_string();
    let ip = host.parse::<IpAddr>().ok();
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return false;
    }
    !no_proxy.split(',').any(|entry| matches(&entry.trim().to_ascii_lowercase(), &host, &port, ip))
}

fn matches(entry: &str, host: &str, port: &str, ip: Option<IpAddr>) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(network) = entry.parse::<IpNet>() {
        return ip.is_some_and(|ip| network.contains(&ip.to_canonical()));
    }
    let (name, entry_port) = split_host_port(entry).unwrap_or((entry, ""));
    if name.is_empty() || !(entry_port.is_empty() || entry_port == port) {
        return false;
    }
    if let Ok(address) = name.parse::<IpAddr>() {
        return ip.is_some_and(|ip| ip.to_canonical() == address.to_canonical());
    }
    if ip.is_some() {
        return false;
    }
    // A leading dot (or `*.`) matches what lies below the name alone, a bare name itself too.
    match name.strip_prefix("*.").or_else(|| name.strip_prefix('.')) {
        Some(parent) => is_below(host, parent),
        None => host == name || is_below(host, name),
    }
}

fn is_below(host: &str, parent: &str) -> bool {
    host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'))
}

/// `host:port` or `[ipv6]:port`; `None` for anything without a port.
fn split_host_port(text: &str) -> Option<(&str, &str)> {
    let (host, port) = text.rsplit_once(':')?;
    match host.strip_prefix('[') {
        Some(inner) => Some((inner.strip_suffix(']')?, port)),
        None => (!host.contains(':')).then_some((host, port)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::fake::Fake;
    use super::*;

    fn proxy(vars: &[(&str, &str)], target: &str) -> Result<Option<String>, String> {
        let host = vars.iter().fold(Fake::default(), |host, (name, value)| host.with_var(name, value));
        from_environment(&host, &target.parse().unwrap())
            .map(|found| found.map(|uri| uri.to_string()))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn no_proxy_is_matched_against_the_server() {
        // From the tests of golang.org/x/net/http/httpproxy, and the two cases that kube has the wrong way round.
        let rows: &[(&str, &str, bool)] = &[
            ("10.0.0.0/8", "https://10.0.0.1:6443", false),
            ("10.0.0.1", "https://10.0.0.1:6443", false),
            ("proxy.corp:3128", "https://10.0.0.1:6443", true),
            ("proxy.corp", "https://10.0.0.1:6443", true),
            ("", "https://example.com", true),
            ("*", "https://example.com", false),
            ("foo, *", "https://example.com", false),
            ("localhost,", "https://example.com", true),
            ("a.b c.d", "https://c.d", true),
            ("example.com", "https://example.com", false),
            ("EXAMPLE.com", "https://example.COM", false),
            ("example.com", "https://sub.example.com", false),
            ("example.com", "https://notexample.com", true),
            (".example.com", "https://sub.example.com", false),
            (".example.com", "https://example.com", true),
            ("*.example.com", "https://sub.example.com", false),
            ("*.example.com", "https://example.com", true),
            ("ample.com", "https://example.com", true),
            ("example.com:6443", "https://example.com:6443", false),
            ("example.com:6443", "https://example.com", true),
            ("example.com:443", "https://example.com", false),
            ("example.com:80", "http://example.com", false),
            ("example.com:", "https://example.com:6443", false),
            (":6443", "https://example.com:6443", true),
            ("192.168.1.1", "https://192.168.1.10", true),
            ("192.168.1.1:6443", "https://192.168.1.1:6443", false),
            ("192.168.1.1:6443", "https://192.168.1.1", true),
            ("192.168.1.0/24", "https://192.168.1.77:6443", false),
            ("192.168.1.0/24", "https://192.168.2.1", true),
            ("192.168.1.7/24", "https://192.168.1.1", false),
            ("0.0.0.0/0", "https://8.8.8.8", false),
            ("0.0.0.0/0", "https://example.com", true),
            ("1.2.3.4/33", "https://1.2.3.4", true),
            ("fd00::/8", "https://[fd00::1]:6443", false),
            ("fd00::1", "https://[fd00::1]:6443", false),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", false),
            ("fe80::/10", "https://[fd00::1]:6443", true),
            ("::/0", "https://10.0.0.1", true),
            ("::ffff:10.0.0.1", "https://10.0.0.1", false),
        ];
        for (list, target, used) in rows {
            let vars = [("HTTP_PROXY", "http://p:1"), ("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", list)];
            assert_eq!(proxy(&vars, target).unwrap().is_some(), *used, "NO_PROXY={list:?} {target}");
        }
    }

    #[test]
    fn the_machine_itself_is_never_proxied() {
        for target in ["https://localhost:6443", "https://127.0.0.1:6443", "https://127.8.9.1", "https://[::1]:6443"] {
            assert_eq!(proxy(&[("HTTPS_PROXY", "http://p:1")], target), Ok(None), "{target}");
        }
    }

    #[test]
    fn the_scheme_of_the_server_chooses_the_variable() {
        let both = [("HTTPS_PROXY", "http://s:1"), ("http_proxy", "http://p:1")];
        assert_eq!(proxy(&both, "https://x"), Ok(Some("http://s:1/".into())));
        assert_eq!(proxy(&both, "http://x"), Ok(Some("http://p:1/".into())));
        assert_eq!(proxy(&[("HTTP_PROXY", "http://p:1")], "https://x"), Ok(None));
        let two = [("HTTPS_PROXY", ""), ("https_proxy", "http://low:1")];
        assert_eq!(proxy(&two, "https://x"), Ok(Some("http://low:1/".into())));
    }

    #[test]
    fn addresses_of_proxies() {
        let rows: &[(&str, &str)] = &[
            ("proxy.corp:3128", "http://proxy.corp:3128/"),
            ("proxy.corp", "http://proxy.corp/"),
            ("https://u:p%40@proxy:8443", "https://u:p%40@proxy:8443/"),
            ("socks5://proxy:1080", "socks5://proxy:1080/"),
            ("socks5h://proxy:1080", "socks5://proxy:1080/"),
        ];
        for (value, want) in rows {
            assert_eq!(proxy(&[("HTTPS_PROXY", value)], "https://x"), Ok(Some((*want).into())), "{value}");
        }
        let bad = proxy(&[("HTTPS_PROXY", "ftp://p")], "https://x").unwrap_err();
        assert_eq!(bad, "$HTTPS_PROXY is \"ftp://p\": a proxy is http, https or socks5, not ftp");
        assert!(proxy(&[("HTTPS_PROXY", "http://a b")], "https://x").is_err());
        assert!(from_kubeconfig("c", "proxy:3128").is_err());
        assert_eq!(from_kubeconfig("c", "http://proxy:3128").unwrap().to_string(), "http://proxy:3128/");
    }
}
