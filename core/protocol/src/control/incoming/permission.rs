//! `can_use_tool`: may this tool run? (`protocol.md §7`)

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::control::answer::PermissionUpdate;
use crate::control::JsonText;
use crate::json::elements;
use crate::view::view;

view! {
    /// A tool call that needs the host's permission.
    ///
    /// Several unlisted members come in some calls (`server_policy_ask_only`,
    /// `decision_reason_rule_source`, …): [`get`](CanUseTool::get) reaches them.
    pub struct CanUseTool {
        /// The tool's name; `mcp__server__tool` for an MCP tool.
        tool_name: Cow<'a, str>,
        /// The name to show.
        display_name: Option<Cow<'a, str>>,
        /// The tool's input, an object.
        input: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// A headline for the question.
        title: Option<Cow<'a, str>>,
        /// What the call does, for the person asked.
        description: Option<Cow<'a, str>>,
        /// Updates that would spare the question next time; see [`CanUseTool::suggestions`].
        permission_suggestions: Option<JsonText<'a>>,
        /// The path outside the working directories that made the call need permission.
        blocked_path: Option<Cow<'a, str>>,
        /// Why the CLI asks; may hold terminal escapes.
        decision_reason: Option<Cow<'a, str>>,
        /// `rule`, `hook`, `workingDir`, `safetyCheck`, `other`, …
        decision_reason_type: Option<Cow<'a, str>>,
        /// The subagent that makes the call.
        agent_id: Option<Cow<'a, str>>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
        /// Whether all safety checks of the call may be decided by the classifier.
        classifier_approvable: Option<bool>,
        /// Offer no permanent permission.
        suppress_always_allow_rule: Option<bool>,
        /// The person has to answer on the tool's own card (ExitPlanMode, AskUserQuestion).
        requires_user_interaction: Option<bool>,
        /// The ask rule that forced the question.
        matched_ask_rule: Option<MatchedAskRule<'a>>,
        /// Do not preselect "allow".
        default_to_no: Option<bool>,
    }
}

view! {
    /// The MCP server a tool belongs to.
    pub struct McpServerProvenance {
        /// The server's name.
        name: Cow<'a, str>,
        /// Who configured it: `sdk`, `plugin`, `user`, `project`, … (open set).
        source: Cow<'a, str>,
    }
}

view! {
    /// A `permissions.ask` rule that asks for a person.
    pub struct MatchedAskRule {
        /// The settings source it stands in.
        source: Cow<'a, str>,
        /// The rule's tool.
        tool_name: Cow<'a, str>,
        /// The rule's content.
        rule_content: Option<Cow<'a, str>>,
    }
}

impl CanUseTool<'_> {
    /// The suggestions, typed. What is no permission update at all is left out; updates of a type
    /// not known here stay raw.
    pub fn suggestions(&self) -> Vec<PermissionUpdate> {
        let mut updates = Vec::new();
        if let Some(list) = self.permission_suggestions {
            let read = elements(list.as_str(), |update| {
                updates.extend(PermissionUpdate::from_json(update));
            });
            if read.is_err() {
                updates.clear();
            }
        }
        updates
    }
}
