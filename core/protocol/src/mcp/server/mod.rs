//! An MCP server inside the host: what it offers, what it has been asked, what it has to say.

mod outgoing;
mod receive;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use super::catalog::{Catalog, Prompt, RegisterError, Resource, ResourceTemplate, Tool};
use super::jsonrpc::{fields, RpcError};
use super::result::{CallResult, Subject};
use crate::json::{push_string, string, ScanError};

/// The revisions of MCP that are spoken, newest first. Another one that a client asks for is
/// answered with the newest.
pub const PROTOCOL_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// How many cancelled calls are remembered, to tell a late answer from a double one.
const CANCELLED_REMEMBERED: usize = 64;

/// A call that waits for the host's answer. Unique within its [`Server`] or
/// [`Bridge`](super::Bridge), never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A request of the server's that waits for the client's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub u64);

/// What the host has to answer, by [`Server::finish`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id to answer with.
    pub id: CallId,
    /// The JSON-RPC id as it came: JSON text of a number or a string.
    pub rpc_id: String,
    /// What is asked.
    pub operation: Operation,
    /// JSON text of the progress token; without one [`Server::progress`] reports nothing.
    pub progress_token: Option<String>,
    /// The `tool_use` block this call serves (`_meta` `claudecode/toolUseId`).
    pub tool_use_id: Option<String>,
    /// JSON text of `_meta`.
    pub meta: Option<String>,
}

/// The three requests that only the host can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `tools/call` of a registered tool.
    CallTool {
        /// The tool's name.
        name: String,
        /// JSON text of an object, `{}` when none were sent. Not checked against the schema.
        arguments: String,
    },
    /// `resources/read`: a registered resource, or any URI when templates are registered.
    ReadResource {
        /// The resource asked for.
        uri: String,
    },
    /// `prompts/get` of a registered prompt, with all its required arguments.
    GetPrompt {
        /// The prompt's name.
        name: String,
        /// JSON text of an object, `{}` when none were sent.
        arguments: String,
    },
}

/// What came of one message. Each variant but [`Call`](Received::Call) carries the text that goes
/// back under `mcp_response` at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A response made here.
    Reply(String),
    /// A notification: the acknowledgement, without which the CLI would wait.
    Accepted(&'static str),
    /// The host has to answer; the `mcp_message` request stays open until then.
    Call(Call),
    /// The client takes back a call. It waits for no answer to the call any more; only this
    /// notification is acknowledged (recordings `sdk_mcp_interrupt`, `sdk_mcp_timeout`).
    Cancelled {
        /// The call to stop.
        call: CallId,
        /// The client's words.
        reason: Option<String>,
        /// The acknowledgement.
        ack: &'static str,
    },
    /// The client has answered a request of the server's.
    Response {
        /// The request.
        request: ServerRequestId,
        /// JSON text of the result, or the client's refusal.
        outcome: Result<String, RpcError>,
        /// The acknowledgement.
        ack: &'static str,
    },
}

/// Why an answer to a call was not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FinishError {
    /// The client has cancelled the call, or the server was closed; the answer is dropped.
    #[error("the call was cancelled; its answer is dropped")]
    Cancelled,
    /// The call has its answer.
    #[error("the call has been answered already")]
    AlreadyAnswered,
    /// No such call was ever made.
    #[error("there is no such call")]
    Unknown,
}

/// Why a request or notification was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The parameters are not a JSON object.
    #[error("the parameters are not a JSON object: {0}")]
    Params(ScanError),
    /// The server was closed.
    #[error("the MCP server is closed")]
    Closed,
}

/// A capability that a server announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Tools; always announced.
    Tools = 1,
    /// Resources and resource templates.
    Resources = 2,
    /// Prompts.
    Prompts = 4,
    /// Log messages.
    Logging = 8,
}

