"""A method for every control request of the CLI (`protocol.md §8`).

Made by tools/controls.py from the catalogue of the core; not to be edited.
"""

from collections.abc import Mapping
from typing import Any


class Unset:
    """Stands for a parameter that was not given, where `None` has a meaning of its own."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def payload(
    always: dict[str, Any],
    optional: Mapping[str, Any],
    nullable: Mapping[str, Any],
) -> dict[str, Any]:
    """The fields of a request: those that are there, those that are not `None`, and those that were
    given."""
    for name, value in optional.items():
        if value is not None:
            always[name] = value
    for name, value in nullable.items():
        if value is not UNSET:
            always[name] = value
    return always


class AsyncControls:
    """Each sends a request, awaits the answer and gives its payload."""

    async def _control(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def apply_flag_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Changes settings for this session only.

        Args:
            settings: The settings to set.
        """
        return await self._control("apply_flag_settings", payload({"settings": settings}, {}, {}))

    async def background_tasks(self, tool_use_id: str | None = None) -> dict[str, Any]:
        """Sends running commands and subagents to the background.

        Args:
            tool_use_id: Only the one this tool call started.
        """
        return await self._control(
            "background_tasks", payload({}, {"tool_use_id": tool_use_id}, {})
        )

    async def cancel_async_message(self, message_uuid: str) -> dict[str, Any]:
        """Drops a prompt that still waits.

        Args:
            message_uuid: The prompt's uuid.
        """
        return await self._control(
            "cancel_async_message", payload({"message_uuid": message_uuid}, {}, {})
        )

    async def channel_enable(self, server_name: str) -> dict[str, Any]:
        """Lets an MCP server send messages into the session.

        Args:
            server_name: The server.
        """
        return await self._control("channel_enable", payload({"serverName": server_name}, {}, {}))

    async def claim_session(
        self,
        cwd: str,
        *,
        additional_directories: list[str] | None = None,
        agents: dict[str, Any] | None = None,
        append_system_prompt: str | None = None,
        env: dict[str, str] | None = None,
        include_initialize: bool | None = None,
        permission_mode: str | None = None,
        sdk_mcp_servers: list[str] | None = None,
        system_prompt: list[str] | None = None,
        title: str | None = None,
        workspace_trust: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Gives a process started with `--await-claim` its session.

        Args:
            cwd: The working directory.
            additional_directories: More working directories.
            agents: Subagents by name.
            append_system_prompt: Text after the CLI's own system prompt.
            env: Environment variables.
            include_initialize: Answers with what `initialize` answers.
            permission_mode: The permission mode.
            sdk_mcp_servers: Names of in-process MCP servers.
            system_prompt: The system prompt, in parts.
            title: The session's title.
            workspace_trust: Whether the directory is trusted: {accepted, directory}.
        """
        return await self._control(
            "claim_session",
            payload(
                {"cwd": cwd},
                {
                    "additional_directories": additional_directories,
                    "agents": agents,
                    "append_system_prompt": append_system_prompt,
                    "env": env,
                    "include_initialize": include_initialize,
                    "permission_mode": permission_mode,
                    "sdk_mcp_servers": sdk_mcp_servers,
                    "system_prompt": system_prompt,
                    "title": title,
                    "workspace_trust": workspace_trust,
                },
                {},
            ),
        )

    async def claude_authenticate(
        self, *, console_profile: bool | None = None, login_with_claude_ai: bool | None = None
    ) -> dict[str, Any]:
        """Starts the account's sign-in.

        Args:
            console_profile: Signs in with a console profile.
            login_with_claude_ai: By claude.ai (the default), or by the console.
        """
        return await self._control(
            "claude_authenticate",
            payload(
                {},
                {"consoleProfile": console_profile, "loginWithClaudeAi": login_with_claude_ai},
                {},
            ),
        )

    async def claude_oauth_callback(self, authorization_code: str, state: str) -> dict[str, Any]:
        """Hands over the sign-in's code.

        Args:
            authorization_code: The code.
            state: The sign-in's state.
        """
        return await self._control(
            "claude_oauth_callback",
            payload({"authorizationCode": authorization_code, "state": state}, {}, {}),
        )

    async def claude_oauth_wait_for_completion(self) -> dict[str, Any]:
        """Waits for the sign-in's end."""
        return await self._control("claude_oauth_wait_for_completion", {})

    async def end_session(self, reason: str | None = None) -> dict[str, Any]:
        """Ends the session: acknowledged, then the process exits 0 though its stdin is open.

        Args:
            reason: Why.
        """
        return await self._control("end_session", payload({}, {"reason": reason}, {}))

    async def export_conversation(self) -> dict[str, Any]:
        """Exports the conversation as text."""
        return await self._control("export_conversation", {})

    async def file_suggestions(self, query: str) -> dict[str, Any]:
        """Suggests files for the beginning of a path.

        Args:
            query: The beginning.
        """
        return await self._control("file_suggestions", payload({"query": query}, {}, {}))

    async def generate_session_title(
        self, description: str, *, persist: bool | None = None
    ) -> dict[str, Any]:
        """Makes a title from a description.

        Args:
            description: What the session is about.
            persist: Keeps it as the session's title.
        """
        return await self._control(
            "generate_session_title",
            payload({"description": description}, {"persist": persist}, {}),
        )

    async def get_binary_version(self) -> dict[str, Any]:
        """Tells the CLI's version."""
        return await self._control("get_binary_version", {})

    async def get_chrome_browsers(self) -> dict[str, Any]:
        """Lists the browsers connected."""
        return await self._control("get_chrome_browsers", {})

    async def get_chrome_dialog(self) -> dict[str, Any]:
        """Tells what `/chrome` shows."""
        return await self._control("get_chrome_dialog", {})

    async def get_hooks_listing(self) -> dict[str, Any]:
        """Lists the hooks of settings, session and plugins."""
        return await self._control("get_hooks_listing", {})

    async def get_memory_dialog(self) -> dict[str, Any]:
        """Tells what `/memory` shows."""
        return await self._control("get_memory_dialog", {})

    async def get_plan(self) -> dict[str, Any]:
        """Tells the plan of plan mode."""
        return await self._control("get_plan", {})

    async def get_sandbox_dialog(self, lists: bool | None = None) -> dict[str, Any]:
        """Tells what `/sandbox` shows.

        Args:
            lists: With the lists.
        """
        return await self._control("get_sandbox_dialog", payload({}, {"lists": lists}, {}))

    async def get_session_cost(self) -> dict[str, Any]:
        """Tells the session's cost in words."""
        return await self._control("get_session_cost", {})

    async def get_settings(self) -> dict[str, Any]:
        """Tells the settings in force and each source's own."""
        return await self._control("get_settings", {})

    async def get_skills_dialog(self) -> dict[str, Any]:
        """Tells what `/skills` shows."""
        return await self._control("get_skills_dialog", {})

    async def get_status(self) -> dict[str, Any]:
        """Tells what `/status` shows."""
        return await self._control("get_status", {})

    async def get_task_output(self, task_id: str) -> dict[str, Any]:
        """Reads the end of a background task's output.

        Args:
            task_id: The task.
        """
        return await self._control("get_task_output", payload({"task_id": task_id}, {}, {}))

    async def get_usage(self, skip_behaviors: bool | None = None) -> dict[str, Any]:
        """Tells the session's totals and the account's rate limits.

        Args:
            skip_behaviors: Leaves out the scan of the transcripts.
        """
        return await self._control("get_usage", payload({}, {"skip_behaviors": skip_behaviors}, {}))

    async def get_workspace_diff(self, uncommitted_hunks: bool | None = None) -> dict[str, Any]:
        """Tells what the working directory's changes are.

        Args:
            uncommitted_hunks: With the hunks of changes not committed.
        """
        return await self._control(
            "get_workspace_diff", payload({}, {"uncommitted_hunks": uncommitted_hunks}, {})
        )

    async def list_models(self) -> dict[str, Any]:
        """Lists the models to choose from."""
        return await self._control("list_models", {})

    async def list_permission_rules(self) -> dict[str, Any]:
        """Lists the permission rules in force."""
        return await self._control("list_permission_rules", {})

    async def mcp_authenticate(
        self,
        server_name: str,
        *,
        redirect_uri: str | None = None,
        redirect_uri_only: bool | None = None,
    ) -> dict[str, Any]:
        """Starts an MCP server's sign-in.

        Args:
            server_name: The server.
            redirect_uri: Where the browser comes back to.
            redirect_uri_only: Takes the answer through `redirectUri` only.
        """
        return await self._control(
            "mcp_authenticate",
            payload(
                {"serverName": server_name},
                {"redirectUri": redirect_uri, "redirectUriOnly": redirect_uri_only},
                {},
            ),
        )

    async def mcp_call(
        self,
        tool: str,
        *,
        arguments: dict[str, Any] | None = None,
        check_permissions: bool | None = None,
        expires_at: str | None = None,
        input_files: list[Any] | None = None,
        output_files: list[Any] | None = None,
        result_not_for_model: bool | None = None,
        soft_error_result: bool | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        """Calls a tool of an external MCP server without the model. A failing tool is an error answer
        unless `soft_error_result` is set.

        Args:
            tool: The tool: `mcp__server__tool`.
            arguments: Its arguments.
            check_permissions: Decides permission as for a call of the model's.
            expires_at: A deadline, RFC 3339; makes it a staged call.
            input_files: Files staged for the tool: {name, lane_path}.
            output_files: Files the tool writes: {name, lane_path, if_match?}.
            result_not_for_model: The result goes to a program: content blocks come as the server sent them.
            soft_error_result: Gives the tool's own error result as a success with `isError`.
            timeout_ms: The time limit in milliseconds, 1000 to 600000; makes it a staged call.
        """
        return await self._control(
            "mcp_call",
            payload(
                {"tool": tool},
                {
                    "arguments": arguments,
                    "check_permissions": check_permissions,
                    "expires_at": expires_at,
                    "input_files": input_files,
                    "output_files": output_files,
                    "result_not_for_model": result_not_for_model,
                    "soft_error_result": soft_error_result,
                    "timeout_ms": timeout_ms,
                },
                {},
            ),
        )

    async def mcp_clear_auth(self, server_name: str) -> dict[str, Any]:
        """Forgets an MCP server's sign-in.

        Args:
            server_name: The server.
        """
        return await self._control("mcp_clear_auth", payload({"serverName": server_name}, {}, {}))

    async def mcp_oauth_callback_url(self, callback_url: str, server_name: str) -> dict[str, Any]:
        """Hands over the address the browser came back to.

        Args:
            callback_url: The whole address, with its code.
            server_name: The server.
        """
        return await self._control(
            "mcp_oauth_callback_url",
            payload({"callbackUrl": callback_url, "serverName": server_name}, {}, {}),
        )

    async def mcp_read_resource(self, server_name: str, uri: str) -> dict[str, Any]:
        """Reads a `ui://` resource of an external MCP server.

        Args:
            server_name: The server.
            uri: The resource; `ui://` only.
        """
        return await self._control(
            "mcp_read_resource", payload({"serverName": server_name, "uri": uri}, {}, {})
        )

    async def mcp_reconnect(self, server_name: str) -> dict[str, Any]:
        """Connects a server again; refused for in-process ones.

        Args:
            server_name: The server.
        """
        return await self._control("mcp_reconnect", payload({"serverName": server_name}, {}, {}))

    async def mcp_set_servers(self, servers: dict[str, Any]) -> dict[str, Any]:
        """Replaces all dynamic MCP servers, the in-process ones of `initialize` too: leave those in.

        Args:
            servers: The servers by name; a stdio server needs `args`.
        """
        return await self._control("mcp_set_servers", payload({"servers": servers}, {}, {}))

    async def mcp_status(self, live_reply: bool | None = None) -> dict[str, Any]:
        """Tells the state of the MCP servers.

        Args:
            live_reply: For cloud sessions: an answer that is not stored.
        """
        return await self._control("mcp_status", payload({}, {"liveReply": live_reply}, {}))

    async def mcp_toggle(self, enabled: bool, server_name: str) -> dict[str, Any]:
        """Turns a server on or off. 2.1.197 cannot turn an in-process one on.

        Args:
            enabled: On or off.
            server_name: The server.
        """
        return await self._control(
            "mcp_toggle", payload({"enabled": enabled, "serverName": server_name}, {}, {})
        )

    async def message_rated(
        self,
        message_uuid: str,
        sentiment: str,
        *,
        cleared: bool | None = None,
        surface: str | None = None,
    ) -> dict[str, Any]:
        """Rates a message.

        Args:
            message_uuid: The message.
            sentiment: The rating.
            cleared: Takes the rating back.
            surface: What was rated.
        """
        return await self._control(
            "message_rated",
            payload(
                {"messageUuid": message_uuid, "sentiment": sentiment},
                {"cleared": cleared, "surface": surface},
                {},
            ),
        )

    async def prompt_draft_activity(self) -> dict[str, Any]:
        """Says that the user is writing."""
        return await self._control("prompt_draft_activity", {})

    async def read_file(
        self, path: str, *, encoding: str | None = None, max_bytes: int | None = None
    ) -> dict[str, Any]:
        """Reads a file as the Read tool may. A missing file is 'read denied'.

        Args:
            path: The file.
            encoding: `utf-8` (the default) or `base64`.
            max_bytes: How much of it at most.
        """
        return await self._control(
            "read_file", payload({"path": path}, {"encoding": encoding, "max_bytes": max_bytes}, {})
        )

    async def register_repo_root(
        self,
        directory: str,
        *,
        reload_claude_md: bool | None = None,
        reload_plugins: bool | None = None,
        reload_skills: bool | None = None,
    ) -> dict[str, Any]:
        """Adds a working directory, strictly inside one there is.

        Args:
            directory: The directory.
            reload_claude_md: Reads CLAUDE.md again.
            reload_plugins: Loads plugins again.
            reload_skills: Loads skills again.
        """
        return await self._control(
            "register_repo_root",
            payload(
                {"directory": directory},
                {
                    "reload_claude_md": reload_claude_md,
                    "reload_plugins": reload_plugins,
                    "reload_skills": reload_skills,
                },
                {},
            ),
        )

    async def reload_connectors(self) -> dict[str, Any]:
        """Loads the account's connectors again."""
        return await self._control("reload_connectors", {})

    async def reload_output_styles(self) -> dict[str, Any]:
        """Loads the output styles again."""
        return await self._control("reload_output_styles", {})

    async def reload_plugins(
        self,
        *,
        add_plugins: list[Any] | None = None,
        hold_on_cache_impact: bool | None = None,
        refuse_if_busy: bool | None = None,
    ) -> dict[str, Any]:
        """Loads the plugins again.

        Args:
            add_plugins: Plugins to load as well.
            hold_on_cache_impact: Holds it back when the tools would change under a warm prompt cache.
            refuse_if_busy: Refuses (`reload_plugins_busy`) while the session works.
        """
        return await self._control(
            "reload_plugins",
            payload(
                {},
                {
                    "add_plugins": add_plugins,
                    "hold_on_cache_impact": hold_on_cache_impact,
                    "refuse_if_busy": refuse_if_busy,
                },
                {},
            ),
        )

    async def reload_skills(self) -> dict[str, Any]:
        """Loads the skills again."""
        return await self._control("reload_skills", {})

    async def remote_control(
        self,
        enabled: bool,
        *,
        keep_session_on_exit: bool | None = None,
        name: str | None = None,
        reattach_session_id: str | None = None,
    ) -> dict[str, Any]:
        """Turns remote control on or off.

        Args:
            enabled: On or off.
            keep_session_on_exit: Keeps the session when the process ends.
            name: The session's name there.
            reattach_session_id: A session to go on with.
        """
        return await self._control(
            "remote_control",
            payload(
                {"enabled": enabled},
                {
                    "keep_session_on_exit": keep_session_on_exit,
                    "name": name,
                    "reattach_session_id": reattach_session_id,
                },
                {},
            ),
        )

    async def rename_session(
        self, title: str, *, session_id: str | None = None, source: str | None = None
    ) -> dict[str, Any]:
        """Names the session; a `session_title_changed` message follows.

        Args:
            title: The title.
            session_id: Refuses when the process is in another session by now.
            source: Who chose it: `host`, or `remote` (the default).
        """
        return await self._control(
            "rename_session",
            payload({"title": title}, {"session_id": session_id, "source": source}, {}),
        )

    async def rewind_conversation(
        self,
        target_message_uuid: str,
        *,
        allow_assistant_target: bool | None = None,
        allow_summarized_target: bool | None = None,
        last_seen_user_message_uuid: str | None = None,
    ) -> dict[str, Any]:
        """Cuts the conversation before a message.

        Args:
            target_message_uuid: The message.
            allow_assistant_target: Allows an assistant message.
            allow_summarized_target: Allows a message that a compaction summarised.
            last_seen_user_message_uuid: The newest user message the host knows.
        """
        return await self._control(
            "rewind_conversation",
            payload(
                {"target_message_uuid": target_message_uuid},
                {
                    "allow_assistant_target": allow_assistant_target,
                    "allow_summarized_target": allow_summarized_target,
                    "last_seen_user_message_uuid": last_seen_user_message_uuid,
                },
                {},
            ),
        )

    async def seed_read_state(self, mtime: float, path: str) -> dict[str, Any]:
        """Says that the model has seen a file, so that it may edit it.

        Args:
            mtime: Its modification time then, in milliseconds.
            path: The file.
        """
        return await self._control(
            "seed_read_state", payload({"mtime": mtime, "path": path}, {}, {})
        )

    async def select_chrome_browser(self, device_id: str) -> dict[str, Any]:
        """Chooses a browser.

        Args:
            device_id: The browser.
        """
        return await self._control(
            "select_chrome_browser", payload({"device_id": device_id}, {}, {})
        )

    async def set_chrome_browser_hints(
        self,
        local_device_ids: list[str],
        *,
        host_platform: str | None = None,
        preferred_device_id: str | None | Unset = UNSET,
    ) -> dict[str, Any]:
        """Says which browsers are near; in remote sessions only.

        Args:
            local_device_ids: The browsers on the host's machine.
            host_platform: The host's system.
            preferred_device_id: The browser to prefer; null for none.
        """
        return await self._control(
            "set_chrome_browser_hints",
            payload(
                {"localDeviceIds": local_device_ids},
                {"hostPlatform": host_platform},
                {"preferredDeviceId": preferred_device_id},
            ),
        )

    async def set_color(self, color: str) -> dict[str, Any]:
        """Sets the session's colour; listed, but the CLI answers that it is unsupported.

        Args:
            color: A colour's name, or `default`.
        """
        return await self._control("set_color", payload({"color": color}, {}, {}))

    async def set_cwd(
        self, path: str, *, trust_accepted: bool | None = None, trusted_directory: str | None = None
    ) -> dict[str, Any]:
        """Changes the working directory. A directory not trusted yet is answered `needs_trust`.

        Args:
            path: The directory.
            trust_accepted: Whether the user trusts it.
            trusted_directory: The directory the trust is for.
        """
        return await self._control(
            "set_cwd",
            payload(
                {"path": path},
                {"trust_accepted": trust_accepted, "trusted_directory": trusted_directory},
                {},
            ),
        )

    async def set_has_subscribers(self, has_subscribers: bool | None) -> dict[str, Any]:
        """Says whether anybody is watching; matters only where the CLI joins stream events.

        Args:
            has_subscribers: Null is 'not known' and counts as true.
        """
        return await self._control(
            "set_has_subscribers", payload({"has_subscribers": has_subscribers}, {}, {})
        )

    async def set_max_thinking_tokens(
        self,
        *,
        max_thinking_tokens: int | None | Unset = UNSET,
        thinking_display: str | None | Unset = UNSET,
    ) -> dict[str, Any]:
        """Changes how much the model thinks.

        Args:
            max_thinking_tokens: The budget in tokens; null resets it, absent leaves it.
            thinking_display: How thinking is shown; null resets it, absent leaves it.
        """
        return await self._control(
            "set_max_thinking_tokens",
            payload(
                {},
                {},
                {"max_thinking_tokens": max_thinking_tokens, "thinking_display": thinking_display},
            ),
        )

    async def set_mcp_permission_mode_override(
        self, mode: str | None, server_name: str, *, ask_for_tools: list[Any] | None = None
    ) -> dict[str, Any]:
        """Overrides the permission mode for one MCP server's tools.

        Args:
            mode: The mode; null ends the override.
            server_name: The server.
            ask_for_tools: Tools that are asked for all the same: {name}.
        """
        return await self._control(
            "set_mcp_permission_mode_override",
            payload({"mode": mode, "serverName": server_name}, {"askForTools": ask_for_tools}, {}),
        )

    async def set_proactivity_level(self, level: str) -> dict[str, Any]:
        """Changes how much the session does unasked.

        Args:
            level: The level.
        """
        return await self._control("set_proactivity_level", payload({"level": level}, {}, {}))

    async def set_prompt_suggestions_paused(self, paused: bool) -> dict[str, Any]:
        """Holds prompt suggestions back, or lets them come again.

        Args:
            paused: Whether they are held back.
        """
        return await self._control(
            "set_prompt_suggestions_paused", payload({"paused": paused}, {}, {})
        )

    async def side_question(
        self, question: str, *, history: list[Any] | None = None
    ) -> dict[str, Any]:
        """Asks the model something beside the conversation.

        Args:
            question: The question.
            history: Questions before it: {question, response}.
        """
        return await self._control(
            "side_question", payload({"question": question}, {"history": history}, {})
        )

    async def submit_feedback(
        self,
        description: str,
        *,
        area: str | None = None,
        attach_transcript: bool | None = None,
        draft_id: str | None = None,
        save_locally: bool | None = None,
        surface: str | None = None,
        title: str | None = None,
        type: str | None = None,
    ) -> dict[str, Any]:
        """Sends feedback to Anthropic.

        Args:
            description: What the user says.
            area: What it is about.
            attach_transcript: Sends the transcript with it.
            draft_id: A draft it finishes.
            save_locally: Keeps it on this machine.
            surface: Where it was written.
            title: A headline.
            type: What kind of feedback.
        """
        return await self._control(
            "submit_feedback",
            payload(
                {"description": description},
                {
                    "area": area,
                    "attach_transcript": attach_transcript,
                    "draft_id": draft_id,
                    "save_locally": save_locally,
                    "surface": surface,
                    "title": title,
                    "type": type,
                },
                {},
            ),
        )

    async def submit_survey_feedback(
        self,
        appearance_id: str,
        description: str,
        survey_response: str,
        survey_type: str,
        *,
        surface: str | None = None,
    ) -> dict[str, Any]:
        """Answers a survey.

        Args:
            appearance_id: The survey's showing.
            description: What the user says.
            survey_response: The rating.
            survey_type: Which survey.
            surface: Where it was shown.
        """
        return await self._control(
            "submit_survey_feedback",
            payload(
                {
                    "appearance_id": appearance_id,
                    "description": description,
                    "survey_response": survey_response,
                    "survey_type": survey_type,
                },
                {"surface": surface},
                {},
            ),
        )

    async def ultrareview_launch(
        self, *, args: str | None = None, confirm: bool | None = None
    ) -> dict[str, Any]:
        """Starts a review in the cloud.

        Args:
            args: What the slash command would take.
            confirm: The user has agreed.
        """
        return await self._control(
            "ultrareview_launch", payload({}, {"args": args, "confirm": confirm}, {})
        )

    async def update_settings(self, settings: dict[str, Any], source: str) -> dict[str, Any]:
        """Writes settings to a file.

        Args:
            settings: The settings to set.
            source: Which file; `userSettings` takes `effortLevel` only.
        """
        return await self._control(
            "update_settings", payload({"settings": settings, "source": source}, {}, {})
        )


class Controls:
    """Each sends a request, waits for the answer and gives its payload."""

    def _control(self, subtype: str, fields: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def apply_flag_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Changes settings for this session only.

        Args:
            settings: The settings to set.
        """
        return self._control("apply_flag_settings", payload({"settings": settings}, {}, {}))

    def background_tasks(self, tool_use_id: str | None = None) -> dict[str, Any]:
        """Sends running commands and subagents to the background.

        Args:
            tool_use_id: Only the one this tool call started.
        """
        return self._control("background_tasks", payload({}, {"tool_use_id": tool_use_id}, {}))

    def cancel_async_message(self, message_uuid: str) -> dict[str, Any]:
        """Drops a prompt that still waits.

        Args:
            message_uuid: The prompt's uuid.
        """
        return self._control(
            "cancel_async_message", payload({"message_uuid": message_uuid}, {}, {})
        )

    def channel_enable(self, server_name: str) -> dict[str, Any]:
        """Lets an MCP server send messages into the session.

        Args:
            server_name: The server.
        """
        return self._control("channel_enable", payload({"serverName": server_name}, {}, {}))

    def claim_session(
        self,
        cwd: str,
        *,
        additional_directories: list[str] | None = None,
        agents: dict[str, Any] | None = None,
        append_system_prompt: str | None = None,
        env: dict[str, str] | None = None,
        include_initialize: bool | None = None,
        permission_mode: str | None = None,
        sdk_mcp_servers: list[str] | None = None,
        system_prompt: list[str] | None = None,
        title: str | None = None,
        workspace_trust: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Gives a process started with `--await-claim` its session.

        Args:
            cwd: The working directory.
            additional_directories: More working directories.
            agents: Subagents by name.
            append_system_prompt: Text after the CLI's own system prompt.
            env: Environment variables.
            include_initialize: Answers with what `initialize` answers.
            permission_mode: The permission mode.
            sdk_mcp_servers: Names of in-process MCP servers.
            system_prompt: The system prompt, in parts.
            title: The session's title.
            workspace_trust: Whether the directory is trusted: {accepted, directory}.
        """
        return self._control(
            "claim_session",
            payload(
                {"cwd": cwd},
                {
                    "additional_directories": additional_directories,
                    "agents": agents,
                    "append_system_prompt": append_system_prompt,
                    "env": env,
                    "include_initialize": include_initialize,
                    "permission_mode": permission_mode,
                    "sdk_mcp_servers": sdk_mcp_servers,
                    "system_prompt": system_prompt,
                    "title": title,
                    "workspace_trust": workspace_trust,
                },
                {},
            ),
        )

    def claude_authenticate(
        self, *, console_profile: bool | None = None, login_with_claude_ai: bool | None = None
    ) -> dict[str, Any]:
        """Starts the account's sign-in.

        Args:
            console_profile: Signs in with a console profile.
            login_with_claude_ai: By claude.ai (the default), or by the console.
        """
        return self._control(
            "claude_authenticate",
            payload(
                {},
                {"consoleProfile": console_profile, "loginWithClaudeAi": login_with_claude_ai},
                {},
            ),
        )

    def claude_oauth_callback(self, authorization_code: str, state: str) -> dict[str, Any]:
        """Hands over the sign-in's code.

        Args:
            authorization_code: The code.
            state: The sign-in's state.
        """
        return self._control(
            "claude_oauth_callback",
            payload({"authorizationCode": authorization_code, "state": state}, {}, {}),
        )

    def claude_oauth_wait_for_completion(self) -> dict[str, Any]:
        """Waits for the sign-in's end."""
        return self._control("claude_oauth_wait_for_completion", {})

    def end_session(self, reason: str | None = None) -> dict[str, Any]:
        """Ends the session: acknowledged, then the process exits 0 though its stdin is open.

        Args:
            reason: Why.
        """
        return self._control("end_session", payload({}, {"reason": reason}, {}))

    def export_conversation(self) -> dict[str, Any]:
        """Exports the conversation as text."""
        return self._control("export_conversation", {})

    def file_suggestions(self, query: str) -> dict[str, Any]:
        """Suggests files for the beginning of a path.

        Args:
            query: The beginning.
        """
        return self._control("file_suggestions", payload({"query": query}, {}, {}))

    def generate_session_title(
        self, description: str, *, persist: bool | None = None
    ) -> dict[str, Any]:
        """Makes a title from a description.

        Args:
            description: What the session is about.
            persist: Keeps it as the session's title.
        """
        return self._control(
            "generate_session_title",
            payload({"description": description}, {"persist": persist}, {}),
        )

    def get_binary_version(self) -> dict[str, Any]:
        """Tells the CLI's version."""
        return self._control("get_binary_version", {})

    def get_chrome_browsers(self) -> dict[str, Any]:
        """Lists the browsers connected."""
        return self._control("get_chrome_browsers", {})

    def get_chrome_dialog(self) -> dict[str, Any]:
        """Tells what `/chrome` shows."""
        return self._control("get_chrome_dialog", {})

    def get_context_usage(self, detail: str | None = None) -> dict[str, Any]:
        """Tells what fills the context window.

        Args:
            detail: `full` (the default) counts by the API, `summary` estimates.
        """
        return self._control("get_context_usage", payload({}, {"detail": detail}, {}))

    def get_hooks_listing(self) -> dict[str, Any]:
        """Lists the hooks of settings, session and plugins."""
        return self._control("get_hooks_listing", {})

    def get_memory_dialog(self) -> dict[str, Any]:
        """Tells what `/memory` shows."""
        return self._control("get_memory_dialog", {})

    def get_plan(self) -> dict[str, Any]:
        """Tells the plan of plan mode."""
        return self._control("get_plan", {})

    def get_sandbox_dialog(self, lists: bool | None = None) -> dict[str, Any]:
        """Tells what `/sandbox` shows.

        Args:
            lists: With the lists.
        """
        return self._control("get_sandbox_dialog", payload({}, {"lists": lists}, {}))

    def get_session_cost(self) -> dict[str, Any]:
        """Tells the session's cost in words."""
        return self._control("get_session_cost", {})

    def get_settings(self) -> dict[str, Any]:
        """Tells the settings in force and each source's own."""
        return self._control("get_settings", {})

    def get_skills_dialog(self) -> dict[str, Any]:
        """Tells what `/skills` shows."""
        return self._control("get_skills_dialog", {})

    def get_status(self) -> dict[str, Any]:
        """Tells what `/status` shows."""
        return self._control("get_status", {})

    def get_task_output(self, task_id: str) -> dict[str, Any]:
        """Reads the end of a background task's output.

        Args:
            task_id: The task.
        """
        return self._control("get_task_output", payload({"task_id": task_id}, {}, {}))

    def get_usage(self, skip_behaviors: bool | None = None) -> dict[str, Any]:
        """Tells the session's totals and the account's rate limits.

        Args:
            skip_behaviors: Leaves out the scan of the transcripts.
        """
        return self._control("get_usage", payload({}, {"skip_behaviors": skip_behaviors}, {}))

    def get_workspace_diff(self, uncommitted_hunks: bool | None = None) -> dict[str, Any]:
        """Tells what the working directory's changes are.

        Args:
            uncommitted_hunks: With the hunks of changes not committed.
        """
        return self._control(
            "get_workspace_diff", payload({}, {"uncommitted_hunks": uncommitted_hunks}, {})
        )

    def interrupt(self, cancel_queued: bool | None = None) -> dict[str, Any]:
        """Ends the running turn. The answer comes before the turn's result; when none runs, there is
        no result. Waiting prompts run next unless they are cancelled too.

        Args:
            cancel_queued: Drops the waiting prompts; 2.1.197 ignores it.
        """
        return self._control("interrupt", payload({}, {"cancel_queued": cancel_queued}, {}))

    def list_models(self) -> dict[str, Any]:
        """Lists the models to choose from."""
        return self._control("list_models", {})

    def list_permission_rules(self) -> dict[str, Any]:
        """Lists the permission rules in force."""
        return self._control("list_permission_rules", {})

    def mcp_authenticate(
        self,
        server_name: str,
        *,
        redirect_uri: str | None = None,
        redirect_uri_only: bool | None = None,
    ) -> dict[str, Any]:
        """Starts an MCP server's sign-in.

        Args:
            server_name: The server.
            redirect_uri: Where the browser comes back to.
            redirect_uri_only: Takes the answer through `redirectUri` only.
        """
        return self._control(
            "mcp_authenticate",
            payload(
                {"serverName": server_name},
                {"redirectUri": redirect_uri, "redirectUriOnly": redirect_uri_only},
                {},
            ),
        )

    def mcp_call(
        self,
        tool: str,
        *,
        arguments: dict[str, Any] | None = None,
        check_permissions: bool | None = None,
        expires_at: str | None = None,
        input_files: list[Any] | None = None,
        output_files: list[Any] | None = None,
        result_not_for_model: bool | None = None,
        soft_error_result: bool | None = None,
        timeout_ms: int | None = None,
    ) -> dict[str, Any]:
        """Calls a tool of an external MCP server without the model. A failing tool is an error answer
        unless `soft_error_result` is set.

        Args:
            tool: The tool: `mcp__server__tool`.
            arguments: Its arguments.
            check_permissions: Decides permission as for a call of the model's.
            expires_at: A deadline, RFC 3339; makes it a staged call.
            input_files: Files staged for the tool: {name, lane_path}.
            output_files: Files the tool writes: {name, lane_path, if_match?}.
            result_not_for_model: The result goes to a program: content blocks come as the server sent them.
            soft_error_result: Gives the tool's own error result as a success with `isError`.
            timeout_ms: The time limit in milliseconds, 1000 to 600000; makes it a staged call.
        """
        return self._control(
            "mcp_call",
            payload(
                {"tool": tool},
                {
                    "arguments": arguments,
                    "check_permissions": check_permissions,
                    "expires_at": expires_at,
                    "input_files": input_files,
                    "output_files": output_files,
                    "result_not_for_model": result_not_for_model,
                    "soft_error_result": soft_error_result,
                    "timeout_ms": timeout_ms,
                },
                {},
            ),
        )

    def mcp_clear_auth(self, server_name: str) -> dict[str, Any]:
        """Forgets an MCP server's sign-in.

        Args:
            server_name: The server.
        """
        return self._control("mcp_clear_auth", payload({"serverName": server_name}, {}, {}))

    def mcp_oauth_callback_url(self, callback_url: str, server_name: str) -> dict[str, Any]:
        """Hands over the address the browser came back to.

        Args:
            callback_url: The whole address, with its code.
            server_name: The server.
        """
        return self._control(
            "mcp_oauth_callback_url",
            payload({"callbackUrl": callback_url, "serverName": server_name}, {}, {}),
        )

    def mcp_read_resource(self, server_name: str, uri: str) -> dict[str, Any]:
        """Reads a `ui://` resource of an external MCP server.

        Args:
            server_name: The server.
            uri: The resource; `ui://` only.
        """
        return self._control(
            "mcp_read_resource", payload({"serverName": server_name, "uri": uri}, {}, {})
        )

    def mcp_reconnect(self, server_name: str) -> dict[str, Any]:
        """Connects a server again; refused for in-process ones.

        Args:
            server_name: The server.
        """
        return self._control("mcp_reconnect", payload({"serverName": server_name}, {}, {}))

    def mcp_set_servers(self, servers: dict[str, Any]) -> dict[str, Any]:
        """Replaces all dynamic MCP servers, the in-process ones of `initialize` too: leave those in.

        Args:
            servers: The servers by name; a stdio server needs `args`.
        """
        return self._control("mcp_set_servers", payload({"servers": servers}, {}, {}))

    def mcp_status(self, live_reply: bool | None = None) -> dict[str, Any]:
        """Tells the state of the MCP servers.

        Args:
            live_reply: For cloud sessions: an answer that is not stored.
        """
        return self._control("mcp_status", payload({}, {"liveReply": live_reply}, {}))

    def mcp_toggle(self, enabled: bool, server_name: str) -> dict[str, Any]:
        """Turns a server on or off. 2.1.197 cannot turn an in-process one on.

        Args:
            enabled: On or off.
            server_name: The server.
        """
        return self._control(
            "mcp_toggle", payload({"enabled": enabled, "serverName": server_name}, {}, {})
        )

    def message_rated(
        self,
        message_uuid: str,
        sentiment: str,
        *,
        cleared: bool | None = None,
        surface: str | None = None,
    ) -> dict[str, Any]:
        """Rates a message.

        Args:
            message_uuid: The message.
            sentiment: The rating.
            cleared: Takes the rating back.
            surface: What was rated.
        """
        return self._control(
            "message_rated",
            payload(
                {"messageUuid": message_uuid, "sentiment": sentiment},
                {"cleared": cleared, "surface": surface},
                {},
            ),
        )

    def prompt_draft_activity(self) -> dict[str, Any]:
        """Says that the user is writing."""
        return self._control("prompt_draft_activity", {})

    def read_file(
        self, path: str, *, encoding: str | None = None, max_bytes: int | None = None
    ) -> dict[str, Any]:
        """Reads a file as the Read tool may. A missing file is 'read denied'.

        Args:
            path: The file.
            encoding: `utf-8` (the default) or `base64`.
            max_bytes: How much of it at most.
        """
        return self._control(
            "read_file", payload({"path": path}, {"encoding": encoding, "max_bytes": max_bytes}, {})
        )

    def register_repo_root(
        self,
        directory: str,
        *,
        reload_claude_md: bool | None = None,
        reload_plugins: bool | None = None,
        reload_skills: bool | None = None,
    ) -> dict[str, Any]:
        """Adds a working directory, strictly inside one there is.

        Args:
            directory: The directory.
            reload_claude_md: Reads CLAUDE.md again.
            reload_plugins: Loads plugins again.
            reload_skills: Loads skills again.
        """
        return self._control(
            "register_repo_root",
            payload(
                {"directory": directory},
                {
                    "reload_claude_md": reload_claude_md,
                    "reload_plugins": reload_plugins,
                    "reload_skills": reload_skills,
                },
                {},
            ),
        )

    def reload_connectors(self) -> dict[str, Any]:
        """Loads the account's connectors again."""
        return self._control("reload_connectors", {})

    def reload_output_styles(self) -> dict[str, Any]:
        """Loads the output styles again."""
        return self._control("reload_output_styles", {})

    def reload_plugins(
        self,
        *,
        add_plugins: list[Any] | None = None,
        hold_on_cache_impact: bool | None = None,
        refuse_if_busy: bool | None = None,
    ) -> dict[str, Any]:
        """Loads the plugins again.

        Args:
            add_plugins: Plugins to load as well.
            hold_on_cache_impact: Holds it back when the tools would change under a warm prompt cache.
            refuse_if_busy: Refuses (`reload_plugins_busy`) while the session works.
        """
        return self._control(
            "reload_plugins",
            payload(
                {},
                {
                    "add_plugins": add_plugins,
                    "hold_on_cache_impact": hold_on_cache_impact,
                    "refuse_if_busy": refuse_if_busy,
                },
                {},
            ),
        )

    def reload_skills(self) -> dict[str, Any]:
        """Loads the skills again."""
        return self._control("reload_skills", {})

    def remote_control(
        self,
        enabled: bool,
        *,
        keep_session_on_exit: bool | None = None,
        name: str | None = None,
        reattach_session_id: str | None = None,
    ) -> dict[str, Any]:
        """Turns remote control on or off.

        Args:
            enabled: On or off.
            keep_session_on_exit: Keeps the session when the process ends.
            name: The session's name there.
            reattach_session_id: A session to go on with.
        """
        return self._control(
            "remote_control",
            payload(
                {"enabled": enabled},
                {
                    "keep_session_on_exit": keep_session_on_exit,
                    "name": name,
                    "reattach_session_id": reattach_session_id,
                },
                {},
            ),
        )

    def rename_session(
        self, title: str, *, session_id: str | None = None, source: str | None = None
    ) -> dict[str, Any]:
        """Names the session; a `session_title_changed` message follows.

        Args:
            title: The title.
            session_id: Refuses when the process is in another session by now.
            source: Who chose it: `host`, or `remote` (the default).
        """
        return self._control(
            "rename_session",
            payload({"title": title}, {"session_id": session_id, "source": source}, {}),
        )

    def rewind_conversation(
        self,
        target_message_uuid: str,
        *,
        allow_assistant_target: bool | None = None,
        allow_summarized_target: bool | None = None,
        last_seen_user_message_uuid: str | None = None,
    ) -> dict[str, Any]:
        """Cuts the conversation before a message.

        Args:
            target_message_uuid: The message.
            allow_assistant_target: Allows an assistant message.
            allow_summarized_target: Allows a message that a compaction summarised.
            last_seen_user_message_uuid: The newest user message the host knows.
        """
        return self._control(
            "rewind_conversation",
            payload(
                {"target_message_uuid": target_message_uuid},
                {
                    "allow_assistant_target": allow_assistant_target,
                    "allow_summarized_target": allow_summarized_target,
                    "last_seen_user_message_uuid": last_seen_user_message_uuid,
                },
                {},
            ),
        )

    def rewind_files(self, user_message_id: str, *, dry_run: bool | None = None) -> dict[str, Any]:
        """Takes file changes back to what they were before a user message. Needs file checkpointing; a
        file created since then is deleted.

        Args:
            user_message_id: The uuid of a user message.
            dry_run: Only tells what would change.
        """
        return self._control(
            "rewind_files", payload({"user_message_id": user_message_id}, {"dry_run": dry_run}, {})
        )

    def seed_read_state(self, mtime: float, path: str) -> dict[str, Any]:
        """Says that the model has seen a file, so that it may edit it.

        Args:
            mtime: Its modification time then, in milliseconds.
            path: The file.
        """
        return self._control("seed_read_state", payload({"mtime": mtime, "path": path}, {}, {}))

    def select_chrome_browser(self, device_id: str) -> dict[str, Any]:
        """Chooses a browser.

        Args:
            device_id: The browser.
        """
        return self._control("select_chrome_browser", payload({"device_id": device_id}, {}, {}))

    def set_chrome_browser_hints(
        self,
        local_device_ids: list[str],
        *,
        host_platform: str | None = None,
        preferred_device_id: str | None | Unset = UNSET,
    ) -> dict[str, Any]:
        """Says which browsers are near; in remote sessions only.

        Args:
            local_device_ids: The browsers on the host's machine.
            host_platform: The host's system.
            preferred_device_id: The browser to prefer; null for none.
        """
        return self._control(
            "set_chrome_browser_hints",
            payload(
                {"localDeviceIds": local_device_ids},
                {"hostPlatform": host_platform},
                {"preferredDeviceId": preferred_device_id},
            ),
        )

    def set_color(self, color: str) -> dict[str, Any]:
        """Sets the session's colour; listed, but the CLI answers that it is unsupported.

        Args:
            color: A colour's name, or `default`.
        """
        return self._control("set_color", payload({"color": color}, {}, {}))

    def set_cwd(
        self, path: str, *, trust_accepted: bool | None = None, trusted_directory: str | None = None
    ) -> dict[str, Any]:
        """Changes the working directory. A directory not trusted yet is answered `needs_trust`.

        Args:
            path: The directory.
            trust_accepted: Whether the user trusts it.
            trusted_directory: The directory the trust is for.
        """
        return self._control(
            "set_cwd",
            payload(
                {"path": path},
                {"trust_accepted": trust_accepted, "trusted_directory": trusted_directory},
                {},
            ),
        )

    def set_has_subscribers(self, has_subscribers: bool | None) -> dict[str, Any]:
        """Says whether anybody is watching; matters only where the CLI joins stream events.

        Args:
            has_subscribers: Null is 'not known' and counts as true.
        """
        return self._control(
            "set_has_subscribers", payload({"has_subscribers": has_subscribers}, {}, {})
        )

    def set_max_thinking_tokens(
        self,
        *,
        max_thinking_tokens: int | None | Unset = UNSET,
        thinking_display: str | None | Unset = UNSET,
    ) -> dict[str, Any]:
        """Changes how much the model thinks.

        Args:
            max_thinking_tokens: The budget in tokens; null resets it, absent leaves it.
            thinking_display: How thinking is shown; null resets it, absent leaves it.
        """
        return self._control(
            "set_max_thinking_tokens",
            payload(
                {},
                {},
                {"max_thinking_tokens": max_thinking_tokens, "thinking_display": thinking_display},
            ),
        )

    def set_mcp_permission_mode_override(
        self, mode: str | None, server_name: str, *, ask_for_tools: list[Any] | None = None
    ) -> dict[str, Any]:
        """Overrides the permission mode for one MCP server's tools.

        Args:
            mode: The mode; null ends the override.
            server_name: The server.
            ask_for_tools: Tools that are asked for all the same: {name}.
        """
        return self._control(
            "set_mcp_permission_mode_override",
            payload({"mode": mode, "serverName": server_name}, {"askForTools": ask_for_tools}, {}),
        )

    def set_model(self, model: str | None | Unset = UNSET) -> dict[str, Any]:
        """Changes the model for what follows. The name is not checked.

        Args:
            model: The model; null, absent or `default` resets to the account's default, not to
                `--model`.
        """
        return self._control("set_model", payload({}, {}, {"model": model}))

    def set_permission_mode(self, mode: str) -> dict[str, Any]:
        """Changes the permission mode; a `status` message follows. `bypassPermissions` is refused
        unless the CLI was launched for it; 2.1.197 takes any word.

        Args:
            mode: The mode; `manual` is `default`.
        """
        return self._control("set_permission_mode", payload({"mode": mode}, {}, {}))

    def set_proactivity_level(self, level: str) -> dict[str, Any]:
        """Changes how much the session does unasked.

        Args:
            level: The level.
        """
        return self._control("set_proactivity_level", payload({"level": level}, {}, {}))

    def set_prompt_suggestions_paused(self, paused: bool) -> dict[str, Any]:
        """Holds prompt suggestions back, or lets them come again.

        Args:
            paused: Whether they are held back.
        """
        return self._control("set_prompt_suggestions_paused", payload({"paused": paused}, {}, {}))

    def side_question(self, question: str, *, history: list[Any] | None = None) -> dict[str, Any]:
        """Asks the model something beside the conversation.

        Args:
            question: The question.
            history: Questions before it: {question, response}.
        """
        return self._control(
            "side_question", payload({"question": question}, {"history": history}, {})
        )

    def stop_task(self, task_id: str) -> dict[str, Any]:
        """Stops a task. It succeeds for an unknown one too.

        Args:
            task_id: The task.
        """
        return self._control("stop_task", payload({"task_id": task_id}, {}, {}))

    def submit_feedback(
        self,
        description: str,
        *,
        area: str | None = None,
        attach_transcript: bool | None = None,
        draft_id: str | None = None,
        save_locally: bool | None = None,
        surface: str | None = None,
        title: str | None = None,
        type: str | None = None,
    ) -> dict[str, Any]:
        """Sends feedback to Anthropic.

        Args:
            description: What the user says.
            area: What it is about.
            attach_transcript: Sends the transcript with it.
            draft_id: A draft it finishes.
            save_locally: Keeps it on this machine.
            surface: Where it was written.
            title: A headline.
            type: What kind of feedback.
        """
        return self._control(
            "submit_feedback",
            payload(
                {"description": description},
                {
                    "area": area,
                    "attach_transcript": attach_transcript,
                    "draft_id": draft_id,
                    "save_locally": save_locally,
                    "surface": surface,
                    "title": title,
                    "type": type,
                },
                {},
            ),
        )

    def submit_survey_feedback(
        self,
        appearance_id: str,
        description: str,
        survey_response: str,
        survey_type: str,
        *,
        surface: str | None = None,
    ) -> dict[str, Any]:
        """Answers a survey.

        Args:
            appearance_id: The survey's showing.
            description: What the user says.
            survey_response: The rating.
            survey_type: Which survey.
            surface: Where it was shown.
        """
        return self._control(
            "submit_survey_feedback",
            payload(
                {
                    "appearance_id": appearance_id,
                    "description": description,
                    "survey_response": survey_response,
                    "survey_type": survey_type,
                },
                {"surface": surface},
                {},
            ),
        )

    def ultrareview_launch(
        self, *, args: str | None = None, confirm: bool | None = None
    ) -> dict[str, Any]:
        """Starts a review in the cloud.

        Args:
            args: What the slash command would take.
            confirm: The user has agreed.
        """
        return self._control(
            "ultrareview_launch", payload({}, {"args": args, "confirm": confirm}, {})
        )

    def update_settings(self, settings: dict[str, Any], source: str) -> dict[str, Any]:
        """Writes settings to a file.

        Args:
            settings: The settings to set.
            source: Which file; `userSettings` takes `effortLevel` only.
        """
        return self._control(
            "update_settings", payload({"settings": settings, "source": source}, {}, {})
        )
