//! Saved sessions: read as the CLI wrote them, changed, and resumed afterwards.

use std::time::Instant;

use serde_json::json;
use towline::transcripts::{
    ForkOptions, ListOptions, MessageKind, MessageOptions, SavedSessions, SessionMessage,
};
use towline_real_cli::{on_both_versions, on_the_current_version, Stage, LIMIT};

on_both_versions!(
    read,
    forked_at_a_message,
    renamed_and_tagged,
    changed_while_it_runs,
    deleted,
);
on_the_current_version!(resumed_by_its_new_title, archived_until_the_next_prompt);

pub(super) fn saved(stage: &Stage) -> SavedSessions {
    let env = stage.sandbox().env();
    SavedSessions::find(|name| {
        let found = env.iter().find(|(key, _)| key.as_str() == name);
        found.map(|(_, value)| value.clone())
    })
}

/// A session that has ended, with these prompts.
pub(super) fn earlier(stage: &Stage, prompts: &[&str]) -> String {
    let mut host = stage.open(json!({}));
    for prompt in prompts {
        assert_eq!(host.turn(prompt).text(), format!("echo: {prompt}"));
    }
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    id
}

/// Goes on with a session, which may be named by its title; its id and what the model was sent.
fn goes_on(stage: &Stage, session: &str) -> (String, String) {
    let mut host = stage.open(json!({"resume": session}));
    assert_eq!(host.turn("going on").text(), "echo: going on");
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    let asked = stage.api().requests();
    let last = asked
        .iter()
        .rfind(|request| request.is_message() && request.user_text() == "going on")
        .expect("the model was asked");
    (id, last.body["messages"].to_string())
}

