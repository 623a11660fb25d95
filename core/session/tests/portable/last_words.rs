//! What is written about the time at which the process ends.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::*;

/// The silence after which output is over begins with the exit, not with what was heard before it.
#[test]
fn a_long_silence_before_the_exit_loses_nothing() {
    // Longer than the silence after which it is over.
    let fake = Fake::new(json!([{"sleep_ms": 1200}, {"exit": 0}]));
    let script = fake.path("cli.sh");
    // A descendant that speaks as soon as the CLI has been reaped.
    let text = format!(
        "#!/bin/sh\n(while kill -0 $$ 2>/dev/null; do sleep 0.02; done; echo '{}') &\nexec {} \"$@\"\n",
        assistant("late"),
        fake_cli().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let fake = fake.set("cliPath", script.to_str().unwrap());
    let session = fake.begin();
    let (events, closed) = rest(&session);
    assert!(closed.error.is_none(), "{closed:?}");
    let messages = messages(&events);
    assert!(
        messages
            .iter()
            .any(|message| message["type"] == "assistant"),
        "{messages:?}"
    );
}
