//! What is registered with options: callbacks and in-process tools.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

use towline_core::protocol::mcp;
use towline_core::{
    FlushMode, LogLevel, OnFailure, OpenStore, Options, Session, SessionBuilder, Tool, ToolServer,
    Watchdog,
};

use crate::boundary;
use crate::callback::{
    towline_finalize, towline_line_callback, towline_log_callback, towline_request_callback,
    LineCallback, LogCallback, RequestCallback,
};
use crate::error::{towline_error, Failure};
use crate::handle;
use crate::options::{towline_options, Settings, Shared};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, names, optional, text, NUL};
use crate::transport::Opener;

/// A hook that fails does what the CLI's default is: the CLI goes on.
pub const TOWLINE_HOOK_DEFAULT: i32 = 0;
/// When the hook fails, the CLI goes on as if there were none.
pub const TOWLINE_HOOK_CONTINUE: i32 = 1;
/// When the hook fails, what it was asked about does not happen.
pub const TOWLINE_HOOK_BLOCK: i32 = 2;

/// Who serves a kind of request.
#[derive(Clone, Default)]
enum Served {
    /// Nobody: it is answered safely.
    #[default]
    Nobody,
    /// It comes as an event.
    Event,
    /// A callback.
    Callback(Arc<RequestCallback>),
}

impl Served {
    fn by(callback: Option<RequestCallback>) -> Served {
        callback.map_or(Served::Event, |callback| {
            Served::Callback(Arc::new(callback))
        })
    }
}

#[derive(Clone)]
struct Hook {
    event: String,
    matcher: Option<String>,
    timeout_seconds: Option<f64>,
    on_failure: Option<OnFailure>,
    callback: Shared<RequestCallback>,
}

#[derive(Clone)]
struct InProcessTool {
    definition: mcp::Tool,
    callback: Shared<RequestCallback>,
}

/// Everything that is registered. Copies share the callbacks and the watchdog.
#[derive(Clone, Default)]
pub(crate) struct Registered {
    watchdog: Watchdog,
    permission: Served,
    elicitation: Served,
    dialog: Served,
    dialog_kinds: Vec<String>,
    other: Served,
    hooks: Vec<Hook>,
    servers: BTreeMap<String, Vec<InProcessTool>>,
    bridged: Vec<String>,
    stderr: Option<Shared<LineCallback>>,
    pub(crate) log: Shared<LineCallback>,
    log_records: Option<(LogLevel, Arc<LogCallback>)>,
    pub(crate) transport: Shared<Opener>,
    pub(crate) store: Option<(OpenStore, Option<FlushMode>)>,
}

impl Registered {
    /// A session's builder with all of it.
    pub(crate) fn builder(&self, options: Options) -> Result<SessionBuilder, Failure> {
        let mut builder = towline_core::Session::builder(options).watchdog(&self.watchdog);
        builder = match &self.permission {
            Served::Nobody => builder,
            Served::Event => builder.permission_events(),
            Served::Callback(callback) => builder.on_permission(serve(callback)),
        };
        builder = match &self.elicitation {
            Served::Nobody => builder,
            Served::Event => builder.elicitation_events(),
            Served::Callback(callback) => builder.on_elicitation(serve(callback)),
        };
        builder = match &self.other {
            Served::Nobody => builder,
            Served::Event => builder.other_request_events(),
            Served::Callback(callback) => builder.on_request(serve(callback)),
        };
        if let Served::Callback(callback) = &self.dialog {
            let kinds: Vec<&str> = self.dialog_kinds.iter().map(String::as_str).collect();
            builder = builder.on_dialog(&kinds, serve(callback));
        }
        for hook in &self.hooks {
            let matcher = hook.matcher.as_deref();
            builder = match &hook.callback {
                None => {
                    builder.add_hook(&hook.event, matcher, hook.timeout_seconds, hook.on_failure);
                    builder
                }
                Some(callback) => builder.on_hook_with(
                    &hook.event,
                    matcher,
                    hook.timeout_seconds,
                    hook.on_failure,
                    serve(callback),
                ),
            };
        }
        for (name, tools) in &self.servers {
            let mut server = ToolServer::new(name, env!("CARGO_PKG_VERSION"));
            for tool in tools {
                let definition = tool.definition.clone();
                server.add(match &tool.callback {
                    None => Tool::without_handler(definition),
                    Some(callback) => Tool::from_definition(definition, serve(callback)),
                })?;
            }
            builder = builder.tool_server(server);
        }
        for name in &self.bridged {
            builder = builder.bridged_server(name);
        }
        if let Some((store, flush)) = &self.store {
            builder = builder.session_store(store.clone(), *flush);
        }
        builder = match &self.stderr {
            None => builder,
            Some(None) => builder.stderr_events(),
            Some(Some(callback)) => {
                let callback = callback.clone();
                builder.on_stderr(move |line| callback.call(line))
            }
        };
        if let Some((level, callback)) = &self.log_records {
            let callback = callback.clone();
            builder = builder.on_log(*level, move |record| callback.call(record));
        }
        Ok(builder)
    }

