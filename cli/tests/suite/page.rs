//! The web page of a hostile conversation: its texts stay text, and nothing in it can act.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{jsonl, Script, Tree};
use serde_json::json;

/// What would act if it came through anywhere: `document.title` tells.
const ATTACKS: [&str; 10] = [
    "<script>document.title='taken'</script>",
    "\"><img src=x onerror=\"document.title='taken'\">",
    "' onmouseover='document.title=1' autofocus onfocus='document.title=2",
    "</pre></code></details></dl></main></style></title></script><script>document.title='taken'</script>",
    "<svg/onload=document.title='taken'><!-- --!><![CDATA[ <iframe srcdoc=\"<script>parent.document.title='taken'</script>\">",
    "[a](javascript:document.title='taken') [b](JaVaScRiPt&colon;document.title='taken') [c](data:text/html,<script>1</script>)",
    "![i](https://elsewhere.example/i.png) <https://elsewhere.example/\"onclick=\"document.title='taken'>",
    "|a<script>1</script>|b|\n|-|-:|\n|<img src=x onerror=\"document.title='taken'\">|[x](javascript:1)|",
    "&lt;script&gt; &#60;script&#62; <a href='jav&#x09;ascript:document.title=1'>x</a>",
    "right\u{202e}left \u{1b}[31mred\u{1b}]8;;javascript:1\u{7}link \u{2066}x\u{0}\u{85}",
];

const DIRECTORY: &str = "/projects/\"><script>document.title='taken'</script>";

fn hostile(tree: &Tree) -> String {
    let all = ATTACKS.join("\n\n");
    let one = ATTACKS[3];
    let directory = Path::new(DIRECTORY);
    let mut script = Script::new(directory).line(
        "user",
        json!({"role": "user", "content": all}),
        json!({"gitBranch": all}),
    );
    for attack in ATTACKS {
        script = script.text(attack);
    }
    let call = json!({"type": "tool_use", "id": all, "name": all, "input": {(all.clone()): all, "command": one, "list": [all, {(one): 1}]}});
    let images = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png\" onerror=\"document.title='taken'", "data": "AAAA"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "\"><script>document.title='taken'</script>"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9ImRvY3VtZW50LnRpdGxlPTEiLz4="}},
        {"type": all, "x": all},
        {"type": "text", "text": all},
    ]);
    let script = script
        .line(
            "assistant",
            json!({"id": all, "model": all, "content": [{"type": "thinking", "thinking": all}, call, {"type": all, "y": one}]}),
            json!({"costUSD": 1e308}),
        )
        .line(
            "user",
            json!({"content": [{"type": "tool_result", "tool_use_id": all, "is_error": true, "content": images}]}),
            json!({"permissionDecision": {"decision": "reject", "source": all}, "timestamp": all}),
        )
        .line("assistant", json!({"content": [{"type": "text", "text": all}]}), json!({"isApiErrorMessage": true}))
        .line("system", json!(null), json!({"subtype": all, "content": all}))
        .line("user", json!({"content": format!("<command-name>{all}</command-name>")}), json!({}))
        .line("user", json!({"content": all}), json!({"origin": {"kind": all}}))
        .line("user", json!({"content": all}), json!({"isCompactSummary": true}))
        .text("the end")
        .entry(json!({"type": "custom-title", "customTitle": all}))
        .entry(json!({"type": "tag", "tag": all}))
        .entry(json!({
            "type": "cost-state", "totalCostUSD": 1e300, "hasUnknownModelCost": true,
            "modelUsage": {(all.clone()): {"inputTokens": 1e300, "costUSD": -1}},
        }));
    let session = tree.session(directory, 1, &script.lines);
    let folder = tree
        .transcript(directory, 1)
        .with_extension("")
        .join("subagents");
    fs::create_dir_all(&folder).unwrap();
    for (agent, call) in [("a1", all.as_str()), ("a2", "")] {
        let script = Script::new(directory).prompt(&all).text(&all);
        fs::write(
            folder.join(format!("agent-{agent}.jsonl")),
            jsonl(&script.lines),
        )
        .unwrap();
        let metadata = json!({"agentType": all, "toolUseId": call, "description": all});
        fs::write(
            folder.join(format!("agent-{agent}.meta.json")),
            metadata.to_string(),
        )
        .unwrap();
    }
    session
}

