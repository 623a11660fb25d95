//! The whole command line: launchers, runtimes, private files, limits, and what is warned of.

use towline_protocol::launch::{
    plan, refuse_batch_file, Environment, HostSide, LaunchError, LaunchPlan, Limits, Options,
    Platform, Warning,
};

fn planned(options: &str, machine: &Environment) -> Result<LaunchPlan, LaunchError> {
    let options = Options::from_json(options).unwrap();
    plan(&options, &HostSide::default(), machine)
}

/// The command without the arguments of every launch.
fn command(options: &str, cli: &str) -> Vec<String> {
    let plan = planned(options, &Environment::default()).unwrap();
    let mut command = plan.command(cli, &["/p/0", "/p/1"]).unwrap();
    command.retain(|argument| {
        !matches!(
            argument.as_str(),
            "--output-format=stream-json" | "--verbose" | "--input-format=stream-json"
        )
    });
    command
}

#[test]
fn private_files_stand_at_the_end_in_their_order() {
    let options = r#"{"model":"m","mcpServers":{"a":{"command":"x"}},"settings":{"b":1}}"#;
    assert_eq!(
        command(options, "/bin/claude"),
        [
            "/bin/claude",
            "--model=m",
            "--mcp-config=/p/0",
            "--settings=/p/1"
        ]
    );
}

#[test]
fn scripts_run_through_a_runtime() {
    for cli in ["./cli.js", "./cli.mjs", "./cli.cjs", "./cli.ts"] {
        assert_eq!(command("{}", cli), ["node", cli]);
    }
    assert_eq!(command("{}", "./claude"), ["./claude"]);
    assert_eq!(command("{}", "./js"), ["./js"]);
    let options = r#"{"executable":"bun","executableArgs":["--smol"]}"#;
    assert_eq!(command(options, "cli.js"), ["bun", "--smol", "cli.js"]);
    assert_eq!(command(options, "claude"), ["claude"]);
}

#[test]
fn a_local_launcher_stands_in_front() {
    let options = r#"{"launcher":["nice","-n","5"],"cwd":"/w","settings":{"a":1}}"#;
    assert_eq!(
        command(options, "/bin/claude"),
        ["nice", "-n", "5", "/bin/claude", "--settings=/p/0"]
    );
    let plan = planned(options, &Environment::default()).unwrap();
    assert_eq!(plan.cwd.as_deref(), Some("/w"));
}

