//! Text into HTML.

use crate::terminal::{clean, cut, one_line};

/// Text as the content of an element or the value of a quoted attribute: whatever stands in it, it
/// stays text. Characters that cannot be seen or that reorder a line are shown.
pub(super) fn text(text: &str) -> String {
    escaped(&clean(text))
}

/// What is meant to be short is cut at as many columns.
const SHORT: usize = 300;

/// The same on one line, of a length that does not spoil the page.
pub(super) fn line(text: &str) -> String {
    escaped(&cut(&one_line(text), SHORT))
}

/// The value of an attribute, in quotes.
pub(super) fn attribute(text: &str) -> String {
    escaped(&one_line(text))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Where a link may lead to.
pub(super) fn is_safe_link(url: &str) -> bool {
    let url = url.trim();
    let plain = !url.chars().any(|it| it.is_control() || it.is_whitespace());
    let scheme = url
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    plain && matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(
            text("<script>alert('1') & \"2\"</script>"),
            "&lt;script&gt;alert(&#39;1&#39;) &amp; &quot;2&quot;&lt;/script&gt;"
        );
        assert_eq!(text("a\u{202e}b\u{1b}[1m"), "a&lt;U+202E&gt;b");
    }

    #[test]
    fn links_lead_to_the_web_only() {
        for url in ["https://a.example/x?y#z", "HTTP://a", "mailto:a@b.example"] {
            assert!(is_safe_link(url), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            "\u{1}javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//a.example/x",
            "src/main.rs",
            "#x",
            "",
            "https://a\u{0}b",
        ] {
            assert!(!is_safe_link(url), "{url:?}");
        }
    }
}
