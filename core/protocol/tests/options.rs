//! The options document: names, shapes, merging, and what `Debug` keeps to itself.

use towline_protocol::launch::{Dialect, Options, OptionsError, Timeout};

fn options(text: &str) -> Options {
    Options::from_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> OptionsError {
    Options::from_json(text).expect_err(text)
}

/// The fields of the Python package's `ClaudeAgentOptions` (0.2.189) that are data.
const PYTHON: &[(&str, &str)] = &[
    ("tools", "[]"),
    ("allowed_tools", "[\"Read\"]"),
    (
        "system_prompt",
        "{\"type\":\"preset\",\"preset\":\"claude_code\",\"exclude_dynamic_sections\":true}",
    ),
    ("mcp_servers", "{\"a\":{\"command\":\"x\"}}"),
    ("strict_mcp_config", "true"),
    ("permission_mode", "\"plan\""),
    ("continue_conversation", "true"),
    ("resume", "\"id\""),
    ("session_id", "\"id\""),
    ("max_turns", "3"),
    ("max_budget_usd", "0.5"),
    ("disallowed_tools", "[\"Bash\"]"),
    ("model", "\"sonnet\""),
    ("fallback_model", "\"haiku\""),
    ("betas", "[\"b\"]"),
    ("permission_prompt_tool_name", "\"mcp__a__b\""),
    ("cwd", "\"/tmp\""),
    ("cli_path", "\"/bin/claude\""),
    ("settings", "\"/etc/s.json\""),
    ("add_dirs", "[\"/a\"]"),
    ("env", "{\"A\":\"1\"}"),
    ("extra_args", "{\"x\":null}"),
    ("max_buffer_size", "1024"),
    ("user", "\"nobody\""),
    ("include_partial_messages", "true"),
    ("include_hook_events", "true"),
    ("forward_subagent_text", "true"),
    ("verbatim_prompts", "true"),
    ("fork_session", "true"),
    ("resume_session_at", "\"u\""),
    ("resume_drops_turn", "\"\""),
    ("agents", "{\"a\":{}}"),
    ("setting_sources", "[]"),
    ("skills", "\"all\""),
    ("sandbox", "{\"enabled\":true}"),
    ("plugins", "[{\"type\":\"local\",\"path\":\"/p\"}]"),
    ("max_thinking_tokens", "0"),
    ("thinking", "{\"type\":\"enabled\",\"budget_tokens\":9}"),
    ("effort", "\"low\""),
    ("output_format", "{\"type\":\"json_schema\",\"schema\":{}}"),
    ("enable_file_checkpointing", "true"),
    ("session_store", "true"),
    ("session_store_flush", "\"eager\""),
    ("load_timeout_ms", "5"),
    ("task_budget", "{\"total\":5}"),
    ("client_app", "\"me/1\""),
];

/// The members of the TypeScript package's `Options` (0.3.332) that are data.
const TYPESCRIPT: &[(&str, &str)] = &[
    ("additionalDirectories", "[\"/a\"]"),
    ("projectConfigRoot", "\"/r\""),
    ("agent", "\"a\""),
    ("agents", "{\"a\":{}}"),
    ("allowedTools", "[\"Read\"]"),
    ("continue", "true"),
    ("cwd", "\"/tmp\""),
    ("disallowedTools", "[\"Bash\"]"),
    ("toolAliases", "{\"Bash\":\"mcp__a__b\"}"),
    ("tools", "{\"type\":\"preset\",\"preset\":\"claude_code\"}"),
    ("env", "{\"A\":null}"),
    ("executable", "\"bun\""),
    ("executableArgs", "[\"--smol\"]"),
    ("extraArgs", "{\"x\":\"y\"}"),
    ("fallbackModel", "\"haiku\""),
    ("enableFileCheckpointing", "true"),
    (
        "toolConfig",
        "{\"askUserQuestion\":{\"previewFormat\":\"html\"}}",
    ),
    ("forkSession", "true"),
    ("betas", "[\"b\"]"),
    ("supportedDialogKinds", "[\"k\"]"),
    ("perTaskStopAffordance", "true"),
    ("persistSession", "false"),
    ("sessionStore", "\"sqlite:x\""),
    ("sessionStoreFlush", "\"eager\""),
    ("loadTimeoutMs", "5"),
    ("includeHookEvents", "true"),
    ("includePartialMessages", "true"),
    ("forwardSubagentText", "true"),
    ("verbatimPrompts", "true"),
    (
        "thinking",
        "{\"type\":\"adaptive\",\"display\":\"omitted\"}",
    ),
    ("effort", "\"max\""),
    ("maxThinkingTokens", "1"),
    ("maxTurns", "1"),
    ("maxBudgetUsd", "1"),
    ("taskBudget", "{\"total\":1}"),
    ("mcpServers", "{}"),
    ("mcpServersDelivery", "\"initialize\""),
    ("model", "\"m\""),
    ("outputFormat", "{\"type\":\"json_schema\",\"schema\":{}}"),
    ("pathToClaudeCodeExecutable", "\"/c\""),
    ("permissionMode", "\"plan\""),
    ("planModeInstructions", "\"p\""),
    ("allowDangerouslySkipPermissions", "true"),
    ("permissionPromptToolName", "\"t\""),
    ("permissionPrompts", "\"none\""),
    (
        "plugins",
        "[{\"type\":\"local\",\"path\":\"/p\",\"skipMcpDiscovery\":true}]",
    ),
    ("pluginDelivery", "\"argv\""),
    ("promptSuggestions", "false"),
    ("agentProgressSummaries", "true"),
    ("resume", "\"id\""),
    ("sessionId", "\"id\""),
    ("resumeSessionAt", "\"u\""),
    ("resumeDropsTurn", "\"u\""),
    ("sandbox", "{}"),
    ("settings", "{\"model\":\"m\"}"),
    ("managedSettings", "{}"),
    ("settingSources", "[\"user\"]"),
    ("skills", "[\"pdf\"]"),
    ("debug", "true"),
    ("debugFile", "\"/d\""),
    ("strictMcpConfig", "true"),
    ("systemPrompt", "[\"a\",\"b\"]"),
    ("title", "\"t\""),
];

#[test]
fn every_name_of_both_packages_is_taken_and_survives_a_round_trip() {
    for (key, value) in PYTHON.iter().chain(TYPESCRIPT) {
        let read = options(&format!("{{\"{key}\":{value}}}"));
        assert_ne!(read, Options::default(), "{key} changed nothing");
        let mut set = Options::default();
        set.set(key, value).unwrap();
        assert_eq!(read, set, "{key}");
        let document = serde_json::to_string(&read).unwrap();
        assert_eq!(options(&document), read, "{document}");
        let mut back = read;
        back.set(key, "null").unwrap();
        assert_eq!(back, Options::default(), "{key}: null is the default");
    }
}

#[test]
fn documents_name_options_as_the_table_does() {
    for key in Options::KEYS {
        assert!(
            key.chars().all(|c| c.is_ascii_alphanumeric()),
            "{key} is camel case"
        );
        Options::default().set(key, "null").unwrap();
    }
}

#[test]
fn later_documents_win_key_by_key_and_a_bad_one_changes_nothing() {
    let mut both = options(r#"{"model":"a","max_turns":2,"env":{"A":"1"}}"#);
    both.merge_json(r#"{"model":"b","env":{"B":"2"},"maxTurns":null}"#)
        .unwrap();
    assert_eq!(both, options(r#"{"model":"b","env":{"B":"2"}}"#));
    let before = both.clone();
    assert!(both.merge_json(r#"{"model":"c","maxTurn":1}"#).is_err());
    assert_eq!(both, before);
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    for (key, expected) in [
        ("modle", "unknown option \"modle\"; did you mean \"model\"?"),
        (
            "max-turns",
            "unknown option \"max-turns\"; did you mean \"maxTurns\"?",
        ),
        (
            "allowed_tool",
            "unknown option \"allowed_tool\"; did you mean \"allowedTools\"?",
        ),
        (
            "systemprompt",
            "unknown option \"systemprompt\"; did you mean \"systemPrompt\"?",
        ),
        (
            "zzzzzzzz",
            "unknown option \"zzzzzzzz\": no option has a name like that",
        ),
    ] {
        assert_eq!(error(&format!("{{\"{key}\":1}}")).to_string(), expected);
    }
}

#[test]
fn callbacks_in_a_document_say_what_to_do_instead() {
    for key in [
        "can_use_tool",
        "canUseTool",
        "hooks",
        "stderr",
        "abortController",
        "onElicitation",
        "onUserDialog",
        "spawnClaudeCodeProcess",
        "debug_stderr",
    ] {
        let error = error(&format!("{{\"{key}\":{{}}}}"));
        assert!(
            matches!(&error, OptionsError::NotData { key: named, .. } if named == key),
            "{error}"
        );
    }
}

#[test]
fn wrong_types_name_the_key_and_the_shape() {
    for (key, value, shape) in [
        ("model", "1", "a string"),
        ("max_turns", "-1", "a whole number, 0 or more"),
        ("maxTurns", "\"3\"", "a whole number, 0 or more"),
        ("allowedTools", "\"Read\"", "a list of strings"),
        ("continue", "1", "true or false"),
        ("maxBudgetUsd", "\"1\"", "a number, 0 or more"),
        ("maxBudgetUsd", "-0.5", "a number, 0 or more"),
        ("maxBudgetUsd", "1e999", "a number, 0 or more"),
        ("skills", "\"pdf\"", "a list of skill names or \"all\""),
        ("idleTimeoutMs", "1.5", "a whole number of milliseconds"),
        (
            "mcpServers",
            "{\"a\":1}",
            "an object of server configurations",
        ),
        ("mcpServers", "[]", "an object of server configurations"),
        (
            "thinking",
            "{\"type\":\"enabled\",\"budget\":1}",
            "{\"type\":\"adaptive\"}",
        ),
        ("thinking", "{\"type\":\"off\"}", "{\"type\":\"adaptive\"}"),
        (
            "systemPrompt",
            "{\"type\":\"preset\",\"preset\":\"other\"}",
            "a string, a list",
        ),
        ("systemPrompt", "1", "a string, a list"),
        (
            "outputFormat",
            "{\"type\":\"text\"}",
            "{\"type\":\"json_schema\"",
        ),
        ("taskBudget", "5", "{\"total\""),
        (
            "plugins",
            "[{\"type\":\"remote\",\"path\":\"x\"}]",
            "a list of {\"type\":\"local\"",
        ),
        ("env", "{\"A\":1}", "an object of strings"),
        (
            "extraArgs",
            "{\"a\":[]}",
            "an object of strings, numbers and nulls",
        ),
        ("dialect", "\"ruby\"", "\"towline\""),
        ("sandbox", "true", "an object"),
    ] {
        match error(&format!("{{\"{key}\":{value}}}")) {
            OptionsError::WrongType {
                key: named,
                expected,
                reason,
            } => {
                assert_eq!(named, key);
                assert!(expected.starts_with(shape), "{key}: {expected}");
                assert!(!reason.is_empty());
            }
            other => panic!("{key}: {other}"),
        }
    }
    for text in ["", "[]", "{", "nul", "{\"model\":}"] {
        assert!(
            matches!(error(text), OptionsError::NotAnObject { .. }),
            "{text}"
        );
    }
}

#[test]
fn a_time_limit_is_off_by_null_and_by_zero() {
    assert_eq!(
        Options::default().initialize_timeout_ms,
        Timeout::from_millis(60_000)
    );
    for text in [
        r#"{"initializeTimeoutMs":null}"#,
        r#"{"initialize_timeout_ms":0}"#,
    ] {
        assert_eq!(options(text).initialize_timeout_ms, Timeout::OFF, "{text}");
    }
    let document = serde_json::to_string(&options(r#"{"initializeTimeoutMs":0}"#)).unwrap();
    assert_eq!(document, r#"{"initializeTimeoutMs":null}"#);
}

#[test]
fn debug_shows_no_secret() {
    let secret = "s3cr3t";
    let text = format!(
        r#"{{"env":{{"KEY":"{secret}"}},"extraArgs":{{"settings":"{secret}"}},
        "mcpServers":{{"a":{{"command":"x","env":{{"T":"{secret}"}}}}}},
        "settings":{{"env":{{"T":"{secret}"}}}},"managedSettings":{{"x":"{secret}"}},
        "agents":{{"a":{{"mcpServers":["{secret}"]}}}},
        "sessionStore":"postgres://me:{secret}@db/x"}}"#
    );
    for document in [
        text,
        format!(r#"{{"mcpServers":"{{\"a\":\"{secret}\"}}"}}"#),
        format!(r#"{{"settings":"{{\"a\":\"{secret}\"}}"}}"#),
        format!(r#"{{"extraInitialize":{{"a":"{secret}"}}}}"#),
    ] {
        let shown = format!("{:?}", options(&document));
        assert!(!shown.contains(secret), "{shown}");
    }
    let shown = format!("{:?}", options(r#"{"env":{"KEY":"x"},"model":"m"}"#));
    assert!(shown.contains("KEY") && shown.contains("\"m\""), "{shown}");
}

#[test]
fn text_cut_within_an_emoji_is_taken() {
    let read = options(r#"{"systemPrompt":"a\ud83d"}"#);
    assert!(serde_json::to_string(&read).unwrap().contains('\u{fffd}'));
}

#[test]
fn dialects_are_named_in_lower_case() {
    for (text, dialect) in [
        (r#"{"dialect":"typescript"}"#, Dialect::TypeScript),
        (r#"{"dialect":"python"}"#, Dialect::Python),
        (r#"{"dialect":"towline"}"#, Dialect::Towline),
        ("{}", Dialect::Towline),
    ] {
        assert_eq!(options(text).dialect, dialect, "{text}");
    }
}
