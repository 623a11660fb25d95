//! Where sessions are: on this machine, or in a session store.

use std::path::PathBuf;

use towline::transcripts::store::{open_existing, operations, run, SessionKey, SessionStore};
use towline::transcripts::{is_session_id, ForkOptions, ListOptions, SavedSessions, SessionInfo};

use crate::args::Where;
use crate::document;
use crate::failure::Failure;
use crate::terminal::{one_line, Progress};

/// The sessions that a command is about.
pub(crate) enum Place {
    /// Those the CLI has saved here, of one directory or of all.
    Disk {
        saved: SavedSessions,
        directory: Option<PathBuf>,
    },
    /// Those of a project in a store.
    Store {
        store: Box<dyn SessionStore>,
        project: operations::Project,
    },
}

/// Everything that is kept of a session.
pub(crate) struct Transcript {
    /// Its entries, one JSON object each.
    pub(crate) entries: Vec<String>,
    pub(crate) agents: Vec<AgentTranscript>,
}

/// What is kept of a subagent.
pub(crate) struct AgentTranscript {
    pub(crate) id: String,
    /// JSON text of an object.
    pub(crate) metadata: String,
    pub(crate) entries: Vec<String>,
}

impl Place {
    pub(crate) fn of(place: &Where) -> Result<Place, Failure> {
        let Some(url) = &place.store else {
            return Ok(Place::Disk {
                saved: SavedSessions::of_process(),
                directory: place.dir.clone(),
            });
        };
        let project = match &place.project {
            Some(key) => operations::Project::of_key(key),
            None => operations::Project::of_directory(place.dir.as_deref()),
        };
        Ok(Place::Store {
            store: open_existing(url)?,
            project,
        })
    }

    /// The sessions, newest first.
    pub(crate) fn list(
        &self,
        limit: Option<usize>,
        offset: usize,
        with_worktrees: bool,
    ) -> Result<Vec<SessionInfo>, Failure> {
        let _progress = Progress::start(match self {
            Place::Disk { saved, .. } => {
                let folder = saved.projects_dir().display().to_string();
                format!("Reading sessions in {} …", one_line(&folder))
            }
            Place::Store { .. } => "Asking the session store …".to_owned(),
        });
        match self {
            Place::Disk { saved, directory } => Ok(saved.list(&ListOptions {
                directory: directory.clone(),
                limit,
                offset,
                include_worktrees: with_worktrees,
                ..ListOptions::default()
            })),
            Place::Store { store, project } => {
                let page = operations::Page { limit, offset };
                let task = operations::list(store.capabilities(), project.clone(), page);
                Ok(run(task, store.as_ref())?)
            }
        }
    }

    /// What a list would tell of a session.
    pub(crate) fn info(&self, id: &str) -> Result<Option<SessionInfo>, Failure> {
        match self {
            Place::Disk { saved, directory } => Ok(saved.info(id, directory.as_deref())),
            Place::Store { store, project } => {
                let task = operations::info(store.capabilities(), project.clone(), id.to_owned());
                Ok(run(task, store.as_ref())?)
            }
        }
    }

    /// The ids of sessions that begin with a text.
    pub(crate) fn ids(&self, prefix: &str) -> Result<Vec<String>, Failure> {
        match self {
            Place::Disk { saved, directory } => Ok(saved.ids(prefix, directory.as_deref())),
            Place::Store { store, project } => {
                if !store.capabilities().list_sessions {
                    return Ok(Vec::new());
                }
                let prefix = prefix.to_lowercase();
                let listed = store.list_sessions(project.key())?.into_iter();
                let ids = listed.map(|entry| entry.session_id);
                let mut ids: Vec<String> = ids
                    .filter(|id| id.to_lowercase().starts_with(&prefix))
                    .collect();
                ids.sort_unstable();
                Ok(ids)
            }
        }
    }

    /// The session that is meant by its id, the beginning of it, or its title.
    pub(crate) fn resolve(&self, named: &str) -> Result<String, Failure> {
        let named = named.trim();
        let of_an_id = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        let mut found = Vec::new();
        if !named.is_empty() && named.len() <= 36 && named.bytes().all(of_an_id) {
            found = self.ids(named)?;
        }
        if found.is_empty() && !is_session_id(named) && !named.is_empty() {
            let listed = self.list(None, 0, true)?.into_iter();
            let titled = |info: &SessionInfo| {
                let title = info.custom_title.as_deref();
                title.is_some_and(|title| title.to_lowercase() == named.to_lowercase())
            };
            found = listed.filter(titled).map(|info| info.session_id).collect();
        }
        match found.as_slice() {
            [] => Err(self.unknown(named)),
            [id] => Ok(id.clone()),
            ids => Err(self.ambiguous(named, ids)?),
        }
    }

    fn unknown(&self, named: &str) -> Failure {
        Failure::Failed(match self {
            Place::Disk { saved, directory } => {
                let place = match directory {
                    Some(directory) => format!("of {}", directory.display()),
                    None => format!("in {}", saved.projects_dir().display()),
                };
                format!(
                    "no session {place} has the id or the title \"{named}\"; \
                     `towline sessions list --all` shows them"
                )
            }
            Place::Store { project, .. } => format!(
                "the session store has no session with the id or the title \"{named}\" under the \
                 project key {}; --dir or --project choose another project",
                project.key()
            ),
        })
    }

