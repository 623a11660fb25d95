use super::lines::MOST_KEY_LINES;
use super::*;

#[test]
fn every_pattern_compiles() {
    assert_eq!(Redactor::new().patterns.len(), PATTERNS.len());
}

#[test]
fn secret_members_lose_their_texts_and_keep_their_shape() {
    let line = r#"{"mcpServers":{"a":{"env":{"X":"v1","n":3},"headers":{"h":["v2"]}}},"inputTokens":5,"token":"t","maxTokens":7}"#;
    assert_eq!(
        Redactor::new().line(line),
        r#"{"mcpServers":{"a":{"env":{"X":"[redacted]","n":3},"headers":{"h":["[redacted]"]}}},"inputTokens":5,"token":"[redacted]","maxTokens":7}"#
    );
}

#[test]
fn the_account_is_hidden_and_what_follows_it_is_not() {
    let line = r#"{"account":{"email":"a@b.org","subscriptionType":"max","n":1},"models":[{"value":"opus"}]}"#;
    assert_eq!(
        Redactor::new().line(line),
        r#"{"account":{"email":"[redacted]","subscriptionType":"[redacted]","n":1},"models":[{"value":"opus"}]}"#
    );
}

#[test]
fn keys_and_tokens_are_found_in_any_text() {
    let redactor = Redactor::new();
    for secret in [
        "sk-ant-api03-AAAAbbbbCCCCdddd0000",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
        "xoxb-123456789012-abcdef",
    ] {
        let clean = redactor
            .text(&format!("before {secret} after"))
            .into_owned();
        assert_eq!(clean, "before [redacted] after", "{secret}");
    }
    assert_eq!(
        redactor.text("Authorization: Bearer abcdefgh12345678"),
        "Authorization: Bearer [redacted]"
    );
    assert_eq!(
        redactor.text("export DB_PASSWORD=hunter22; ls"),
        "export DB_PASSWORD=[redacted]; ls"
    );
    assert_eq!(
        redactor.text("postgres://anna:geheim@db/x"),
        "postgres://anna:[redacted]@db/x"
    );
}