/// How grave a log message is, in the order of RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// `debug`
    Debug,
    /// `info`
    Info,
    /// `notice`
    Notice,
    /// `warning`
    Warning,
    /// `error`
    Error,
    /// `critical`
    Critical,
    /// `alert`
    Alert,
    /// `emergency`
    Emergency,
}

impl LogLevel {
    const NAMES: [(&'static str, LogLevel); 8] = [
        ("debug", LogLevel::Debug),
        ("info", LogLevel::Info),
        ("notice", LogLevel::Notice),
        ("warning", LogLevel::Warning),
        ("error", LogLevel::Error),
        ("critical", LogLevel::Critical),
        ("alert", LogLevel::Alert),
        ("emergency", LogLevel::Emergency),
    ];

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<LogLevel> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, level)| *level)
    }

    /// Its name in MCP.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, level)| *level == self);
        found.map_or("info", |(name, _)| name)
    }
}

/// What [`Server::close`] found open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    /// Calls the host has not answered; it should stop them.
    pub calls: Vec<CallId>,
    /// Requests the client has not answered, and never will.
    pub requests: Vec<ServerRequestId>,
}

#[derive(Debug)]
struct Pending {
    rpc_id: String,
    progress_token: Option<String>,
    subject: PendingSubject,
}

#[derive(Debug)]
enum PendingSubject {
    Tool,
    Resource(String),
    Prompt,
}

/// A whole MCP server as a state machine. See the [module](super) for its place.
///
/// Tools, resources and prompts may come and go while it runs; the client is told by
/// `list_changed`, once for changes that have not been sent yet. Resources and prompts that come
/// only after the handshake need [`declare`](Server::declare) before it, else the client never
/// asks for them.
#[derive(Debug)]
pub struct Server {
    name: String,
    /// What it calls itself, if that is another name.
    own_name: Option<String>,
    version: String,
    instructions: Option<String>,
    tools: Catalog<Tool>,
    resources: Catalog<Resource>,
    templates: Catalog<ResourceTemplate>,
    prompts: Catalog<Prompt>,
    page_size: usize,
    declared: u8,
    /// What the last handshake announced; nothing before the first one.
    announced: u8,
    client: Option<Client>,
    log_level: LogLevel,
    calls: BTreeMap<CallId, Pending>,
    last_call: u64,
    cancelled: VecDeque<CallId>,
    requests: Vec<ServerRequestId>,
    last_request: u64,
    outgoing: VecDeque<String>,
    closed: bool,
}

#[derive(Debug)]
struct Client {
    protocol_version: &'static str,
    capabilities: Option<String>,
    info: Option<String>,
}