fn texts(messages: &[SessionMessage<'_>]) -> Vec<String> {
    let text = |message: &SessionMessage<'_>| {
        let json: serde_json::Value = serde_json::from_str(&message.message).expect("JSON");
        let content = &json["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        format!("{}: {}", message.kind.as_str(), text.unwrap_or_default())
    };
    messages.iter().map(text).collect()
}

fn read(stage: &Stage) {
    let id = earlier(stage, &["first", "second"]);
    let saved = saved(stage);
    let options = MessageOptions::default();
    let expected = [
        "user: first",
        "assistant: echo: first",
        "user: second",
        "assistant: echo: second",
    ];
    for directory in [None, Some(stage.project())] {
        let messages = saved.messages(&id, directory, &options);
        assert_eq!(texts(&messages), expected);
        assert!(messages
            .iter()
            .all(|message| message.session_id == id.as_str()));
        let found = saved.list(&ListOptions {
            directory: directory.map(Into::into),
            ..ListOptions::default()
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].session_id, id);
        assert_eq!(found[0].first_prompt.as_deref(), Some("first"));
        let real = stage.project().canonicalize().expect("it exists");
        assert_eq!(found[0].cwd.as_deref(), real.to_str());
        assert!(found[0]
            .created_at
            .is_some_and(|at| at <= found[0].last_modified));
        assert_eq!(saved.info(&id, directory).as_ref(), Some(&found[0]));
    }
}

fn forked_at_a_message(stage: &Stage) {
    let id = earlier(stage, &["keep this", "drop that"]);
    let saved = saved(stage);
    let messages = saved.messages(&id, None, &MessageOptions::default());
    let at = messages
        .iter()
        .find(|message| message.kind == MessageKind::Assistant)
        .expect("it answered");
    let options = ForkOptions {
        up_to_message_id: Some(at.uuid.to_string()),
        title: Some("another way".into()),
    };
    let fork = saved
        .fork(&id, Some(stage.project()), &options)
        .expect("it is forked");
    let (resumed, sent) = goes_on(stage, &fork);
    assert_eq!(resumed, fork);
    assert!(
        sent.contains("keep this") && sent.contains("echo: keep this"),
        "{sent}"
    );
    assert!(!sent.contains("drop that"), "{sent}");
    let info = saved.info(&fork, None).expect("it is listed");
    assert_eq!(info.custom_title.as_deref(), Some("another way"));
    // The original is as it was, and a fork of a fork goes on too.
    assert_eq!(
        saved.messages(&id, None, &MessageOptions::default()),
        messages
    );
    let again = saved
        .fork(&fork, None, &ForkOptions::default())
        .expect("it is forked");
    let (resumed, sent) = goes_on(stage, &again);
    assert_eq!(resumed, again);
    assert!(sent.contains("keep this"), "{sent}");
}

fn renamed_and_tagged(stage: &Stage) {
    let id = earlier(stage, &["remember me"]);
    let saved = saved(stage);
    saved
        .rename(&id, " a \"new\" title ", None)
        .expect("it is renamed");
    saved
        .tag(&id, Some("v\u{200b}1"), None)
        .expect("it is tagged");
    let (resumed, sent) = goes_on(stage, &id);
    assert_eq!(resumed, id);
    assert!(sent.contains("remember me"), "{sent}");
    let info = saved.info(&id, None).expect("it is listed");
    assert_eq!(info.custom_title.as_deref(), Some("a \"new\" title"));
    assert_eq!(info.tag.as_deref(), Some("v1"));
    saved.tag(&id, None, None).expect("the tag is taken away");
    goes_on(stage, &id);
    assert_eq!(saved.info(&id, None).expect("it is listed").tag, None);
}

fn changed_while_it_runs(stage: &Stage) {
    let mut host = stage.open(json!({}));
    host.turn("first");
    let id = host.session().session_id().expect("known after a turn");
    let saved = saved(stage);
    // The older CLI writes a little later than it answers.
    let until = Instant::now() + LIMIT;
    while saved.messages(&id, None, &MessageOptions::default()).len() < 2 {
        assert!(Instant::now() < until, "the CLI has saved nothing");
        std::thread::yield_now();
    }
    saved
        .rename(&id, "while it ran", None)
        .expect("it is renamed");
    let fork = saved
        .fork(&id, None, &ForkOptions::default())
        .expect("it is forked");
    host.turn("second");
    host.end().is_clean();
    let info = saved.info(&id, None).expect("it is listed");
    assert_eq!(info.custom_title.as_deref(), Some("while it ran"));
    let messages = saved.messages(&id, None, &MessageOptions::default());
    assert_eq!(messages.len(), 4);
    let (_, sent) = goes_on(stage, &fork);
    assert!(sent.contains("first") && !sent.contains("second"), "{sent}");
}

fn deleted(stage: &Stage) {
    let id = earlier(stage, &["forget me"]);
    let saved = saved(stage);
    let file = saved.transcript(&id, None).expect("it is there");
    saved
        .delete(&id, Some(stage.project()))
        .expect("it is deleted");
    assert!(!file.exists() && !file.with_extension("").exists());
    assert!(saved.list(&ListOptions::default()).is_empty());
    let mut host = stage.open(json!({"resume": id}));
    host.send("anybody there");
    let ending = host.ended();
    let said = format!("{:?}", ending.closing);
    assert!(said.contains("No conversation found"), "{said}");
}

fn resumed_by_its_new_title(stage: &Stage) {
    let id = earlier(stage, &["remember me"]);
    saved(stage)
        .rename(&id, "the one and only", None)
        .expect("it is renamed");
    let (resumed, sent) = goes_on(stage, "the one and only");
    assert_eq!(resumed, id);
    assert!(sent.contains("remember me"), "{sent}");
}

fn archived_until_the_next_prompt(stage: &Stage) {
    let id = earlier(stage, &["remember me"]);
    let saved = saved(stage);
    let archived = || saved.info(&id, None).expect("it is listed").archived;
    assert_eq!(archived(), None);
    saved.archive(&id, None).expect("it is archived");
    assert_eq!(archived(), Some(true));
    saved
        .unarchive(&id, Some(stage.project()))
        .expect("it is taken out");
    assert_eq!(archived(), Some(false));
    saved.archive(&id, None).expect("it is archived");
    let (resumed, _) = goes_on(stage, &id);
    assert_eq!(resumed, id);
    assert_eq!(archived(), Some(false));
    // The CLI has taken it out itself.
    let transcript = saved.transcript(&id, None).expect("it is there");
    let mark = transcript.with_extension("").join("archived.json");
    let mark = std::fs::read_to_string(mark).expect("the mark stays");
    assert!(mark.contains("\"archived\":false"), "{mark}");
}
