#!/usr/bin/env python3
"""Asks towline-transcripts and the official TypeScript package the same about generated sessions.

    typescript.py PROGRAM PACKAGE [--sessions N] [--seed N] [--config DIRECTORY]...

PROGRAM is the binary ``towline-differential``, PACKAGE the ``sdk.mjs`` of
``@anthropic-ai/claude-agent-sdk`` 0.3.332; each DIRECTORY is a config directory with real sessions.
Exit code 1 if an answer differs for another reason than those in DIFFERENCES. Needs ``node``.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import TAGS, TITLES, Comparison, Peer, appended, entries_of, is_of_image, normalised, sorted_ties
from stores import compare_stores
from tree import Tree

# Differences that are meant. Each is measured, so that one that is gone is noticed.
DIFFERENCES = {
    "millisecond": "the official package reads a file's time as a float and may be a millisecond off",
    "more": "messages have only the declared members; the official package adds timestamp and others",
    "null": "a fork has a null where the official package has nothing",
    "directory": "a session in a store that names no directory ran in that of its project",
    "order": "sessions of the same millisecond come in the order of their ids, not of the folder",
    "duplicate": "a session in several projects is the newest one, not the first of the folder",
    "bytes": "bytes that are no UTF-8 damage their line only",
    "damaged": "a damaged line is left out of an import; the official package stops there",
    "size": "the size of a session in a store is that of its entries as they came, not written anew",
    "repeated": "an id that stands twice in a transcript is once in a store",
    "image": "a session without a text to name it by is not shown; the official package calls it Image",
    "decomposed": "a directory's name is composed before its project is looked for, as the CLI does",
    "linked": "a project's folder may be a symbolic link; the official package does not look into it",
    "request": "a fork names the session of a response's request by forkedFrom, not again beside it",
    "leaf": "the last message ends the conversation, not a last line that is no message and hangs elsewhere",
    "between": "a subagent's conversation runs through lines that are no messages, as a session's does",
    "cut": "what is appended behind a cut last line begins a line of its own",
}

OPERATIONS = {
    "list_sessions": "listSessions",
    "get_session_info": "getSessionInfo",
    "get_session_messages": "getSessionMessages",
    "list_subagents": "listSubagents",
    "get_subagent_messages": "getSubagentMessages",
    "rename_session": "renameSession",
    "tag_session": "tagSession",
    "fork_session": "forkSession",
    "delete_session": "deleteSession",
    "archive_session": "archiveSession",
    "unarchive_session": "unarchiveSession",
    "import_session_to_store": "importSessionToStore",
}
# Those that stand before the options.
POSITIONAL = ("session_id", "agent_id", "title", "tag")
NAMES = {
    "directory": "dir",
    "include_worktrees": "includeWorktrees",
    "include_programmatic": "includeProgrammatic",
    "include_system_messages": "includeSystemMessages",
    "up_to_message_id": "upToMessageId",
}
FIELDS = {
    "sessionId": "session_id",
    "lastModified": "last_modified",
    "fileSize": "file_size",
    "customTitle": "custom_title",
    "firstPrompt": "first_prompt",
    "gitBranch": "git_branch",
    "createdAt": "created_at",
}
INFO = (
    "session_id summary last_modified file_size custom_title first_prompt git_branch cwd tag "
    "created_at archived"
).split()


MESSAGE = {"type", "uuid", "session_id", "message", "parent_tool_use_id", "parent_agent_id"}
# White space for Python and for the core, which keeps to it, but not for JavaScript.
NO_SPACE = "\x1c\x1f"


class Official:
    """The official package in a process of its own, over one config directory."""

    def __init__(self, package: str, config: Path) -> None:
        self.package = package
        # Messages that had members beside the declared ones.
        self.more = 0
        self.process: subprocess.Popen | None = None
        self.import_project: str | None = None
        self.new(config)

    def new(self, config: Path) -> None:
        self.close()
        self.process = subprocess.Popen(
            ["node", str(Path(__file__).with_name("official.mjs")), self.package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="surrogatepass",
            env={**os.environ, "CLAUDE_CONFIG_DIR": str(config)},
        )

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(10)

    def ask(self, **question: object) -> object:
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["ok"] if "ok" in answer else {"error": answer["error"]}

    def plain(self, operation: str, **arguments: object) -> object:
        """An answer as ours would give it."""
        positional = [arguments.pop(name) for name in POSITIONAL if name in arguments]
        if operation == "import_session_to_store":
            positional.append({"$store": True})
        options = {NAMES.get(name, name): value for name, value in arguments.items()}
        found = self.ask(call=OPERATIONS[operation], arguments=[*positional, options])
        if operation == "fork_session" and isinstance(found, dict) and "sessionId" in found:
            return {"session_id": found["sessionId"]}
        if operation == "get_session_info" and isinstance(found, dict):
            return renamed(found)
        if operation == "list_sessions" and isinstance(found, list):
            return [renamed(one) for one in found]
        if operation.endswith("_messages") and isinstance(found, list):
            for message in found:
                more = message.keys() - MESSAGE
                self.more += bool(more)
                for name in more:
                    del message[name]
                message.setdefault("message", None)
        return found

    # The functions over stores, for compare_stores.

    def call(self, operation: str, **arguments: object) -> object:
        if operation == "import_session_to_store":
            return self.plain(operation, **arguments)
        return self.plain(operation, sessionStore={"$store": True}, directory="/", **arguments)

    def load(self, project_key: str, session_id: str, subpath: str | None) -> object:
        return self.ask(store="load", arguments=[key(project_key, session_id, subpath)])

    def subkeys(self, project_key: str, session_id: str) -> list[str]:
        return sorted(self.ask(store="listSubkeys", arguments=[key(project_key, session_id)]))

    def append(self, project_key: str, session_id: str, subpath: str | None, entries: list) -> None:
        self.ask(store="append", arguments=[key(project_key, session_id, subpath), entries])


def key(project_key: str, session_id: str, subpath: str | None = None) -> dict[str, str]:
    found = {"projectKey": project_key, "sessionId": session_id}
    return found if subpath is None else {**found, "subpath": subpath}


def renamed(info: dict) -> dict:
    if "error" in info:
        return info
    fields = {FIELDS.get(name, name): value for name, value in info.items()}
    return {**dict.fromkeys(INFO), **fields}


def compare_tree(comparison: Comparison, official: Official, config: Path, directories: list[Path]):
    ask = comparison.peer.ask
    base = {"config": str(config)}

    def compare_lists(limit: int | None = None, offset: int = 0, **arguments: object) -> None:
        ours = ask(ask="list", limit=limit, offset=offset, **base, **arguments)
        if "\u0301" in str(arguments.get("directory")):
            comparison.meant["decomposed"] += 1
            return
        other = official.plain("list_sessions", **arguments)
        if limit is not None and not any(is_of_image(one) for one in other):
            other = official.plain("list_sessions", limit=limit, offset=offset, **arguments)
        else:
            comparison.meant["image"] += sum(map(is_of_image, other))
            other = sorted_ties([one for one in other if not is_of_image(one)])[offset:]
            other = other[:limit] if limit else other
        if isinstance(other, list) and isinstance(ours, list) and len(ours) == len(other):
            ties = sorted_ties(other)
            if [one["session_id"] for one in ties] != [one["session_id"] for one in other]:
                comparison.meant["order"] += 1
                ours, other = sorted_ties(ours), ties
        comparison.check(f"list {limit} {offset} {arguments}", ours, other)

    compare_lists()
    for limit, offset in [(10, 0), (3, 5), (7, 10_000), (500, 4)]:
        compare_lists(limit=limit, offset=offset)
    for directory in directories:
        for more in [{}, {"include_worktrees": False}, {"limit": 2, "offset": 1}]:
            compare_lists(directory=str(directory), **more)
    files = [file for file in sorted(config.glob("projects/*/*.jsonl")) if file.is_file()]
    known = [file.stem for file in files]
    for file in files:
        session = file.stem
        if known.count(session) > 1:
            # Which of them the official package finds depends on the order of the folder.
            comparison.meant["duplicate"] += 1
            continue
        named = f"{file.parent.name}/{session}"
        of = {"session_id": session}
        ours = ask(ask="info", **base, **of)
        other = official.plain("get_session_info", **of)
        if ours is None and other is not None and is_of_image(other):
            comparison.meant["image"] += 1
        else:
            comparison.check(f"info {named}", ours, other)
        entries = entries_of(file)
        for page in [{}, {"include_system_messages": True}, {"limit": 3, "offset": 2}, {"offset": 1}]:
            ours = ask(ask="messages", **base, **of, **page)
            other = official.plain("get_session_messages", **of, **page)
            what = f"messages {named} {page}"
            if not comparison.check_messages(what, ours, other, entries):
                break
        agents = ask(ask="subagents", **base, **of)
        comparison.check(
            f"subagents {named}", sorted(agents), sorted(official.plain("list_subagents", **of))
        )
        for agent in agents:
            transcript = next(file.with_suffix("").rglob(f"agent-{agent}.jsonl"))
            ours = ask(ask="subagent_messages", **base, agent_id=agent, **of)
            other = official.plain("get_subagent_messages", agent_id=agent, **of)
            what = f"subagent {named} {agent}"
            comparison.check_messages(what, ours, other, entries_of(transcript))


def compare_changes(comparison: Comparison, official: Official, config: Path) -> None:
    """The same changes to two copies of a tree; then the files are compared, line by line."""
    both = [config.with_name("ours-ts"), config.with_name("theirs-ts")]
    for copy in both:
        shutil.copytree(config, copy)
    official.new(both[1])
    files = [file for file in sorted(config.glob("projects/*/*.jsonl")) if file.is_file()]
    known = [file.stem for file in files]
    for number, file in enumerate(files):
        session, name = file.stem, file.relative_to(config)
        if known.count(session) > 1:
            continue
        before = file.read_bytes()
        changes = [
            ("rename_session", {"title": comparison.titles[number % len(comparison.titles)]}),
            ("tag_session", {"tag": TAGS[number % len(TAGS)]}),
            ("archive_session", {}),
            ("fork_session", {}),
        ]
        if number % 3 == 0:
            changes.append(("delete_session", {}))
        for operation, arguments in changes:
            text = {"operation": operation, "session_id": session, "config_dir": str(both[0])}
            ours = comparison.peer.ask(ask="saved", text=json.dumps({**text, **arguments}))
            other = official.plain(operation, session_id=session, **arguments)
            what = f"{operation} {name}"
            failed = [isinstance(one, dict) and "error" in one for one in (ours, other)]
            if any(failed):
                comparison.check(f"{what}: {ours} {other}", *failed)
            elif operation == "fork_session":
                compare_forked(comparison, what, both, name, before, ours, other)
            elif operation == "delete_session":
                for copy in both:
                    comparison.check(what, (copy / name).exists(), False)
                    comparison.check(what, (copy / name).with_suffix("").exists(), False)
            elif operation == "archive_session":
                marks = [(copy / name).with_suffix("") / "archived.json" for copy in both]
                comparison.check(what, *(mark.exists() for mark in marks))
            elif before.endswith(b"\n"):
                comparison.check(what, *(appended(copy / name, before) for copy in both))
            else:
                # The official package appends to the cut line, which loses both.
                comparison.meant["cut"] += 1


def compare_forked(comparison, what, both, name, before, ours, other) -> None:
    if not before.endswith(b"\n"):
        comparison.meant["cut"] += 1
        return
    forks = [
        (copy / name).with_name(f"{answer['session_id']}.jsonl")
        for copy, answer in zip(both, (ours, other))
    ]
    comparison.check(what, *(oct(fork.stat().st_mode) for fork in forks))
    comparison.check(what, *(normalised(entries_of(fork)) for fork in forks))
    for fork in forks:
        fork.unlink()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("package")
    parser.add_argument("--sessions", type=int, default=640)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", action="append", default=[], type=Path)
    arguments = parser.parse_args()
    comparison = Comparison(Peer(arguments.program), DIFFERENCES)
    comparison.absent = ("logicalParentUuid", "archived")
    comparison.titles = [title for title in TITLES if title != NO_SPACE]
    ask = comparison.peer.ask
    with tempfile.TemporaryDirectory() as root:
        tree = Tree(Path(root).resolve(), arguments.seed, odd=False)
        tree.build(
            arguments.sessions, lambda directory: ask(ask="project_key", directory=str(directory))
        )
        official = Official(arguments.package, tree.config)
        linked = tree.config / "projects" / "-linked-folder"
        (linked / f"{tree.uuid()}.jsonl").write_text('{"type":"summary","summary":"x"}\n')
        ids = {file.stem for file in linked.glob("*.jsonl")}
        for listed, shown in [
            (ask(ask="list", config=str(tree.config)), True),
            (official.plain("list_sessions"), False),
        ]:
            found = {one["session_id"] for one in listed}
            comparison.check("sessions of a linked folder", bool(ids & found), shown)
        comparison.meant["linked"] += len(ids)
        linked.unlink()
        # That of the directory in which it runs, wherever the transcript was found.
        official.import_project = ask(ask="project_key", directory=os.getcwd())
        compare_tree(comparison, official, tree.config, tree.directories)
        compare_changes(comparison, official, tree.config)
        compare_stores(comparison, official, tree.config)
        count = len(tree.sessions)
    for config in arguments.config:
        official.new(config)
        compare_tree(comparison, official, config, [])
        count += len(list((config / "projects").glob("*/*.jsonl")))
    official.close()
    comparison.meant["more"] = official.more
    comparison.peer.close()
    return comparison.report(count)


if __name__ == "__main__":
    sys.exit(main())