fn page(tree: &Tree) -> String {
    let session = hostile(tree);
    let anywhere = tree.directory("anywhere");
    tree.run(&anywhere, &["sessions", "show", &session, "--html", "-"])
        .ok()
}

/// An element's start: its name, and its attributes as they are written.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
}

/// Reads a page as strictly as it is written here: names, quoted attributes, no comments. Styles
/// and scripts are stepped over.
fn elements(page: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut rest = page
        .strip_prefix("<!doctype html>")
        .expect("a document type");
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("an end of each tag");
        let (mut tag, behind) = rest.split_at(end);
        rest = &behind[1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert!(is_name(name), "</{name}>");
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap_or_default().to_owned();
        assert!(is_name(&name), "<{tag}>");
        tag = tag[name.len()..].trim();
        let mut attributes = Vec::new();
        while !tag.is_empty() {
            let length = tag
                .find(|it: char| !it.is_ascii_lowercase() && it != '-')
                .unwrap_or(tag.len());
            let (key, behind) = tag.split_at(length);
            assert!(!key.is_empty(), "<{name} … {tag}>");
            let value = match behind.strip_prefix("=\"") {
                Some(quoted) => {
                    let (value, behind) = quoted.split_once('"').expect("a closing quote");
                    tag = behind.trim_start();
                    value
                }
                None => {
                    tag = behind.trim_start_matches('/').trim_start();
                    ""
                }
            };
            attributes.push((key.to_owned(), value.to_owned()));
        }
        if name == "style" || name == "script" {
            let end = format!("</{name}>");
            rest = rest.split_once(&end).expect("an end of the element").1;
        }
        found.push(Element { name, attributes });
    }
    found
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|first| first.is_ascii_lowercase())
        && characters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
}

#[test]
fn only_harmless_elements_stand_on_a_page() {
    let tree = Tree::new();
    let page = page(&tree);
    let elements = elements(&page);
    let known = [
        "a",
        "b",
        "bdi",
        "blockquote",
        "body",
        "br",
        "button",
        "code",
        "dd",
        "del",
        "details",
        "div",
        "dl",
        "dt",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hr",
        "html",
        "img",
        "input",
        "li",
        "main",
        "meta",
        "nav",
        "ol",
        "p",
        "pre",
        "script",
        "section",
        "span",
        "strong",
        "style",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "ul",
    ];
    let attributes = [
        "alt",
        "charset",
        "class",
        "content",
        "data-open",
        "datetime",
        "dir",
        "disabled",
        "hidden",
        "href",
        "http-equiv",
        "id",
        "lang",
        "name",
        "open",
        "rel",
        "src",
        "tabindex",
        "title",
        "type",
    ];
    for element in &elements {
        assert!(known.contains(&element.name.as_str()), "{element:?}");
        for (name, value) in &element.attributes {
            assert!(attributes.contains(&name.as_str()), "{element:?}");
            if name == "href" {
                let leads = ["https://", "http://", "mailto:", "#turn-"];
                assert!(
                    leads.iter().any(|start| value.starts_with(start)),
                    "{element:?}"
                );
            }
            if name == "src" {
                assert!(
                    element.name == "img" && value.starts_with("data:image/png;base64,"),
                    "{element:?}"
                );
            }
        }
    }
    let count = |name: &str| {
        elements
            .iter()
            .filter(|element| element.name == name)
            .count()
    };
    assert_eq!((count("script"), count("style"), count("title")), (1, 1, 1));
    let policy = elements.iter().find(|element| {
        let names_policy = (
            "http-equiv".to_owned(),
            "Content-Security-Policy".to_owned(),
        );
        element.attributes.contains(&names_policy)
    });
    let policy = &policy.expect("a policy").attributes[1].1;
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    for character in ['\u{202e}', '\u{2066}', '\u{1b}', '\u{7}', '\u{0}', '\u{85}'] {
        assert!(!page.contains(character), "{character:?}");
    }
    assert!(page.contains("&lt;U+202E&gt;") && page.contains("the end"));
}

