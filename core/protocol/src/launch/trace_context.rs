//! W3C Trace Context: which distributed trace something belongs to.

use alloc::string::String;

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
    /// `None` when `traceparent` is not valid; a `tracestate` that no header can hold is left out.
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
                "cannot stand in a header; use printable ASCII characters only",
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

fn is_state(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
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
}
