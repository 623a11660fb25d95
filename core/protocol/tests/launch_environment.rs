//! The CLI's variables by dialect (`docs/protocol.md §1.4`).

use std::collections::BTreeMap;

use towline_protocol::launch::{
    plan, EnvPlan, Environment, HostSide, LaunchError, Options, Platform, Timeout,
};

struct Launch<'a> {
    options: &'a str,
    inherited: &'a [(&'a str, &'a str)],
    host: HostSide,
    platform: Platform,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Launch {
            options: "{}",
            inherited: &[],
            host: HostSide {
                sdk_version: Some("9.9.9".into()),
                ..HostSide::default()
            },
            platform: Platform::Unix,
        }
    }
}

impl Launch<'_> {
    fn try_env(&self, dialect: &str) -> Result<EnvPlan, LaunchError> {
        let mut options = Options::from_json(self.options).unwrap();
        options.set("dialect", &format!("\"{dialect}\"")).unwrap();
        let machine = Environment {
            inherited: self
                .inherited
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
            platform: self.platform,
            ..Environment::default()
        };
        Ok(plan(&options, &self.host, &machine)?.env)
    }

    /// The variables the CLI gets.
    fn env(&self, dialect: &str) -> BTreeMap<String, String> {
        let plan = self.try_env(dialect).unwrap();
        let mut env = BTreeMap::new();
        if plan.inherit {
            for (name, value) in self.inherited {
                if !plan.unset.contains(*name) {
                    env.insert(name.to_string(), value.to_string());
                }
            }
        }
        env.extend(plan.set);
        env
    }
}

