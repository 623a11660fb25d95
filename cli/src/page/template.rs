//! The page around a conversation.

use base64::Engine;
use sha2::{Digest, Sha256};

use super::escape::line;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The document. Of styles and scripts only those two count that are named by their hashes.
pub(super) fn page(title: &str, body: &str) -> String {
    let policy = format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; \
         base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"towline {version}\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        version = env!("CARGO_PKG_VERSION"),
        title = line(title),
    )
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digest = base64::engine::general_purpose::STANDARD.encode(digest);
    format!("sha256-{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_as_browsers_make_them() {
        // An example of the specification of content security policies.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    #[test]
    fn nothing_of_the_page_ends_its_elements_early() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
    }
}
