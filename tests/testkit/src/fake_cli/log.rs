//! What the fake CLI saw and did, one JSON object a line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::json::{object, Json};

pub(super) struct Log {
    file: Option<File>,
}

impl Log {
    /// The file that `FAKE_CLI_LOG` names, if any.
    pub(super) fn from_environment() -> io::Result<Self> {
        let file = match std::env::var_os("FAKE_CLI_LOG").filter(|path| !path.is_empty()) {
            None => None,
            Some(path) => Some(OpenOptions::new().create(true).append(true).open(path)?),
        };
        Ok(Log { file })
    }

    /// Appends an event: its name, its fields and the time in seconds.
    pub(super) fn event<const N: usize>(&self, name: &str, fields: [(&str, Json); N]) {
        let Some(mut file) = self.file.as_ref() else {
            return;
        };
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let mut line = vec![("ev".into(), Json::string(name))];
        if let Json::Object(fields) = object(fields) {
            line.extend(fields);
        }
        let time = format!("{}.{:03}", now.as_secs(), now.subsec_millis());
        line.push(("t".into(), Json::Number(time)));
        let mut text = Json::Object(line).ascii();
        text.push(b'\n');
        // One write a line, as two threads and several processes may share the file. A full disk
        // shows as a case that misses events.
        let _ = file.write_all(&text);
    }

    pub(super) fn fail(&self, why: &str) {
        self.event("fail", [("why", Json::string(why))]);
    }
}
