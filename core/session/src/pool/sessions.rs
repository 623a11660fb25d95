//! Which options the sessions of a pool cannot have, and how a pool's errors read.

use std::path::Path;

use towline_protocol::launch::{Dialect, Options};

use super::{Policy, PoolError};

impl Policy {
    /// The options, by their names in [`Options::KEYS`], that
    /// [`check_sessions`](Policy::check_sessions) looks at.
    pub const SESSION_OPTIONS: [&'static str; 4] = ["resume", "continue", "sessionId", "record"];

    /// Refuses options that cannot be those of all sessions of a pool: one conversation
    /// ([`PoolError::OneSession`]), one file to record to ([`PoolError::OneFile`]).
    pub fn check_sessions(options: &Options) -> Result<(), PoolError> {
        let named = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        let of_one = [
            ("resume", named(&options.resume)),
            ("continue", options.continue_conversation),
            ("sessionId", named(&options.session_id)),
        ];
        if let Some((option, _)) = of_one.into_iter().find(|(_, given)| *given) {
            return Err(PoolError::OneSession(option));
        }
        let record = options.record.as_deref().map(Path::new);
        match record.is_some_and(|path| !path.is_dir()) {
            true => Err(PoolError::OneFile("record")),
            false => Ok(()),
        }
    }
}

impl PoolError {
    /// The text for users of a dialect: with the names that options and limits have there.
    pub fn text(&self, dialect: Dialect) -> String {
        let text = self.to_string();
        let text = match self {
            PoolError::OneSession(option) | PoolError::OneFile(option) => text.replacen(
                &format!("option {option} "),
                &format!("option {} ", dialect.option_name(option)),
                1,
            ),
            _ => text,
        };
        match dialect {
            Dialect::Python => text
                .replace("maxSessions", "max_sessions")
                .replace("takeTimeoutMs", "take_timeout"),
            Dialect::Towline | Dialect::TypeScript => text,
        }
    }
}