#[test]
fn ordinary_text_is_left_alone() {
    let redactor = Redactor::new().home("/home/ann");
    for text in [
        "a task-list with sk-small",
        "the key is under the mat",
        "/home/anna/x".replace("anna", "user").as_str(),
        "1 + 1 = 2; basic math",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn the_home_folder_is_replaced_also_in_names_of_project_folders() {
    let redactor = Redactor::new().home("/srv/people/ann");
    assert_eq!(
        redactor.text("/srv/people/ann/p /srv/people/anna -srv-people-ann-p"),
        "/home/user/p /srv/people/anna -home-user-p"
    );
}

#[test]
fn a_beginning_loses_its_secrets_wherever_it_is_cut() {
    let redactor = Redactor::new();
    let line =
        r#"{"a":"\ud83d\ude00 x","apiKey":"geheim\u0021","h":{"env":{"X":"\"qv1"}},"t":[1,"y"]}"#;
    for cut in 0..line.len() {
        let text = redactor.line(&line[..cut]);
        assert!(
            !text.contains("geh") && !text.contains("qv"),
            "{cut}: {text}"
        );
    }
    assert_eq!(redactor.line(&line[..5]), r#"{"a":"#);
    assert_eq!(redactor.line(&line[..19]), r#"{"a":"\ud83d\ude00 "#);
    let end = redactor.line(line);
    assert_eq!(end, redactor.line(line));
    assert_eq!(
        redactor.line("no JSON: Bearer abcdefgh123"),
        "no JSON: Bearer [redacted]"
    );
}

#[test]
fn half_a_character_hides_no_secret() {
    let line = r#"{"apiKey":"\ud800geheim","t":"\udc00 sk-ant-api03-0123456789abcdef"}"#;
    let clean = Redactor::new().line(line);
    assert!(
        !clean.contains("geheim") && !clean.contains("0123456789"),
        "{clean}"
    );
}

#[test]
fn escapes_and_depth_do_no_harm() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(Redactor::new().line(&deep), deep);
    assert_eq!(
        Redactor::new().line(r#"{"a\"b":"\u002fhome\/anna\/x","password":"\"q\""}"#),
        r#"{"a\"b":"/home/user/x","password":"[redacted]"}"#
    );
}

const NAMED: [&str; 25] = [
    "sk-ant-api03-GEHEIM0123456789",
    "ghp_GEHEIM56789abcdefghijABCDEFGHIJ012345",
    "AKIAGEHEIMGHIJKLMNOP",
    "hf_GEHEIMabcdefghijklmnopq",
    "eyJhbGciOiJIUzI1NiJ9.GEHEIMOiIxMjM0In0.GEHEIMF0dXJl",
    "Bearer GEHEIM12345678",
    "DB_PASSWORD=GEHEIM22",
    "aws_secret_access_key = GEHEIM/wJalrXUtnFEMI",
    "x-api-key: GEHEIM1234",
    "--password=GEHEIM1",
    "--password GEHEIM1",
    "password: GEHEIM1",
    "db_password=geheim",
    "apiKey=GEHEIM1",
    "{\"apiKey\":\"GEHEIM\",\"n\":1}",
    "{ \"apiKey\" : \"a\\\"GEHEIM\", \"n\": 1}",
    "got {\"password\": \"GEHEIM with blanks\"} back",
    "access_token=GEHEIM12&x=1",
    "Cookie: sid=GEHEIM; other=GEHEIM",
    "Set-Cookie: sid=GEHEIM; Path=/",
    "Authorization: token GEHEIM123",
    "curl -s -u anna:GEHEIM https://x.org",
    "https://anna:GEHEIM@x.org/y",
    "jane.geheim@corp.com",
    "C:\\Users\\geheim\\x",
];

/// So deep in JSON texts.
fn nested(text: &str, depth: usize) -> String {
    (0..depth).fold(text.to_string(), |text, level| match level % 2 {
        0 => serde_json::json!({ "type": "text", "text": text, "n": 1 }).to_string(),
        _ => serde_json::json!([[text], "x"]).to_string(),
    })
}

/// The text within, when it is JSON all the way.
fn unnested(text: &str, depth: usize) -> String {
    (0..depth).rev().fold(text.to_string(), |text, level| {
        let value: serde_json::Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let place = if level % 2 == 0 { "/text" } else { "/0/0" };
        value
            .pointer(place)
            .and_then(|text| text.as_str())
            .unwrap()
            .to_string()
    })
}

#[test]
fn secrets_are_found_at_every_depth_and_json_stays_json() {
    let redactor = Redactor::new();
    for secret in NAMED {
        for before in ["", "a\n", "a\t", "\"", "\\", "a\r\n\t", "a\u{1b}", "é\n"] {
            for depth in 0..=4 {
                let line = nested(&format!("{before}{secret}\nend"), depth);
                for line in [line.clone(), format!("it said {line}")] {
                    let clean = redactor.line(&line);
                    assert!(
                        !clean.to_lowercase().contains("geheim"),
                        "{depth}: {line}\n{clean}"
                    );
                    assert_eq!(redactor.line(&clean), clean, "a second time");
                    let json = clean.strip_prefix("it said ").unwrap_or(&clean);
                    let text = unnested(json, depth);
                    assert!(
                        text.starts_with(before) && text.ends_with("\nend"),
                        "{line}\n{clean}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_private_key_is_found_at_every_depth() {
    let redactor = Redactor::new();
    let key = "-----BEGIN PRIVATE KEY-----\nGEHEIM\nGEHEIM\n";
    for end in ["-----END PRIVATE KEY-----\nend", ""] {
        for depth in 0..=3 {
            let clean = redactor.line(&nested(&format!("a\n{key}{end}"), depth));
            assert!(!clean.contains("GEHEIM"), "{clean}");
            let text = unnested(&clean, depth);
            let rest = if end.is_empty() { "" } else { "\nend" };
            assert_eq!(text, format!("a\n[redacted]{rest}"));
        }
    }
    assert_eq!(
        redactor
            .text("\"-----BEGIN PRIVATE KEY-----\" +\n\"MIIE\" + \"-----END PRIVATE KEY-----\""),
        "\"[redacted]\""
    );
}

#[test]
fn a_known_secret_is_found_as_it_stands_in_json() {
    let redactor = Redactor::new().secret("ge\"heim\n123").secret("nabcdefgh");
    for depth in 0..=3 {
        let clean = redactor.line(&format!("x {}", nested("ge\"heim\n123", depth)));
        assert!(!clean.contains("heim"), "{clean}");
    }
    let clean = redactor.text(r#"x "a\nabcdefgh""#).into_owned();
    assert_eq!(clean, r#"x "a\n[redacted]""#);
}

#[test]
fn members_are_known_in_json_in_a_text() {
    let inner = r#"{"env":{"X":"v1"},"headers":{"a":["v2"]},"n":1.50}"#;
    let clean = Redactor::new().line(&nested(inner, 2));
    assert_eq!(
        unnested(&clean, 2),
        r#"{"env":{"X":"[redacted]"},"headers":{"a":["[redacted]"]},"n":1.50}"#
    );
}

#[test]
fn sentences_and_programs_stay_readable() {
    let redactor = Redactor::new();
    for text in [
        "the password is required",
        "password: required",
        "the password: choose one that is long",
        "Unexpected token: } at 5",
        "token: string; password: string",
        "const password = getPassword();",
        "password = os.environ[\"X\"]",
        "apiKey: process.env.KEY,",
        "curl --token $TOKEN -u $USER",
        "pass --token to it; --password is for servers",
        "the cookie: a small file",
        "inputTokens: 512, maxTokens=1024",
        "the secret of good prose",
        "docker run -u 1000:1000 x",
        r"C:\new\table and \n",
        "see https://x.org:80/y",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn homes_of_every_system_are_hidden() {
    let redactor = Redactor::new();
    for (text, clean) in [
        (r"C:\Users\jane\x", r"C:\Users\user\x"),
        (r"C:\\Users\\nina\\x", r"C:\\Users\\user\\x"),
        (r"C:\\\\Users\\\\nina\\\\x", r"C:\\\\Users\\\\user\\\\x"),
        (r"C:\Users\Jane Doe\x", r"C:\Users\user\x"),
        ("/Users/Jane Doe/x", "/Users/user/x"),
        ("\"/Users/Jane Van Doe\"", "\"/Users/user\""),
        ("in /home/anna or src/x", "in /home/user or src/x"),
    ] {
        assert_eq!(redactor.text(text), clean);
    }
    let line = nested("C:\\Users\\\nx", 2);
    assert_eq!(redactor.line(&line), line);
}

#[test]
fn values_of_secret_flags_are_hidden() {
    let args = [
        "--token=t",
        "--api-key",
        "k",
        "--verbose",
        "--db-password",
        "p",
        "--token",
        "--max-tokens",
        "5",
        "--settings",
        r#"{"env":{"A":"b"}}"#,
        "--",
        "x",
    ];
    let clean = Redactor::new().args(&args.map(String::from));
    assert_eq!(
        clean,
        [
            "--token=[redacted]",
            "--api-key",
            "[redacted]",
            "--verbose",
            "--db-password",
            "[redacted]",
            "--token",
            "--max-tokens",
            "5",
            "--settings",
            r#"{"env":{"A":"[redacted]"}}"#,
            "--",
            "x",
        ]
    );
}

#[test]
fn a_key_is_hidden_over_its_lines_and_what_follows_is_not() {
    let mut stream = StreamRedactor::new(Redactor::new().into());
    let lines = [
        "a",
        "x -----BEGIN RSA PRIVATE KEY-----",
        "MIIE",
        "-----END RSA PRIVATE KEY-----",
        "b",
    ];
    let clean = lines.map(|line| stream.line(line, false));
    assert_eq!(
        clean,
        ["a", "x [redacted]", "[redacted]", "[redacted]", "b"]
    );
    stream.line("-----BEGIN PRIVATE KEY-----", false);
    let hidden = (0..1000)
        .filter(|_| stream.line("no end", false) == REDACTED)
        .count();
    assert_eq!(hidden, MOST_KEY_LINES);
}

#[test]
fn a_token_that_was_cut_shows_nothing() {
    let token = format!("eyJhbGciOiJIUzI1NiJ9.{}", "GEHEIM".repeat(1000));
    let clean = Redactor::new().line(&format!(r#"{{"text":"{token}"#));
    assert_eq!(clean, r#"{"text":"[redacted]"#);
}

/// A line that holds JSON in its texts, so deep, and is cut anywhere.
#[test]
fn json_in_texts_loses_its_secrets_wherever_it_is_cut() {
    let redactor = Redactor::new();
    let inner = r#"{"a":[1,"\ud83d\ude00"],"headers":{"x":"geheim one"},"env":{"Y":["geheim \"two\""]},"apiKey":"geheim"}"#;
    for depth in 0..=3 {
        let line = nested(inner, depth);
        for cut in 0..=line.len() {
            let clean = redactor.line(&line[..cut]);
            assert!(!clean.contains("gehe"), "{depth} {cut}: {clean}");
        }
    }
}

#[test]
fn json_is_found_in_a_text_around_it() {
    let redactor = Redactor::new();
    for (text, clean) in [
        (
            "1\t{\n2\t  \"env\": {\"X\": \"geheim\"},\n3\t  \"n\": 1\n4\t}",
            "1\t{\n2\t  \"env\": {\"X\": \"[redacted]\"},\n3\t  \"n\": 1\n4\t}",
        ),
        (
            "{\"headers\":{\"a\":\"geheim\"}}\n{\"headers\":{\"b\":\"geheim\"}}",
            "{\"headers\":{\"a\":\"[redacted]\"}}\n{\"headers\":{\"b\":\"[redacted]\"}}",
        ),
        ("{ sk-ant-api03-0123456789abcdef, \"x", "{ [redacted], \"x"),
    ] {
        assert_eq!(redactor.line(text), clean);
        let line = serde_json::json!({ "text": text }).to_string();
        assert_eq!(
            redactor.line(&line),
            serde_json::json!({ "text": clean }).to_string()
        );
    }
}

#[test]
fn a_key_whose_beginning_is_missing_is_hidden() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    let text =
        format!("the end of its stderr:\n{body}{body}c2hvcnQ=\n-----END PRIVATE KEY-----\nx");
    assert_eq!(
        Redactor::new().text(&text),
        "the end of its stderr:\n[redacted]\nx"
    );
}

#[test]
fn colours_of_a_terminal_hide_no_secret() {
    let redactor = Redactor::new();
    for (text, clean) in [
        (
            "\x1b[01;31m\x1b[Ksk-ant-api03-AAAAbbbbCCCCdddd0000\x1b[m",
            "\x1b[01;31m\x1b[K[redacted]\x1b[m",
        ),
        (
            "\x1b[36mMY_TOKEN\x1b[0m=geheim1234 x",
            "\x1b[36mMY_TOKEN\x1b[0m=[redacted] x",
        ),
        (
            "TOKEN=\x1b[32mgeheim1234\x1b[0m x",
            "TOKEN=\x1b[32m[redacted]\x1b[0m x",
        ),
        (
            r"\u001b[31msk-ant-api03-AAAAbbbbCCCCdddd0000\u001B[0m",
            r"\u001b[31m[redacted]\u001B[0m",
        ),
    ] {
        assert_eq!(redactor.text(text), clean);
    }
}

#[test]
fn members_and_values_of_many_programs_are_hidden() {
    let redactor = Redactor::new();
    for name in [
        "secretAccessKey",
        "bearerToken",
        "passphrase",
        "auth",
        "session_key",
        "secrets",
        "requestHeaders",
        "db_password",
    ] {
        let line = format!(r#"{{"{name}":["geheim"]}}"#);
        assert!(!redactor.line(&line).contains("geheim"), "{line}");
    }
    let line = r#"{"progressToken":"p1","tokens":5}"#;
    assert_eq!(redactor.line(line), line);
    for (text, clean) in [
        ("curl -u 'bob:pw with space' x", "curl -u '[redacted]' x"),
        ("curl -su bob:pw x", "curl -su [redacted] x"),
        ("TOKEN=geheim1234", "TOKEN=[redacted]"),
        ("AccountKey=geheim1234==;", "AccountKey=[redacted];"),
        (r"c:\users\anna\x", r"c:\users\user\x"),
        ("ya29.a0AfH6SMBx0123456789abcd", "[redacted]"),
        (
            "https://hooks.slack.com/services/T0/B0/abc",
            "https://[redacted]",
        ),
    ] {
        assert_eq!(redactor.text(text), clean);
    }
}

/// With a text of others' making, time must not grow with the square of its length: these would take minutes.
#[test]
fn long_texts_take_no_longer_than_they_are_long() {
    let redactor = Redactor::new();
    let begun = std::time::Instant::now();
    for (part, end) in [
        ("token=", "\n"),
        ("token=(", "\n"),
        ("TOKEN='", ""),
        ("\\\"", "\n"),
        ("-----BEGIN PRIVATE KEY-----\"\"", "\"x"),
        ("-----BEGIN PRIVATE KEY-----\\n", ""),
        ("-----END PRIVATE KEY-----", ""),
        ("{\"a\":", ""),
        ("{\\\"token\\\":\\\"", "\n"),
        ("\x1b[", ""),
        ("curl -u ", ""),
        ("/home/a ", ""),
    ] {
        let text = format!("{{\"a\":\"{}{end}", part.repeat((128 << 10) / part.len()));
        assert!(redactor.line(&text).len() > 5, "{part}");
    }
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
}
