//! Every row of the options table in `docs/protocol.md §1.3`, in every dialect: what stands on the
//! command line, in the environment, in `initialize` and in private files. `data/launch.json` holds
//! the rows; a case that carries a value another way than the official packages says `why`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use towline_protocol::launch::{
    plan, Environment, Hook, HostSide, InProcessServer, Json, JsonObject, LaunchError, LaunchPlan,
    OnFailure, Options, OptionsError, Platform, Warning,
};

const TABLE: &str = include_str!("data/launch.json");
const DOCUMENT: &str = include_str!("../../../docs/protocol.md");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    row: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    dialects: Vec<String>,
    options: Box<RawValue>,
    #[serde(default)]
    host: Host,
    #[serde(default)]
    platform: String,
    settings_file: Option<String>,
    settings_error: Option<String>,
    /// Arguments beyond those of every launch.
    #[serde(default)]
    argv: Vec<String>,
    /// Variables beyond those of every launch.
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    initialize: Map<String, Value>,
    /// Flag to contents.
    #[serde(default)]
    files: BTreeMap<String, Value>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    client_composed: bool,
    cwd: Option<String>,
    user: Option<String>,
    /// The option a refusal names.
    error: Option<String>,
    /// A key that no document can hold.
    not_data: Option<String>,
    why: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Host {
    permission_handler: bool,
    store_mirror: bool,
    dialog_kinds: Vec<String>,
    hooks: Vec<HostHook>,
    servers: Vec<HostServer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HostHook {
    event: String,
    matcher: Option<String>,
    ids: Vec<String>,
    timeout: Option<f64>,
    on_failure: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HostServer {
    name: String,
    timeout_ms: Option<u64>,
    tools: Option<Value>,
    manifest: Option<Value>,
}

impl Host {
    fn side(&self) -> HostSide {
        HostSide {
            permission_handler: self.permission_handler,
            store_mirror: self.store_mirror,
            dialog_kinds: self.dialog_kinds.clone(),
            hooks: self
                .hooks
                .iter()
                .map(|hook| Hook {
                    event: hook.event.clone(),
                    matcher: hook.matcher.clone(),
                    callback_ids: hook.ids.clone(),
                    timeout_seconds: hook.timeout,
                    on_failure: hook.on_failure.as_deref().map(|name| match name {
                        "block" => OnFailure::Block,
                        "continue" => OnFailure::Continue,
                        other => panic!("{other}"),
                    }),
                })
                .collect(),
            servers: self
                .servers
                .iter()
                .map(|server| InProcessServer {
                    name: server.name.clone(),
                    timeout_ms: server.timeout_ms,
                    tool_policies: server
                        .tools
                        .as_ref()
                        .map(|tools| Json::parse(&tools.to_string()).unwrap()),
                    manifest: server
                        .manifest
                        .as_ref()
                        .map(|manifest| JsonObject::parse(&manifest.to_string()).unwrap()),
                })
                .collect(),
            ..HostSide::default()
        }
    }
}

fn table() -> Vec<Row> {
    serde_json::from_str(TABLE).unwrap()
}

fn options(dialect: &str, text: &str) -> Result<Options, OptionsError> {
    let mut options = Options::from_json(&format!("{{\"dialect\":\"{dialect}\"}}"))?;
    options.merge_json(text)?;
    Ok(options)
}

fn planned(dialect: &str, case: &Case) -> Result<LaunchPlan, LaunchError> {
    let options = options(dialect, case.options.get()).unwrap();
    let settings_file = match (&case.settings_file, &case.settings_error) {
        (Some(text), _) => Some(Ok(text.clone())),
        (None, Some(reason)) => Some(Err(reason.clone())),
        (None, None) => None,
    };
    assert_eq!(
        settings_file.is_some(),
        options.settings_to_read().is_some(),
        "a case gives the text of a settings file when a launch asks for it"
    );
    let machine = Environment {
        platform: match case.platform.as_str() {
            "" => Platform::Unix,
            "windows" => Platform::Windows,
            other => panic!("{other}"),
        },
        settings_file,
        ..Environment::default()
    };
    plan(&options, &case.host.side(), &machine)
}

fn check(dialect: &str, case: &Case) {
    if let Some(key) = &case.not_data {
        let error = options(dialect, case.options.get()).unwrap_err();
        assert!(
            matches!(&error, OptionsError::NotData { key: named, .. } if named == key),
            "{error}"
        );
        return;
    }
    let plan = match (planned(dialect, case), &case.error) {
        (Ok(plan), None) => plan,
        (Err(error), Some(option)) => {
            assert_eq!(error.option(), option, "{error}");
            assert!(error.to_string().starts_with(option.as_str()), "{error}");
            return;
        }
        (Ok(_), Some(option)) => panic!("{option} was not refused"),
        (Err(error), None) => panic!("{error}"),
    };

    let (always, argv) = plan.argv.split_at(3);
    assert_eq!(
        always,
        [
            "--output-format=stream-json",
            "--verbose",
            "--input-format=stream-json"
        ]
    );
    assert_eq!(argv, case.argv);

    let bare: Case = serde_json::from_str(r#"{"dialects":[],"options":{}}"#).unwrap();
    let mut env = planned(dialect, &bare).unwrap().env;
    env.set.extend(case.env.clone());
    assert_eq!(plan.env.set, env.set);
    let given = options(dialect, case.options.get()).unwrap().env.is_some();
    assert_eq!(plan.env.inherit, !(given && dialect == "typescript"));

    let mut initialize = case.initialize.clone();
    let prompt = |text: &str| {
        text.to_ascii_lowercase()
            .replace('_', "")
            .contains("systemprompt")
    };
    if dialect != "towline" && !prompt(case.options.get()) {
        initialize.insert("systemPrompt".into(), vec![""].into());
    }
    let sent: Map<String, Value> = serde_json::from_str(&plan.initialize).unwrap();
    assert_eq!(sent, initialize);
    assert!(!plan.initialize.contains(['\n', '\r']));

    let files: BTreeMap<String, Value> = plan
        .private_files
        .iter()
        .map(|file| {
            (
                file.flag.to_string(),
                serde_json::from_str(&file.contents).unwrap(),
            )
        })
        .collect();
    assert_eq!(files, case.files);
    assert_eq!(files.len(), plan.private_files.len());

    let warnings: Vec<&str> = plan
        .warnings
        .iter()
        .map(|warning| match warning {
            Warning::ServerNotRegistered { .. } => "ServerNotRegistered",
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(warnings, case.warnings);
    assert_eq!(plan.client_composed, case.client_composed);
    assert_eq!(plan.cwd, case.cwd);
    assert_eq!(plan.user, case.user);
    assert_eq!(
        plan.await_initialize,
        case.argv.contains(&"--await-initialize".to_string())
    );
    let command = plan.command("/bin/claude", &["/p/0", "/p/1"]).unwrap();
    assert!(
        !command.iter().any(|argument| argument.contains("SECRET")),
        "a secret stands on the command line: {command:?}"
    );
    assert!(!format!("{plan:?}").contains("SECRET"));
}

#[test]
fn every_case_of_every_row_in_every_dialect() {
    let mut failed = Vec::new();
    for row in table() {
        for case in &row.cases {
            for dialect in &case.dialects {
                let checked = std::panic::catch_unwind(|| check(dialect, case));
                if checked.is_err() {
                    failed.push(format!("{dialect}: {}: {}", row.row, case.options.get()));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_row_is_checked_in_every_dialect() {
    for row in table() {
        let covered: BTreeSet<&str> = row
            .cases
            .iter()
            .flat_map(|case| case.dialects.iter().map(String::as_str))
            .collect();
        assert_eq!(
            covered,
            BTreeSet::from(["python", "towline", "typescript"]),
            "{}",
            row.row
        );
    }
}

/// The official packages write no files.
#[test]
fn a_row_with_private_files_says_why() {
    for row in table() {
        let files = row.cases.iter().any(|case| !case.files.is_empty());
        let why = row.cases.iter().any(|case| case.why.is_some());
        assert!(!files || why, "{}", row.row);
    }
}

/// A row added to the document, or renamed there, fails until the table has it.
#[test]
fn the_table_has_the_rows_of_the_document() {
    let section = DOCUMENT
        .split_once("### 1.3 Options table")
        .and_then(|(_, rest)| rest.split_once("### 1.4"))
        .unwrap()
        .0;
    let documented: Vec<String> = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            format!("{} | {}", cells[0], cells[1])
        })
        .collect();
    let tested: Vec<String> = table().into_iter().map(|row| row.row).collect();
    assert!(documented.len() > 50);
    assert_eq!(tested, documented);
}