    /// Starts a session over the host's transport, or with a CLI of its own.
    pub(crate) fn start(&self, options: Options) -> Result<Session, Failure> {
        let builder = self.builder(options)?;
        Ok(match &self.transport {
            None => builder.start()?,
            Some(opener) if opener.launches() => {
                builder.start_with(|launch| opener.stream(Some(&launch)))?
            }
            Some(opener) => builder.start_over(opener.stream(None)?)?,
        })
    }

    /// Options as the session takes them: kinds of dialog without a callback come as events.
    pub(crate) fn complete(&self, mut options: Options) -> Options {
        if matches!(self.dialog, Served::Event) {
            options
                .supported_dialog_kinds
                .extend(self.dialog_kinds.iter().cloned());
        }
        options
    }
}

fn serve(
    callback: &Arc<RequestCallback>,
) -> impl FnMut(&towline_core::RequestHandle) -> towline_core::Reply + Send + 'static {
    let callback = callback.clone();
    move |request| callback.serve(request)
}

/// Registers who decides whether a tool may run that the permission rules do not settle. With a
/// callback of NULL such requests come as TOWLINE_REQUEST events; with nothing registered the CLI
/// refuses them. Takes the place of what was registered before.
///
/// In the callback: the tool is `"/tool_name"`, its input is under `"/input"`; answer with
/// towline_request_allow() or towline_request_deny().
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_permission(
    options: *mut towline_options,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let served = Served::by(RequestCallback::new(callback, user_data, finalize));
        options.change(|content| {
            Ok(std::mem::replace(
                &mut content.registered.permission,
                served,
            ))
        })
    })
}

/// Registers a hook: what is asked, or told, at an event of the CLI (`"PreToolUse"`, `"Stop"`, …).
/// `matcher` picks some (`"Bash"`, `"Edit|Write"`), NULL is all of them. `timeout_ms` is how long
/// the CLI waits for the answer, 0 for its default. `on_failure` is one of TOWLINE_HOOK_DEFAULT,
/// _CONTINUE and _BLOCK. With a callback of NULL the calls come as TOWLINE_REQUEST events. Any
/// number of hooks can be registered.
///
/// In the callback: the hook's input is under `"/input"`; answer with towline_request_respond()
/// and a hook output, `"{}"` for no opinion.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_hook(
    options: *mut towline_options,
    event: *const c_char,
    matcher: *const c_char,
    timeout_ms: u64,
    on_failure: i32,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let event = name("event", event)?.to_string();
        if event.is_empty() {
            return Err(Failure::new(
                TOWLINE_ERR_ARGUMENT,
                "event: the name of a hook event is needed, and it is empty",
            ));
        }
        let matcher = optional("matcher", matcher, NUL)?.map(String::from);
        let on_failure = match on_failure {
            TOWLINE_HOOK_DEFAULT => None,
            TOWLINE_HOOK_CONTINUE => Some(OnFailure::Continue),
            TOWLINE_HOOK_BLOCK => Some(OnFailure::Block),
            other => {
                return Err(Failure::new(
                    TOWLINE_ERR_ARGUMENT,
                    format!("on_failure: {other} is none of the TOWLINE_HOOK_ constants"),
                ))
            }
        };
        let hook = Hook {
            event,
            matcher,
            timeout_seconds: (timeout_ms > 0).then_some(timeout_ms as f64 / 1000.0),
            on_failure,
            callback: RequestCallback::new(callback, user_data, finalize).map(Arc::new),
        };
        options.change(|content| {
            content.registered.hooks.push(hook);
            Ok(())
        })
    })
}

