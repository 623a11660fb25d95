//! W3C Trace Context: which distributed trace something belongs to.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::LaunchError;
use super::options::Options;

/// A place in a distributed trace, as the headers `traceparent` and `tracestate` of W3C Trace Context
/// say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// `00-TRACE-SPAN-FLAGS` in lower-case hexadecimal digits.
    pub traceparent: String,
    /// What tracing systems add, as it came.
    pub tracestate: Option<String>,
}

impl TraceContext {
    /// `None` when `traceparent` is not valid; a `tracestate` that is not valid is left out.
    pub fn new(traceparent: &str, tracestate: Option<&str>) -> Option<TraceContext> {
        let tracestate = tracestate.filter(|state| is_state(state));
        is_parent(traceparent).then(|| TraceContext {
            traceparent: traceparent.into(),
            tracestate: tracestate.map(String::from),
        })
    }

    /// What options `traceparent` and `tracestate` give.
    pub(super) fn of_options(options: &Options) -> Result<Option<TraceContext>, LaunchError> {
        let refuse = |option, value: &str, reason| LaunchError::TraceContext {
            option,
            value: value.into(),
            reason,
        };
        match (&options.traceparent, &options.tracestate) {
            (None, None) => Ok(None),
            (None, Some(state)) => Err(refuse(
                "tracestate",
                state,
                "belongs to a traceparent; give that too",
            )),
            (Some(parent), _) if !is_parent(parent) => Err(refuse(
                "traceparent",
                parent,
                "is no W3C trace context; give 00-, 32 hexadecimal digits, -, 16, -, and 2",
            )),
            (Some(_), Some(state)) if !is_state(state) => Err(refuse(
                "tracestate",
                state,
                "is no W3C trace state; give key=value members with commas between, the keys in lower case and \
                 each once, 32 members and 512 characters at most",
            )),
            (Some(parent), state) => Ok(TraceContext::new(parent, state.as_deref())),
        }
    }
}

/// A later version may have more fields behind those of version 00.
fn is_parent(text: &str) -> bool {
    let mut fields = text.split('-');
    let mut field = |length: usize| {
        let field = fields.next().unwrap_or_default();
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (field.len() == length && field.bytes().all(hex)).then_some(field)
    };
    let (version, trace, span, flags) = (field(2), field(32), field(16), field(2));
    let rest = fields.next();
    let not_zero =
        |field: Option<&str>| field.is_some_and(|field| field.bytes().any(|b| b != b'0'));
    version.is_some_and(|version| version != "ff")
        && not_zero(trace)
        && not_zero(span)
        && flags.is_some()
        && (rest.is_none() || version != Some("00"))
}

/// Members `key=value` between commas, of which some may be empty. Keys are those of Level 2, which are
/// those of Level 1 and more.
fn is_state(text: &str) -> bool {
    let blank = [' ', '\t'];
    let members = text.split(',').map(|member| member.trim_matches(blank));
    let mut keys = Vec::new();
    for member in members.filter(|member| !member.is_empty()) {
        match member.split_once('=') {
            Some((key, value)) if is_key(key) && is_value(value) && !keys.contains(&key) => {
                keys.push(key);
            }
            _ => return false,
        }
    }
    text.len() <= 512 && keys.len() <= 32
}

fn is_key(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 256
        && text.bytes().next().is_some_and(plain)
        && text
            .bytes()
            .all(|byte| plain(byte) || b"_-*/@".contains(&byte))
}

/// A member has no blanks at its end, so that a value of blanks alone is empty here.
fn is_value(text: &str) -> bool {
    let fits = |byte| (b' '..=b'~').contains(&byte) && byte != b'=';
    (1..=256).contains(&text.len()) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_context_is_checked() {
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
        for good in [PARENT, later] {
            assert!(TraceContext::new(good, None).is_some(), "{good}");
        }
        for bad in [
            "",
            "00-new",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
        ] {
            assert_eq!(TraceContext::new(bad, None), None, "{bad}");
        }
        let context = TraceContext::new(PARENT, Some("a=1\n")).unwrap();
        assert_eq!(context.tracestate, None);
    }

    #[test]
    fn a_state_has_members_with_keys_of_their_own() {
        let members = |n: usize| -> String { (0..n).map(|n| alloc::format!("k{n}=v,")).collect() };
        let long = |n: usize| alloc::format!("a={},b={}", "x".repeat(250), "y".repeat(n));
        for good in [
            "",
            "a=1",
            "congo=t61rcWkgMzE, rojo=00f067aa0ba902b7\t,,",
            "fw529a3039@dt=FfD/5d:8b,0a_-*/=~ !",
            &members(32),
            &long(256),
        ] {
            assert!(is_state(good), "{good}");
        }
        for bad in [
            "a",
            "=",
            "a=",
            "a= ",
            "=1",
            "a=1,a=2",
            "A=1",
            "_a=1",
            "a b=1",
            "a =1",
            "a=1=2",
            "a=\u{e9}",
            "a=1\n",
            &members(33),
            &long(257),
            &long(256).replace(',', "  ,  "),
        ] {
            assert!(!is_state(bad), "{bad}");
        }
    }
}