    fn ambiguous(&self, named: &str, ids: &[String]) -> Result<Failure, Failure> {
        const SHOWN: usize = 10;
        let mut text = format!("\"{named}\" can mean {} sessions:", ids.len());
        for id in ids.iter().take(SHOWN) {
            let summary = self.info(id)?.map(|info| one_line(&info.summary));
            let summary = crate::terminal::cut(&summary.unwrap_or_default(), 60);
            text.push_str(&format!("\n  {id}  {summary}"));
        }
        if ids.len() > SHOWN {
            text.push_str(&format!("\n  … and {} more", ids.len() - SHOWN));
        }
        text.push_str("\ngive more of the id");
        Ok(Failure::Failed(text))
    }

    /// Everything that is kept of a session.
    pub(crate) fn transcript(&self, id: &str) -> Result<Transcript, Failure> {
        match self {
            Place::Disk { saved, directory } => {
                let directory = directory.as_deref();
                let file = saved
                    .transcript(id, directory)
                    .ok_or_else(|| self.unknown(id))?;
                let agents = saved.subagent_transcripts(id, directory).into_iter();
                let agents = agents.map(|file| {
                    let name = file.file_stem().unwrap_or_default().to_string_lossy();
                    let metadata = std::fs::read_to_string(file.with_extension("meta.json"));
                    Ok(AgentTranscript {
                        id: name.strip_prefix("agent-").unwrap_or(&name).to_owned(),
                        metadata: metadata.unwrap_or_else(|_| "{}".to_owned()),
                        entries: lines_of(&file)?,
                    })
                });
                Ok(Transcript {
                    entries: lines_of(&file)?,
                    agents: agents.collect::<Result<_, Failure>>()?,
                })
            }
            Place::Store { store, project } => {
                let key = SessionKey::main(project.key(), id);
                let load = |key: &SessionKey| -> Result<Vec<String>, Failure> {
                    let entries = store.load(key)?.unwrap_or_default();
                    Ok(entries
                        .iter()
                        .map(|entry| entry.as_str().to_owned())
                        .collect())
                };
                let entries = load(&key)?;
                if entries.is_empty() {
                    return Err(self.unknown(id));
                }
                let mut agents = Vec::new();
                if store.capabilities().list_subkeys {
                    let mut subpaths = store.list_subkeys(project.key(), id)?;
                    subpaths.sort_unstable();
                    for subpath in subpaths {
                        let name = subpath.rsplit('/').next().unwrap_or_default();
                        let Some(agent) = name.strip_prefix("agent-") else {
                            continue;
                        };
                        let entries = load(&key.with_subpath(subpath.clone()))?;
                        let is_metadata = |entry: &&String| {
                            document::text(entry, "/type").as_deref() == Some("agent_metadata")
                        };
                        let metadata = entries.iter().rev().find(is_metadata).cloned();
                        agents.push(AgentTranscript {
                            id: agent.to_owned(),
                            metadata: metadata.unwrap_or_else(|| "{}".to_owned()),
                            entries,
                        });
                    }
                }
                Ok(Transcript { entries, agents })
            }
        }
    }

    pub(crate) fn rename(&self, id: &str, title: &str) -> Result<(), Failure> {
        match self {
            Place::Disk { saved, directory } => {
                Ok(saved.rename(id, title, directory.as_deref())?)
            }
            Place::Store { store, project } => {
                let (id, title) = (id.to_owned(), title.to_owned());
                let task = operations::rename(store.capabilities(), project.clone(), id, title);
                Ok(run(task, store.as_ref())?)
            }
        }
    }

    pub(crate) fn tag(&self, id: &str, tag: Option<&str>) -> Result<(), Failure> {
        match self {
            Place::Disk { saved, directory } => Ok(saved.tag(id, tag, directory.as_deref())?),
            Place::Store { store, project } => {
                let (id, tag) = (id.to_owned(), tag.map(str::to_owned));
                let task = operations::tag(store.capabilities(), project.clone(), id, tag);
                Ok(run(task, store.as_ref())?)
            }
        }
    }

    pub(crate) fn archive(&self, id: &str, archived: bool) -> Result<(), Failure> {
        match self {
            Place::Disk { saved, directory } => Ok(match archived {
                true => saved.archive(id, directory.as_deref()),
                false => saved.unarchive(id, directory.as_deref()),
            }?),
            Place::Store { .. } => Err(Failure::Usage(
                "a session store keeps no archive: sessions are archived on this machine only, \
                 without --store"
                    .to_owned(),
            )),
        }
    }

    pub(crate) fn delete(&self, id: &str) -> Result<(), Failure> {
        match self {
            Place::Disk { saved, directory } => Ok(saved.delete(id, directory.as_deref())?),
            Place::Store { store, project } => {
                let capabilities = store.capabilities();
                if !capabilities.delete {
                    return Err(Failure::new("this session store deletes nothing"));
                }
                let task = operations::delete(capabilities, project.clone(), id.to_owned());
                Ok(run(task, store.as_ref())?)
            }
        }
    }

    pub(crate) fn fork(&self, id: &str, options: ForkOptions) -> Result<String, Failure> {
        match self {
            Place::Disk { saved, directory } => {
                Ok(saved.fork(id, directory.as_deref(), &options)?)
            }
            Place::Store { store, project } => {
                let id = id.to_owned();
                let task = operations::fork(store.capabilities(), project.clone(), id, options);
                Ok(run(task, store.as_ref())?)
            }
        }
    }
}

/// The lines of a transcript. Bytes that are no UTF-8 damage the line they stand in.
fn lines_of(file: &std::path::Path) -> Result<Vec<String>, Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure::file(file, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split('\n').map(str::trim);
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect())
}