#[test]
fn behind_a_remote_launcher_every_option_still_holds() {
    let options = r#"{"launcher":["docker","exec","-i","box"],"cwd":"/w","settings":{"a":1},
        "mcpServers":{"s":{"command":"x"}},"env":{"KEY":"s3cr3t"}}"#;
    let plan = planned(options, &Environment::default()).unwrap();
    assert!(plan.private_files.is_empty(), "files stay on this side");
    assert!(plan.initialize.contains(r#""settings":{"a":1}"#));
    assert!(plan.initialize.contains(r#""mcpServers":{"s":"#));
    assert_eq!(plan.cwd, None);
    assert_eq!(
        plan.warnings,
        [Warning::VariablesStayLocal {
            names: "KEY".into()
        }]
    );
    assert_eq!(plan.env.set["KEY"], "s3cr3t", "the launcher itself has it");
    assert!(!plan.env.set.contains_key("PWD"));
    let command = command(options, "claude");
    let version = format!("CLAUDE_AGENT_SDK_VERSION={}", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        command,
        [
            "docker",
            "exec",
            "-i",
            "box",
            "sh",
            "-c",
            "cd -- \"$0\" && exec \"$@\"",
            "/w",
            "env",
            "BUN_ENABLE_CRASH_REPORTING=0",
            &version,
            "CLAUDE_CODE_ENTRYPOINT=sdk-cli",
            "CLAUDE_CODE_SDK_READS_SESSION_STATE=1",
            "claude",
            "--initialize-fields=settings",
            "--await-initialize",
        ]
    );

    let local = r#"{"launcher":["docker","exec"],"launcherRemote":false,"cwd":"/w"}"#;
    assert_eq!(self::command(local, "claude"), ["docker", "exec", "claude"]);
    let remote = r#"{"launcher":["./enter"],"launcherRemote":true}"#;
    assert_eq!(self::command(remote, "claude")[..2], ["./enter", "env"]);
}

#[test]
fn a_launcher_with_a_shell_gets_quoted_arguments() {
    let options = r#"{"launcher":["/usr/bin/ssh","host"],"model":"a b'$(x)`;&","resume":"plain"}"#;
    let command = command(options, "~/bin/claude");
    assert_eq!(command[..3], ["/usr/bin/ssh", "host", "env"]);
    assert!(command.contains(&"'--model=a b'\\''$(x)`;&'".to_string()));
    assert!(command.contains(&"--resume=plain".to_string()));
    assert!(command.contains(&"'~/bin/claude'".to_string()));
    let quoted = r#"{"launcher":["./l"],"launcherShell":true,"tools":[],"title":"t"}"#;
    assert!(self::command(quoted, "claude").contains(&"--tools=".to_string()));
    let bare = r#"{"launcher":["ssh","host"],"launcherShell":false,"model":"a b"}"#;
    assert!(self::command(bare, "claude").contains(&"--model=a b".to_string()));
}

/// What the quoting is for: a real shell reads each argument back as it was.
#[test]
fn a_shell_reads_quoted_arguments_back() {
    let options = r#"{"launcher":["l"],"launcherShell":true,"launcherRemote":false,
        "model":"it's \"$HOME\" `x` \\ * ~ # é\n","agent":"--","tools":[]}"#;
    let command = command(options, "printf");
    let script = format!(
        "for a in {}; do printf '%s\\0' \"$a\"; done",
        command[2..].join(" ")
    );
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .expect("this test needs a POSIX sh in PATH");
    let read: Vec<&str> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .split_terminator('\0')
        .collect();
    assert_eq!(
        read,
        [
            "--tools=",
            "--model=it's \"$HOME\" `x` \\ * ~ # é\n",
            "--agent=--"
        ]
    );
}

#[test]
fn what_is_too_long_is_refused_by_name_and_size() {
    let machine = Environment::default();
    let longest = 128 * 1024 - "--model=".len() - 1;
    let model = |length: usize| format!(r#"{{"model":"{}"}}"#, "m".repeat(length));
    assert!(planned(&model(longest), &machine).is_ok());
    let error = planned(&model(longest + 1), &machine).unwrap_err();
    assert_eq!(
        error,
        LaunchError::ArgumentTooLong {
            option: "model",
            bytes: 128 * 1024 + 1,
            limit: 128 * 1024
        }
    );
    assert!(error.to_string().starts_with("model: 131073 bytes"));

    let many: Vec<String> = (0..40)
        .map(|at| format!("/{at}{}", "d".repeat(50_000)))
        .collect();
    let options = format!(
        r#"{{"model":"m","additionalDirectories":{}}}"#,
        serde_json::to_string(&many).unwrap()
    );
    let error = planned(&options, &machine).unwrap_err();
    assert!(
        matches!(
            error,
            LaunchError::CommandTooLong {
                option: "additionalDirectories",
                bytes: 2_000_000..,
                ..
            }
        ),
        "{error}"
    );

    let options = format!(r#"{{"env":{{"A":"{}"}}}}"#, "x".repeat(200_000));
    let error = planned(&options, &machine).unwrap_err();
    assert!(
        matches!(error, LaunchError::VariableTooLong { .. }),
        "{error}"
    );
    let text = error.to_string();
    assert!(
        text.starts_with("env: the variable \"A\" has 200003 bytes"),
        "{text}"
    );
    assert!(!text.contains("command line"), "{text}");

    let free = Environment {
        limits: Limits {
            argument: None,
            total: None,
        },
        ..Environment::default()
    };
    assert!(planned(&options, &free).is_ok());
}

/// Whatever is large goes where there is no limit.
#[test]
fn what_may_be_large_is_not_on_the_command_line() {
    let big = "x".repeat(1024 * 1024);
    for options in [
        format!(r#"{{"systemPrompt":"{big}"}}"#),
        format!(
            r#"{{"systemPrompt":{{"type":"preset","preset":"claude_code","append":"{big}"}}}}"#
        ),
        format!(r#"{{"agents":{{"a":{{"prompt":"{big}"}}}}}}"#),
        format!(r#"{{"outputFormat":{{"type":"json_schema","schema":{{"title":"{big}"}}}}}}"#),
        format!(r#"{{"settings":{{"a":"{big}"}}}}"#),
        format!(r#"{{"mcpServers":{{"a":{{"command":"{big}"}}}}}}"#),
        format!(r#"{{"planModeInstructions":"{big}"}}"#),
    ] {
        let plan = planned(&options, &Environment::default()).unwrap();
        let command = plan.command("claude", &["/p"]).unwrap();
        assert!(command.iter().map(String::len).sum::<usize>() < 1000);
    }
}

#[test]
fn paths_of_private_files_count_too() {
    let plan = planned(r#"{"settings":{"a":1}}"#, &Environment::default()).unwrap();
    let path = "p".repeat(200_000);
    let error = plan.command("claude", &[&path]).unwrap_err();
    assert!(
        matches!(
            error,
            LaunchError::ArgumentTooLong {
                option: "settings",
                ..
            }
        ),
        "{error}"
    );
    let error = plan.command("cl\0aude", &["/p"]).unwrap_err();
    assert_eq!(error, LaunchError::Nul { option: "cliPath" });
}

#[test]
fn batch_files_are_refused_however_they_are_spelled() {
    for path in [
        "claude.cmd",
        "C:\\npm\\CLAUDE.CMD",
        "claude.bat",
        "claude.cmd.",
        "claude.cmd . .",
        "claude.cmd\"",
        "claude.cmd\\..\\x",
        "claude.cmd::$DATA",
        "claude:evil.cmd",
        "C:claude.cmd",
        "dir/.cmd",
    ] {
        assert!(
            matches!(refuse_batch_file(path), Err(LaunchError::BatchFile { .. })),
            "{path}"
        );
    }
    for path in ["claude.exe", "C:\\cmd\\claude.exe", "claude.cmdx", "claude"] {
        assert!(refuse_batch_file(path).is_ok(), "{path}");
    }
    let windows = Environment {
        platform: Platform::Windows,
        limits: Limits::WINDOWS,
        ..Environment::default()
    };
    let on = |machine: &Environment| planned("{}", machine).unwrap().command("x.cmd", &[]);
    assert!(matches!(on(&windows), Err(LaunchError::BatchFile { .. })));
    assert!(on(&Environment::default()).is_ok());
}

#[test]
fn a_shadowed_permission_handler_is_warned_of() {
    let host = HostSide {
        permission_handler: true,
        ..HostSide::default()
    };
    let warnings = |options: &str, host: &HostSide| {
        let options = Options::from_json(options).unwrap();
        plan(&options, host, &Environment::default())
            .unwrap()
            .warnings
    };
    let rules =
        r#"{"allowedTools":["Read","Edit()","Write(*)","Bash(ls:*)","(x)","Glob(",""," "]}"#;
    assert_eq!(
        warnings(rules, &host),
        [Warning::PermissionHandlerShadowed {
            option: "allowedTools",
            what: "Read, Edit, Write".into()
        }]
    );
    assert_eq!(
        warnings(r#"{"permissionMode":"bypassPermissions"}"#, &host).len(),
        1
    );
    assert!(warnings(rules, &HostSide::default()).is_empty());
    assert!(warnings(r#"{"allowedTools":["Bash(ls:*)"]}"#, &host).is_empty());
    let python = r#"{"dialect":"python","allowedTools":["Read"]}"#;
    assert!(warnings(python, &host).is_empty());
}

#[test]
fn more_fields_of_initialize_win() {
    let options = r#"{"title":"a","extraInitialize":{"title":"b","newField":{"x":[1, 2]}}}"#;
    let plan = planned(options, &Environment::default()).unwrap();
    assert_eq!(plan.initialize, r#"{"newField":{"x":[1,2]},"title":"b"}"#);
}