#[test]
fn a_page_leaves_out_what_is_too_much_of_one_text() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let long = "word ".repeat(100 << 10);
    let script = Script::new(&directory)
        .prompt(&long)
        .text(&long)
        .call("t1", "Bash", json!({ "command": long }))
        .result("t1", json!(long), json!({}));
    tree.session(&directory, 1, &script.lines);
    let page = tree.run(&directory, &["sessions", "show", "0", "--html", "-"]);
    let page = page.ok();
    assert_eq!(page.matches("244 KiB more in the transcript").count(), 4);
    assert!(page.len() < 5 << 18, "{}", page.len());
}

/// The page of the attacks as it was when somebody last looked at it. After a change that is meant,
/// `TOWLINE_UPDATE_SNAPSHOTS=1` writes it anew.
#[test]
fn a_hostile_page_is_as_it_was() {
    let tree = Tree::new();
    let page = page(&tree);
    let (_, body) = page.split_once("<header>").expect("a header");
    let (body, _) = body.split_once("<script>").expect("the page's script");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/hostile.html");
    if std::env::var_os("TOWLINE_UPDATE_SNAPSHOTS").is_some_and(|set| set == "1") {
        fs::write(&file, body).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    for (at, (line, wanted)) in body.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, wanted, "line {}", at + 1);
    }
    assert_eq!(body.lines().count(), expected.lines().count());
}

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// In a browser: nothing of the conversation runs, the page's own buttons are there. `make test`
/// says so where there is none.
#[test]
fn a_browser_runs_nothing_of_a_hostile_page() {
    let Some(chromium) = chromium() else {
        eprintln!("SKIPPED: Chromium is not installed; Debian: apt-get install chromium");
        return;
    };
    let tree = Tree::new();
    let file = tree.path("page.html");
    let profile = tree.path("profile");
    fs::write(&file, page(&tree)).unwrap();
    let dumped = |file: &Path| {
        let output = Command::new(&chromium)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--dump-dom",
            ])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let dom = dumped(&file);
    let (_, title) = dom.split_once("<title>").expect("a title");
    let (title, _) = title.split_once("</title>").expect("an end of the title");
    assert!(title.starts_with("&lt;script&gt;"), "{title}");
    assert!(
        dom.contains("<p class=\"tools\"><button"),
        "the page's own script has run"
    );
    // The same script would have run outside the policy.
    let open = tree.path("open.html");
    fs::write(
        &open,
        "<title>x</title><script>document.title='taken'</script>",
    )
    .unwrap();
    assert!(dumped(&open).contains("<title>taken</title>"));
}

/// The same conversation in a terminal: no control character but the ends of lines.
#[test]
fn nothing_of_a_hostile_conversation_steers_a_terminal() {
    let tree = Tree::new();
    let session = hostile(&tree);
    let anywhere = tree.directory("anywhere");
    for arguments in [
        &["list", "--all"][..],
        &["show", &session],
        &["show", &session, "--full"],
        &["show", &session, "--agent", "a1"],
        &["export", &session, "--format", "markdown"],
    ] {
        let shown = tree
            .run(&anywhere, &[&["sessions"], arguments].concat())
            .ok();
        let steers =
            |it: char| (it.is_control() && it != '\n') || matches!(it, '\u{202e}' | '\u{2066}');
        assert!(!shown.contains(steers), "{arguments:?}: {shown:?}");
        assert!(
            shown.contains("<script>") || shown.contains("\\<script"),
            "{arguments:?}: {shown}"
        );
    }
}
