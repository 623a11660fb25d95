//! What a start takes from this machine: the environment, private files, descriptors.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use towline_protocol::launch::{Environment, LaunchPlan, TraceContext};
use towline_transcripts::materialize::Materialized;

use crate::error::{Error, StartError};
use crate::process::{account, PrivateFiles};
use crate::reactor::Reactor;
use crate::Options;

pub(super) fn reactor() -> Result<Arc<Reactor>, Error> {
    Ok(Arc::new(Reactor::new().map_err(StartError::Pipes)?))
}

/// Writes what may not stand on the command line, beside the session from a store if there is one;
/// the paths in order.
pub(super) fn private_files(
    plan: &LaunchPlan,
    materialized: Option<Materialized>,
) -> Result<(Option<PrivateFiles>, Vec<String>), Error> {
    let reader = || plan.user.as_deref().map(account).transpose();
    let mut paths = Vec::new();
    let mut folder = match materialized {
        Some(whole) => Some(PrivateFiles::beside(whole, reader()?)),
        None => None,
    };
    for file in &plan.private_files {
        let folder = match &folder {
            Some(folder) => folder,
            None => {
                folder.insert(PrivateFiles::create(reader()?).map_err(StartError::PrivateFile)?)
            }
        };
        let path = folder
            .write(file.name, &file.contents)
            .map_err(StartError::PrivateFile)?;
        paths.push(path.to_string_lossy().into_owned());
    }
    Ok((folder, paths))
}

/// What the launch has to know of this machine.
pub(super) fn machine(options: &Options) -> Environment {
    let inherited = std::env::vars_os().map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into_owned(),
        )
    });
    Environment {
        inherited: inherited.collect(),
        settings_file: options.settings_to_read().map(|path| {
            let folder = Path::new(options.cwd.as_deref().unwrap_or_default());
            std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
        }),
        ..Environment::default()
    }
}

/// The trace that a CLI with this environment works for.
pub(super) fn trace_of(env: &[(OsString, OsString)]) -> Option<TraceContext> {
    let variable = |wanted: &str| {
        let found = env.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| value.to_str())
    };
    TraceContext::new(variable("TRACEPARENT")?, variable("TRACESTATE"))
}

/// The whole environment, with inherited values that are no Unicode left as they are.
pub(super) fn environment(plan: &towline_protocol::launch::EnvPlan) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = BTreeMap::new();
    if plan.inherit {
        all.extend(std::env::vars_os());
        all.retain(|name, _| !name.to_str().is_some_and(|name| plan.unset.contains(name)));
    }
    all.extend(
        plan.set
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    all.into_iter().collect()
}