/// Registers who answers when an external MCP server wants something of the user. With a callback
/// of NULL such requests come as TOWLINE_REQUEST events; with nothing registered they are
/// cancelled. Answer with towline_request_respond() and `{"action":"accept","content":{…}}`,
/// `"decline"` or `"cancel"`.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_elicitation(
    options: *mut towline_options,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let served = Served::by(RequestCallback::new(callback, user_data, finalize));
        options.change(|content| {
            Ok(std::mem::replace(
                &mut content.registered.elicitation,
                served,
            ))
        })
    })
}

/// Registers who shows dialogs, of the `count` kinds named. With a callback of NULL such requests
/// come as TOWLINE_REQUEST events; the CLI does not ask for kinds that nobody named. Takes the place
/// of what was registered before.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_dialog(
    options: *mut towline_options,
    kinds: *const *const c_char,
    count: usize,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let kinds = names("kinds", kinds, count)?;
        let kinds = kinds.into_iter().map(String::from).collect();
        let served = Served::by(RequestCallback::new(callback, user_data, finalize));
        options.change(|content| {
            content.registered.dialog_kinds = kinds;
            Ok(std::mem::replace(&mut content.registered.dialog, served))
        })
    })
}

/// Registers who answers every other request of the CLI, those of subtypes that this library does
/// not know among them. With a callback of NULL they come as TOWLINE_REQUEST events; with nothing
/// registered they are answered with an error, so that the CLI never hangs.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_request(
    options: *mut towline_options,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let served = Served::by(RequestCallback::new(callback, user_data, finalize));
        options.change(|content| Ok(std::mem::replace(&mut content.registered.other, served)))
    })
}

/// Registers who gets the lines of the CLI's stderr. With a callback of NULL they come as
/// TOWLINE_STDERR events; with nothing registered only their end is kept, for errors.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_stderr(
    options: *mut towline_options,
    callback: towline_line_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let callback = LineCallback::new(callback, user_data, finalize).map(Arc::new);
        options.change(|content| Ok(content.registered.stderr.replace(callback)))
    })
}

/// Registers who gets diagnostics: sentences about what is odd and does not end the session.
/// With a callback of NULL, or nothing registered, they come as TOWLINE_DIAGNOSTIC events. The
/// callback runs inside towline_session_poll().
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_log(
    options: *mut towline_options,
    callback: towline_line_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let callback = LineCallback::new(callback, user_data, finalize).map(Arc::new);
        options.change(|content| Ok(std::mem::replace(&mut content.registered.log, callback)))
    })
}

