//! Markdown into HTML that holds nothing but text and its structure.

use pulldown_cmark::{html, Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::escape::{attribute, is_safe_link};
use crate::terminal::clean;

/// Claude's text. HTML in it is shown as text, images are named and not loaded, links that lead
/// elsewhere than to the web lead nowhere.
pub(super) fn prose(markdown: &str) -> String {
    let cleaned = clean(markdown);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut open: Vec<&str> = Vec::new();
    let mut table = Table::default();
    let events = Parser::new_ext(&cleaned, options).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
            if !is_safe_link(&dest_url) || !open.is_empty() =>
        {
            open.push("</span>");
            let title = attribute(&dest_url);
            Event::Html(format!("<span class=\"nowhere\" title=\"{title}\">").into())
        }
        Event::Start(Tag::Link { dest_url, .. }) => {
            open.push("</a>");
            Event::Html(link(&dest_url).into())
        }
        Event::Start(Tag::Image { dest_url, .. }) => {
            open.push("</a>");
            Event::Html(format!("{}image: ", link(&dest_url)).into())
        }
        Event::End(TagEnd::Link | TagEnd::Image) => {
            Event::Html(open.pop().unwrap_or_default().into())
        }
        event => table.event(event),
    });
    let mut out = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut out, events);
    out
}

/// Writes tables: in a box of their own, so that a wide one scrolls by itself, and aligned by
/// classes, since the page has no style attributes.
#[derive(Default)]
struct Table {
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
}

impl Table {
    fn event<'e>(&mut self, event: Event<'e>) -> Event<'e> {
        let html = match event {
            Event::Start(Tag::Table(columns)) => {
                self.columns = columns;
                "<div class=\"scroll\"><table>"
            }
            Event::End(TagEnd::Table) => "</tbody></table></div>\n",
            Event::Start(Tag::TableHead) => {
                (self.in_head, self.column) = (true, 0);
                "<thead><tr>"
            }
            Event::End(TagEnd::TableHead) => {
                self.in_head = false;
                "</tr></thead><tbody>\n"
            }
            Event::Start(Tag::TableRow) => {
                self.column = 0;
                "<tr>"
            }
            Event::End(TagEnd::TableRow) => "</tr>\n",
            Event::Start(Tag::TableCell) => {
                let column = self.columns.get(self.column);
                self.column += 1;
                match (self.in_head, column) {
                    (true, Some(Alignment::Right)) => "<th class=\"right\">",
                    (true, Some(Alignment::Center)) => "<th class=\"center\">",
                    (true, _) => "<th>",
                    (false, Some(Alignment::Right)) => "<td class=\"right\">",
                    (false, Some(Alignment::Center)) => "<td class=\"center\">",
                    (false, _) => "<td>",
                }
            }
            Event::End(TagEnd::TableCell) if self.in_head => "</th>",
            Event::End(TagEnd::TableCell) => "</td>",
            other => return other,
        };
        Event::Html(html.into())
    }
}

fn link(url: &str) -> String {
    format!(
        "<a href=\"{}\" rel=\"noopener noreferrer\">",
        attribute(url)
    )
}

/// A heading of a message stands below those of the page.
fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_text() {
        for (markdown, html) in [
            ("**a** <b>b</b>", "<p><strong>a</strong> &lt;b&gt;b&lt;/b&gt;</p>\n"),
            (
                "<script>alert(1)</script>",
                "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n",
            ),
            (
                "[a](javascript:alert(1))",
                "<p><span class=\"nowhere\" title=\"javascript:alert(1)\">a</span></p>\n",
            ),
            (
                "[a](https://a.example/\"x)",
                "<p><a href=\"https://a.example/&quot;x\" rel=\"noopener noreferrer\">a</a></p>\n",
            ),
            (
                "![x](https://a.example/i.png)",
                "<p><a href=\"https://a.example/i.png\" rel=\"noopener noreferrer\">image: x</a></p>\n",
            ),
            ("# a", "<h3>a</h3>\n"),
            (
                "|a|b|\n|-|-:|\n|1|<i>|",
                "<div class=\"scroll\"><table><thead><tr><th>a</th><th class=\"right\">b</th></tr></thead>\
                 <tbody>\n<tr><td>1</td><td class=\"right\">&lt;i&gt;</td></tr>\n</tbody></table></div>\n",
            ),
            (
                "```\" onload=x\na\n```",
                "<pre><code class=\"language-&quot;\">a\n</code></pre>\n",
            ),
        ] {
            assert_eq!(prose(markdown), html, "{markdown}");
        }
        assert!(!prose("<https://a.example/<b>>").contains("<b>"));
        assert!(!prose("[![x](javascript:1)](https://a.example)").contains("href=\"javascript"));
    }
}