fn of(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

const INHERITED: &[(&str, &str)] = &[
    ("CLAUDECODE", "1"),
    ("CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP", "outer"),
    ("CLAUDE_AGENT_SDK_VERSION", "0.0.1"),
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("DEBUG", "*"),
    ("NODE_OPTIONS", "--inspect"),
    ("PATH", "/bin"),
    ("PWD", "/old"),
];

#[test]
fn inherited_variables() {
    let launch = Launch {
        options: r#"{"cwd":"/w"}"#,
        inherited: INHERITED,
        ..Launch::default()
    };
    assert_eq!(
        launch.env("python"),
        of(&[
            ("CLAUDE_AGENT_SDK_VERSION", "9.9.9"),
            ("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ("DEBUG", "*"),
            ("NODE_OPTIONS", "--inspect"),
            ("PATH", "/bin"),
            ("PWD", "/w"),
        ])
    );
    assert_eq!(
        launch.env("typescript"),
        of(&[
            ("BUN_ENABLE_CRASH_REPORTING", "0"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP", "outer"),
            ("CLAUDE_AGENT_SDK_VERSION", "9.9.9"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ("PATH", "/bin"),
            ("PWD", "/old"),
        ])
    );
    assert_eq!(
        launch.env("towline"),
        of(&[
            ("BUN_ENABLE_CRASH_REPORTING", "0"),
            ("CLAUDE_AGENT_SDK_VERSION", "9.9.9"),
            ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"),
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ("PATH", "/bin"),
            ("PWD", "/w"),
        ])
    );
}

#[test]
fn given_variables() {
    let launch = Launch {
        options: r#"{"env":{"CLAUDECODE":"1","CLAUDE_CODE_ENTRYPOINT":"mine","NODE_OPTIONS":"-x",
            "DEBUG":"y","CLAUDE_AGENT_SDK_VERSION":"5","CLAUDE_CODE_SDK_READS_SESSION_STATE":"0",
            "BUN_CRASH_REPORT_URL":"u","PATH":null}}"#,
        inherited: INHERITED,
        ..Launch::default()
    };
    let merged = of(&[
        ("BUN_CRASH_REPORT_URL", "u"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_AGENT_SDK_VERSION", "9.9.9"),
        ("CLAUDE_CODE_ENTRYPOINT", "mine"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "0"),
        ("DEBUG", "y"),
        ("NODE_OPTIONS", "-x"),
        ("PWD", "/old"),
    ]);
    assert_eq!(launch.env("python"), merged);
    assert_eq!(launch.env("towline"), merged);
    assert_eq!(
        launch.env("typescript"),
        of(&[
            ("BUN_CRASH_REPORT_URL", "u"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_AGENT_SDK_VERSION", "5"),
            ("CLAUDE_CODE_ENTRYPOINT", "mine"),
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "0"),
        ]),
        "the given variables replace the inherited ones"
    );
    let plan = launch.try_env("typescript").unwrap();
    assert!(!plan.inherit && plan.unset.is_empty());
}

#[test]
fn a_debugged_typescript_package_debugs_the_cli() {
    let launch = Launch {
        options: r#"{"env":{"DEBUG_CLAUDE_AGENT_SDK":"true","DEBUG":"x"}}"#,
        ..Launch::default()
    };
    assert_eq!(launch.env("typescript")["DEBUG"], "1");
    assert_eq!(launch.env("python")["DEBUG"], "x");
}

#[test]
fn session_state_is_asked_for_unless_chosen_in_any_case_of_letters() {
    for dialect in ["python", "typescript", "towline"] {
        let launch = Launch {
            inherited: &[("claude_code_sdk_reads_session_state", "0")],
            ..Launch::default()
        };
        assert!(!launch
            .env(dialect)
            .contains_key("CLAUDE_CODE_SDK_READS_SESSION_STATE"));
    }
}

#[test]
fn an_active_span_replaces_an_inherited_one_but_not_a_given_one() {
    let host = HostSide {
        trace_context: vec![("traceparent".into(), "00-new".into())],
        ..HostSide::default()
    };
    let inherited: &[(&str, &str)] = &[("TRACEPARENT", "00-old"), ("TRACESTATE", "old")];
    for dialect in ["python", "typescript", "towline"] {
        let env = Launch {
            inherited,
            host: host.clone(),
            ..Launch::default()
        }
        .env(dialect);
        assert_eq!(env["TRACEPARENT"], "00-new", "{dialect}");
        assert!(!env.contains_key("TRACESTATE"), "{dialect}");

        let env = Launch {
            options: r#"{"env":{"TRACEPARENT":"00-mine","TRACESTATE":"mine"}}"#,
            inherited,
            host: host.clone(),
            ..Launch::default()
        }
        .env(dialect);
        assert_eq!(env["TRACEPARENT"], "00-mine", "{dialect}");
        assert_eq!(env["TRACESTATE"], "mine", "{dialect}");

        let env = Launch {
            inherited,
            host: HostSide {
                trace_context: vec![("baggage".into(), "b".into())],
                ..HostSide::default()
            },
            ..Launch::default()
        }
        .env(dialect);
        assert_eq!(env["TRACEPARENT"], "00-old", "{dialect}: no span is active");
        assert_eq!(env["BAGGAGE"], "b", "{dialect}");
    }
}

#[test]
fn an_optioned_trace_context_wins_over_the_active_span_but_not_over_env() {
    let options = r#"{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate":"a=1"}"#;
    let host = HostSide {
        trace_context: vec![
            ("traceparent".into(), "00-new".into()),
            ("tracestate".into(), "new".into()),
            ("baggage".into(), "b".into()),
        ],
        ..HostSide::default()
    };
    for dialect in ["python", "typescript", "towline"] {
        let env = Launch {
            options,
            host: host.clone(),
            ..Launch::default()
        }
        .env(dialect);
        assert!(env["TRACEPARENT"].starts_with("00-0af7"), "{dialect}");
        assert_eq!(env["TRACESTATE"], "a=1", "{dialect}");
        assert_eq!(env["BAGGAGE"], "b", "{dialect}");
        let given = options.replace("{\"trace", "{\"env\":{\"TRACEPARENT\":\"mine\"},\"trace");
        let env = Launch {
            options: &given,
            ..Launch::default()
        }
        .env(dialect);
        assert_eq!(env["TRACEPARENT"], "mine", "{dialect}");
    }
    for (bad, option) in [
        (r#"{"traceparent":"00-new"}"#, "traceparent"),
        (r#"{"tracestate":"a=1"}"#, "tracestate"),
    ] {
        let options = Options::from_json(bad).unwrap();
        let machine = Environment::default();
        let error = plan(&options, &HostSide::default(), &machine).unwrap_err();
        assert_eq!(error.option(), option);
    }
}

#[test]
fn names_have_no_case_on_windows() {
    let launch = Launch {
        options: r#"{"env":{"PATH":"C:\\mine"}}"#,
        inherited: &[("Path", "C:\\theirs"), ("ClaudeCode", "1")],
        platform: Platform::Windows,
        ..Launch::default()
    };
    let env = launch.env("towline");
    assert_eq!(env["PATH"], "C:\\mine");
    assert!(!env.contains_key("Path") && !env.contains_key("ClaudeCode"));
    let unix = Launch {
        platform: Platform::Unix,
        ..launch
    };
    assert_eq!(unix.env("towline")["Path"], "C:\\theirs");
}

#[test]
fn names_and_values_no_environment_can_hold_are_refused() {
    for (options, option) in [
        (r#"{"env":{"":"x"}}"#, "env"),
        (r#"{"env":{"A=B":"x"}}"#, "env"),
        (r#"{"env":{"A":"x\u0000"}}"#, "env"),
        (r#"{"env":{"A\u0000":"x"}}"#, "env"),
        (r#"{"cwd":"a\u0000"}"#, "cwd"),
        (r#"{"user":"a\u0000"}"#, "user"),
        (r#"{"cliPath":"a\u0000"}"#, "cliPath"),
        (r#"{"model":"a\u0000"}"#, "model"),
    ] {
        let launch = Launch {
            options,
            ..Launch::default()
        };
        assert_eq!(launch.try_env("towline").unwrap_err().option(), option);
    }
}

#[test]
fn debug_shows_names_only() {
    let launch = Launch {
        options: r#"{"env":{"KEY":"s3cr3t"}}"#,
        ..Launch::default()
    };
    let shown = format!("{:?}", launch.try_env("towline").unwrap());
    assert!(shown.contains("KEY") && !shown.contains("s3cr3t"));
}

#[test]
fn the_python_variable_only_raises_the_limit_of_initialize() {
    for (dialect, options, variable, expected) in [
        ("python", "{}", "90000", 90_000),
        ("python", "{}", "1000", 60_000),
        ("python", "{}", "soon", 60_000),
        ("python", r#"{"initializeTimeoutMs":0}"#, "90000", 0),
        ("towline", "{}", "90000", 60_000),
        ("typescript", "{}", "90000", 60_000),
    ] {
        let mut options = Options::from_json(options).unwrap();
        options.set("dialect", &format!("\"{dialect}\"")).unwrap();
        let machine = Environment {
            inherited: of(&[("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT", variable)]),
            ..Environment::default()
        };
        let plan = plan(&options, &HostSide::default(), &machine).unwrap();
        assert_eq!(
            plan.initialize_timeout,
            Timeout::from_millis(expected),
            "{dialect} {variable}"
        );
    }
}

#[test]
fn the_folder_of_a_session_from_a_store_wins() {
    for dialect in ["towline", "python", "typescript"] {
        let mut launch = Launch {
            inherited: &[("CLAUDE_CONFIG_DIR", "/inherited"), ("PATH", "/bin")],
            ..Launch::default()
        };
        launch.host.config_dir = Some("/folder".into());
        let env = launch.env(dialect);
        assert_eq!(env["CLAUDE_CONFIG_DIR"], "/folder", "{dialect}");
        assert_eq!(
            env["PATH"], "/bin",
            "{dialect}: the rest is still inherited"
        );
        launch.options = r#"{"env":{"CLAUDE_CONFIG_DIR":"/given"}}"#;
        assert_eq!(
            launch.env(dialect)["CLAUDE_CONFIG_DIR"],
            "/folder",
            "{dialect}"
        );
    }
}
