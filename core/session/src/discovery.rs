//! Finding the CLI (`protocol.md §1.5`).

use std::path::Path;

use towline_protocol::launch::{
    candidates, not_found, refuse_batch_file, Environment, Options, Origin, Search,
};

use crate::error::StartError;

/// The path of the CLI to start: the option's, else the first candidate that is an executable
/// file. Behind a launcher the option's or plain `claude`, which the launcher finds.
pub(crate) fn find(options: &Options, machine: &Environment) -> Result<String, StartError> {
    let given = options.cli_path.as_deref().filter(|path| !path.is_empty());
    if !options.launcher.is_empty() {
        return Ok(given.unwrap_or("claude").into());
    }
    if let Some(path) = given.filter(|path| path.contains('/')) {
        // Whether it can be started the start itself tells, with a reason.
        return Ok(path.into());
    }
    let search = Search {
        cli_path: given,
        bundled: None,
        inherited: &machine.inherited,
        home: machine.inherited.get("HOME").map(String::as_str),
        platform: machine.platform,
    };
    let found = candidates(&search)
        .into_iter()
        .find(|candidate| is_executable(Path::new(&candidate.path)));
    match found {
        Some(candidate) if candidate.origin == Origin::Shim => {
            refuse_batch_file(&candidate.path)?;
            Ok(candidate.path)
        }
        Some(candidate) => Ok(candidate.path),
        None => Err(StartError::CliNotFound(not_found(&search))),
    }
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn machine(path: &Path, home: &Path) -> Environment {
        let variables = [("PATH", path), ("HOME", home)];
        Environment {
            inherited: variables
                .map(|(name, value)| (name.to_string(), value.display().to_string()))
                .into(),
            ..Environment::default()
        }
    }

    fn put(path: &Path, mode: u32) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_no_executable_file_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, home) = (folder.path().join("bin"), folder.path().join("home"));
        let machine = machine(&bin, &home);
        let known = home.join(".local/bin/claude");
        put(&known, 0o755);
        put(&bin.join("claude"), 0o644);
        assert_eq!(
            find(&Options::new(), &machine).unwrap(),
            known.display().to_string()
        );
        put(&bin.join("claude"), 0o755);
        assert_eq!(
            find(&Options::new(), &machine).unwrap(),
            bin.join("claude").display().to_string()
        );
    }

    #[test]
    fn not_found_tells_where_and_how() {
        let folder = tempfile::tempdir().unwrap();
        let machine = machine(&folder.path().join("bin"), &folder.path().join("home"));
        let error = find(&Options::new(), &machine);
        // A CLI installed for the whole machine is found whatever HOME says.
        if Path::new("/usr/local/bin/claude").exists() {
            return assert!(error.is_ok());
        }
        let text = error.unwrap_err().to_string();
        for part in ["bin/claude", ".local/bin/claude", "install"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