/// Registers who gets records of what happens in the session, from TOWLINE_LOG_ERROR up to `level`:
/// that it has started, opened, ended; turns, requests both ways, tool calls and store calls, with
/// their outcomes and how long they took; steps of the end; diagnostics, which come as without this
/// too; lines of stderr; with option `wireLog` set to `log` also those of the wire, at
/// TOWLINE_LOG_TRACE. Nothing secret stands in them. A callback of NULL takes the registration back.
///
/// Errors: TOWLINE_ERR_ARGUMENT when there is no such level.
#[no_mangle]
pub unsafe extern "C" fn towline_options_on_log_record(
    options: *mut towline_options,
    level: i32,
    callback: towline_log_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let level = LogLevel::numbered(level.into()).ok_or_else(|| {
            Failure::new(
                TOWLINE_ERR_ARGUMENT,
                format!("level: {level} is none; TOWLINE_LOG_ERROR is 1, TOWLINE_LOG_TRACE 5"),
            )
        })?;
        let callback = LogCallback::new(callback, user_data, finalize);
        let registered = callback.map(|callback| (level, Arc::new(callback)));
        options.change(|content| {
            let records = &mut content.registered.log_records;
            Ok(std::mem::replace(records, registered))
        })
    })
}

/// Adds a tool that runs inside this program, to the in-process MCP server named `server`, which
/// is made at its first tool. The model calls it `mcp__SERVER__NAME`.
///
/// `description` is for the model. `schema` is the JSON Schema of the arguments, an object with
/// `"type":"object"`; arguments that do not fit never reach the callback. `annotations` is NULL or a
/// JSON object (`{"readOnlyHint":true}`). These five texts are NUL-terminated. With a callback of
/// NULL the calls come as TOWLINE_REQUEST events.
///
/// In the callback: the arguments are under `"/message/params/arguments"`, and
/// towline_request_arguments() has them whole; answer with towline_request_tool_text() or
/// towline_request_tool_json(). The callback runs on the polling thread: one that takes long
/// retains the request, returns TOWLINE_LATER and answers from elsewhere.
///
/// Errors: TOWLINE_ERR_TOOL when the definition is refused or the name is taken.
#[no_mangle]
pub unsafe extern "C" fn towline_options_add_tool(
    options: *mut towline_options,
    server: *const c_char,
    tool: *const c_char,
    description: *const c_char,
    schema: *const c_char,
    annotations: *const c_char,
    callback: towline_request_callback,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let server = name("server", server)?;
        let mut definition = mcp::Tool::new(
            name("tool", tool)?,
            name("description", description)?,
            text("schema", schema, NUL)?,
        );
        definition.annotations = optional("annotations", annotations, NUL)?.map(String::from);
        options.change(|content| {
            let tools = content.registered.servers.get(server);
            check(server, tools.map_or(&[], Vec::as_slice), &definition)?;
            let servers = &mut content.registered.servers;
            servers
                .entry(server.into())
                .or_default()
                .push(InProcessTool {
                    definition,
                    callback: RequestCallback::new(callback, user_data, finalize).map(Arc::new),
                });
            Ok(())
        })
    })
}

/// Whether a session would take this tool.
fn check(server: &str, tools: &[InProcessTool], new: &mcp::Tool) -> Result<(), Failure> {
    let mut scratch = mcp::Server::new(server, "");
    for tool in tools {
        scratch.add_tool(tool.definition.clone())?;
    }
    Ok(scratch.add_tool(new.clone())?)
}

/// Announces an MCP server that the host runs itself. What the CLI sends it comes as
/// TOWLINE_REQUEST events of kind TOWLINE_ASKS_MCP_MESSAGE (answer with the JSON-RPC response) and
/// as TOWLINE_MCP_NOTIFICATION events; what it sends goes by towline_session_mcp_send().
///
/// Errors: TOWLINE_ERR_ARGUMENT when the name is empty or taken.
#[no_mangle]
pub unsafe extern "C" fn towline_options_bridge_server(
    options: *mut towline_options,
    server: *const c_char,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let server = name("server", server)?.to_string();
        options.change(|content| {
            let registered = &mut content.registered;
            if server.is_empty()
                || registered.servers.contains_key(&server)
                || registered.bridged.contains(&server)
            {
                return Err(Failure::new(
                    TOWLINE_ERR_ARGUMENT,
                    format!("server: the name {server:?} is empty or taken"),
                ));
            }
            registered.bridged.push(server);
            Ok(())
        })
    })
}