impl Server {
    /// A server without anything on offer. `name` and `version` become `serverInfo`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Server {
            name: name.into(),
            own_name: None,
            version: version.into(),
            instructions: None,
            tools: Catalog::default(),
            resources: Catalog::default(),
            templates: Catalog::default(),
            prompts: Catalog::default(),
            page_size: usize::MAX,
            declared: Feature::Tools as u8,
            announced: 0,
            client: None,
            log_level: LogLevel::Debug,
            calls: BTreeMap::new(),
            last_call: 0,
            cancelled: VecDeque::new(),
            requests: Vec::new(),
            last_request: 0,
            outgoing: VecDeque::new(),
            closed: false,
        }
    }

    /// Sets what `serverInfo` says in place of the name that the CLI knows the server by.
    pub fn own_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.own_name = Some(name.into());
        self
    }

    /// Sets the text that tells the model how to use the server.
    pub fn instructions(&mut self, text: impl Into<String>) -> &mut Self {
        self.instructions = Some(text.into());
        self
    }

    /// Announces a feature although nothing of its kind is registered yet.
    pub fn declare(&mut self, feature: Feature) -> &mut Self {
        self.declared |= feature as u8;
        self
    }

    /// Sets how many entries one list answer holds; the rest follows by cursor. Without it a list
    /// is one page.
    pub fn page_size(&mut self, entries: usize) -> &mut Self {
        self.page_size = entries.max(1);
        self
    }

    /// Registers a tool.
    pub fn add_tool(&mut self, tool: Tool) -> Result<(), RegisterError> {
        self.tools.add(tool)?;
        self.list_changed(Feature::Tools);
        Ok(())
    }

    /// Takes a tool back; `false` when there is none of this name. Calls that run go on.
    pub fn remove_tool(&mut self, name: &str) -> bool {
        let removed = self.tools.remove(name);
        if removed {
            self.list_changed(Feature::Tools);
        }
        removed
    }

    /// A registered tool, with its schemas as they are served.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// All registered tools, in order of registration.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// Registers a resource.
    pub fn add_resource(&mut self, resource: Resource) -> Result<(), RegisterError> {
        self.resources.add(resource)?;
        self.list_changed(Feature::Resources);
        Ok(())
    }

    /// Takes a resource back.
    pub fn remove_resource(&mut self, uri: &str) -> bool {
        let removed = self.resources.remove(uri);
        if removed {
            self.list_changed(Feature::Resources);
        }
        removed
    }

    /// Registers a resource template. From then on every URI is put before the host, which
    /// answers [`CallResult::resource_not_found`] where none matches.
    pub fn add_resource_template(
        &mut self,
        template: ResourceTemplate,
    ) -> Result<(), RegisterError> {
        self.templates.add(template)?;
        self.list_changed(Feature::Resources);
        Ok(())
    }

    /// Takes a resource template back.
    pub fn remove_resource_template(&mut self, uri_template: &str) -> bool {
        let removed = self.templates.remove(uri_template);
        if removed {
            self.list_changed(Feature::Resources);
        }
        removed
    }

    /// Registers a prompt.
    pub fn add_prompt(&mut self, prompt: Prompt) -> Result<(), RegisterError> {
        self.prompts.add(prompt)?;
        self.list_changed(Feature::Prompts);
        Ok(())
    }

    /// Takes a prompt back.
    pub fn remove_prompt(&mut self, name: &str) -> bool {
        let removed = self.prompts.remove(name);
        if removed {
            self.list_changed(Feature::Prompts);
        }
        removed
    }

    /// The name given to [`new`](Server::new).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The revision agreed in the last `initialize`; `None` before it.
    pub fn protocol_version(&self) -> Option<&'static str> {
        self.client.as_ref().map(|client| client.protocol_version)
    }

    /// JSON text of the client's capabilities. The CLI announces none (recording `sdk_mcp_tool`)
    /// and refuses `roots/list`, `sampling/createMessage` and `elicitation/create`.
    pub fn client_capabilities(&self) -> Option<&str> {
        self.client.as_ref()?.capabilities.as_deref()
    }

    /// JSON text of the client's `clientInfo`.
    pub fn client_info(&self) -> Option<&str> {
        self.client.as_ref()?.info.as_deref()
    }

    /// The entry of `initialize.sdkMcpServerManifests` for this server: with it the CLI sends no
    /// handshake (recording `sdk_mcp_manifest`). From here on the client counts as connected, so
    /// that later changes are told.
    pub fn manifest(&mut self) -> String {
        let initialize = self.initialize_result(PROTOCOL_VERSIONS[0]);
        let tools = self.tools.page("tools", None, usize::MAX);
        let tools = tools.unwrap_or_default();
        let mut out = String::with_capacity(initialize.len() + tools.len() + 48);
        out.push_str(r#"{"initializeResult":"#);
        out.push_str(&initialize);
        out.push_str(r#","toolsListResult":"#);
        out.push_str(&tools);
        out.push('}');
        out
    }

    /// Answers a call: the JSON-RPC response for the `mcp_message` request that brought it.
    pub fn finish(&mut self, call: CallId, result: &CallResult<'_>) -> Result<String, FinishError> {
        let Some(pending) = self.calls.remove(&call) else {
            return Err(self.why_not_open(call));
        };
        let subject = match &pending.subject {
            PendingSubject::Tool => Subject::Tool,
            PendingSubject::Prompt => Subject::Prompt,
            PendingSubject::Resource(uri) => Subject::Resource {
                uri,
                mime_type: self
                    .resources
                    .get(uri)
                    .and_then(|found| found.mime_type.as_deref()),
            },
        };
        Ok(result.response(&pending.rpc_id, subject))
    }

    /// Whether a call still waits for its answer.
    pub fn is_open(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    /// Ends the server: what was open is handed back, nothing more is sent, and further requests
    /// are refused. Idempotent.
    pub fn close(&mut self) -> Closed {
        self.closed = true;
        self.outgoing.clear();
        let calls: Vec<CallId> = core::mem::take(&mut self.calls).into_keys().collect();
        for call in &calls {
            self.remember_cancelled(*call);
        }
        Closed {
            calls,
            requests: core::mem::take(&mut self.requests),
        }
    }

    /// Goes on where `former`, of the same name, has been: its calls are answered here, and the
    /// client that it was connected to is this one's.
    pub(crate) fn take_over(&mut self, former: Server) {
        self.last_call = former.last_call;
        self.calls = former.calls;
        self.cancelled = former.cancelled;
        self.last_request = former.last_request;
        self.requests = former.requests;
        self.outgoing = former.outgoing;
        self.client = former.client;
        self.announced = former.announced;
        self.log_level = former.log_level;
    }

    fn why_not_open(&self, call: CallId) -> FinishError {
        if call.0 == 0 || call.0 > self.last_call {
            FinishError::Unknown
        } else if self.cancelled.contains(&call) {
            FinishError::Cancelled
        } else {
            FinishError::AlreadyAnswered
        }
    }

    fn remember_cancelled(&mut self, call: CallId) {
        if self.cancelled.len() == CANCELLED_REMEMBERED {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back(call);
    }

    /// The result of `initialize`; what it says counts as announced.
    fn initialize_result(&mut self, version: &str) -> String {
        let mut features = self.declared;
        if !(self.resources.is_empty() && self.templates.is_empty()) {
            features |= Feature::Resources as u8;
        }
        if !self.prompts.is_empty() {
            features |= Feature::Prompts as u8;
        }
        self.announced = features;

        let mut out = String::from(r#"{"protocolVersion":"#);
        push_string(&mut out, version);
        out.push_str(r#","capabilities":{"tools":{"listChanged":true}"#);
        for (feature, text) in [
            (Feature::Resources, r#","resources":{"listChanged":true}"#),
            (Feature::Prompts, r#","prompts":{"listChanged":true}"#),
            (Feature::Logging, r#","logging":{}"#),
        ] {
            if features & feature as u8 != 0 {
                out.push_str(text);
            }
        }
        out.push_str(r#"},"serverInfo":{"name":"#);
        push_string(&mut out, self.own_name.as_ref().unwrap_or(&self.name));
        out.push_str(r#","version":"#);
        push_string(&mut out, &self.version);
        out.push('}');
        if let Some(instructions) = &self.instructions {
            out.push_str(r#","instructions":"#);
            push_string(&mut out, instructions);
        }
        out.push('}');
        out
    }

    fn initialize(&mut self, params: Option<&str>) -> String {
        let wanted = ["protocolVersion", "capabilities", "clientInfo"];
        let [asked, capabilities, info] = params
            .and_then(|params| fields(params, wanted).ok())
            .unwrap_or_default();
        let asked = asked.and_then(string);
        let known = PROTOCOL_VERSIONS
            .iter()
            .find(|known| asked.as_deref() == Some(**known));
        let version = known.copied().unwrap_or(PROTOCOL_VERSIONS[0]);
        self.client = Some(Client {
            protocol_version: version,
            capabilities: capabilities.map(String::from),
            info: info.map(String::from),
        });
        self.initialize_result(version)
    }
}
