#!/usr/bin/env python3
"""Asks towline-transcripts and the official Python package the same about generated sessions.

    compare.py PROGRAM [--sessions N] [--seed N] [--config DIRECTORY]...

PROGRAM is the binary ``towline-differential``; each DIRECTORY is a config directory with real
sessions. Exit code 1 if an answer differs for another reason than those in DIFFERENCES.
"""

import argparse
import asyncio
import dataclasses
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from common import TAGS, TITLES, Comparison, Peer, appended, entries_of, normalised, sorted_ties
from stores import compare_stores
from tree import Tree

try:
    import claude_agent_sdk
    from claude_agent_sdk import InMemorySessionStore, fold_session_summary
    from claude_agent_sdk._internal import session_mutations, session_summary, sessions
except ImportError:
    sys.exit("compare.py needs the official package: pip install claude-agent-sdk==0.2.189")

# Differences that are meant. Each is measured, so that one that is gone is noticed.
DIFFERENCES = {
    "millisecond": "the official package reads a file's time as a float and may be a millisecond off",
    "archived": "the official Python package does not know of archived sessions",
    "order": "sessions of the same millisecond come in the order of their ids, not of the folder",
    "duplicate": "a session in several projects is the newest one, not the first of the folder",
    "bytes": "bytes that are no UTF-8 damage their line only; the official package raises",
    "cut": "what is appended behind a cut last line begins a line of its own",
    "spaces": "the last title counts; for the official package the last one with a space before it",
    "utf16": "a path's units are UTF-16 units, as for the CLI",
    "size": "the size of a session in a store is that of its entries as they came, not written anew",
    "repeated": "an id that stands twice in a transcript is once in a store",
    "damaged": "a damaged line is left out of an import; the official package stops there",
    "separator": "a line ends at a line feed only: U+2028 in a message does not cut it in a fork",
}


def plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {
            field.name: getattr(value, field.name)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def theirs(function, *arguments, **named) -> object:
    try:
        return plain(function(*arguments, **named))
    except UnicodeDecodeError:
        return UnicodeDecodeError
    except AttributeError:
        # An element that is no object.
        return AttributeError
    except (ValueError, OSError) as error:
        return {"error": str(error)}


def compare_tree(comparison: Comparison, config: Path, directories: list[Path]) -> int:
    os.environ["CLAUDE_CONFIG_DIR"] = str(config)
    ask = comparison.peer.ask
    base = {"config": str(config)}
    files = sorted((config / "projects").glob("*/*.jsonl"))
    listed = 0

    def compare_lists(**arguments: object) -> None:
        nonlocal listed
        directory = arguments.get("directory")
        ours = ask(ask="list", **base, **arguments)
        other = theirs(claude_agent_sdk.list_sessions, **arguments)
        if isinstance(other, list) and isinstance(ours, list):
            if [one["session_id"] for one in ours] != [one["session_id"] for one in other]:
                if sorted_ties(other) == other or len(other) == len(ours):
                    ties = sorted_ties(other)
                    if [one["session_id"] for one in ties] != [one["session_id"] for one in other]:
                        comparison.meant["order"] += 1
                        other = ties
                        ours = sorted_ties(ours)
            listed += len(other)
        comparison.check(f"list {arguments} {directory}", ours, other)

    compare_lists()
    for limit, offset in [(10, 0), (3, 5), (0, 2), (7, 10_000), (None, 4)]:
        compare_lists(limit=limit, offset=offset)
    for directory in directories:
        for more in [{}, {"include_worktrees": False}, {"limit": 2, "offset": 1}]:
            compare_lists(directory=str(directory), **more)
        key = ask(ask="project_key", directory=str(directory))
        comparison.check(
            f"key {directory}", key, claude_agent_sdk.project_key_for_directory(str(directory))
        )

    known: dict[str, int] = {}
    for file in files:
        known[file.stem] = known.get(file.stem, 0) + 1
    for file in files:
        session = file.stem
        if file.is_dir():
            continue
        arguments = {"session_id": session}
        if known[session] > 1:
            # Which of them the official package finds depends on the order of the folder.
            comparison.meant["duplicate"] += 1
            continue
        named = f"{file.parent.name}/{session}"
        comparison.check(
            f"info {named}",
            ask(ask="info", **base, **arguments),
            theirs(claude_agent_sdk.get_session_info, **arguments),
        )
        for page in [{}, {"limit": 3, "offset": 2}, {"offset": 1}]:
            ours = ask(ask="messages", **base, **arguments, **page)
            other = theirs(claude_agent_sdk.get_session_messages, **arguments, **page)
            if other is UnicodeDecodeError:
                comparison.meant["bytes"] += 1
                continue
            comparison.check(f"messages {named} {page}", ours, other)
        agents = ask(ask="subagents", **base, **arguments)
        comparison.check(
            f"subagents {named}", agents, theirs(claude_agent_sdk.list_subagents, **arguments)
        )
        for agent in agents:
            ours = ask(ask="subagent_messages", **base, agent_id=agent, **arguments)
            other = theirs(claude_agent_sdk.get_subagent_messages, agent_id=agent, **arguments)
            if other is UnicodeDecodeError:
                comparison.meant["bytes"] += 1
                continue
            comparison.check(f"subagent {named} {agent}", ours, other)
        entries = entries_of(file)
        compare_entries(comparison, session, entries, named)
    return listed


def compare_entries(comparison: Comparison, session: str, entries: list, named: str) -> None:
    """What is computed from entries, as stores need it."""
    ask = comparison.peer.ask
    key = {"project_key": "p", "session_id": session}
    cut = len(entries) // 3
    summary = fold_session_summary(None, key, entries[:cut])
    summary = fold_session_summary(summary, key, entries[cut:])
    info = session_summary.summary_entry_to_sdk_info(summary, "/given")
    folded = ask(ask="fold", session_id=session, entries=entries, batches=[cut], text="/given")
    comparison.check(f"fold {named}", folded, [summary, plain(info)])

    async def from_store() -> tuple[object, object]:
        store = InMemorySessionStore()
        project = claude_agent_sdk.project_key_for_directory("/")
        store_key = {"project_key": project, "session_id": session}
        if entries:
            await store.append(store_key, entries)
        messages = await claude_agent_sdk.get_session_messages_from_store(store, session, "/")
        loaded = sessions._entries_to_jsonl(entries)
        parsed = sessions._parse_session_info_from_lite(
            session, sessions._jsonl_to_lite(loaded, 5), "/given"
        )
        return plain(messages), plain(parsed)

    messages, parsed = asyncio.run(from_store())
    # The in-memory store keeps one entry of an id; the comparison is about the chain.
    if len({entry.get("uuid", id(entry)) for entry in entries}) == len(entries):
        comparison.check(
            f"entry messages {named}", ask(ask="entry_messages", entries=entries), messages
        )
    ours = ask(ask="entry_info", session_id=session, entries=entries, text="/given")
    # The windows are cut by bytes, and the official package escapes what is not ASCII.
    whole = len(json.dumps(entries)) < 60_000
    if whole:
        for one in (ours, parsed):
            if one:
                one.pop("file_size")
        comparison.check(f"entry info {named}", ours, parsed)
    compare_forks(comparison, session, entries, named)


def compare_forks(comparison: Comparison, session: str, entries: list, named: str) -> None:
    transcript = [
        entry
        for entry in entries
        if entry.get("type") in session_mutations._TRANSCRIPT_TYPES
        and isinstance(entry.get("uuid"), str)
    ]
    replaced = [
        one
        for entry in entries
        if entry.get("type") == "content-replacement" and entry.get("sessionId") == session
        for one in entry["replacements"]
    ]
    middle = transcript[len(transcript) // 2]["uuid"] if transcript else None
    for up_to, title in [(None, None), (middle, None), (None, "  mine ")]:
        try:
            _, lines = session_mutations._build_fork_lines(
                transcript,
                replaced,
                session,
                up_to,
                title,
                lambda: session_mutations._derive_title_from_entries(entries),
            )
            other: object = normalised([json.loads(line) for line in lines])
        except ValueError as error:
            other = {"error": str(error)}
        ours = comparison.peer.ask(
            ask="entry_fork", session_id=session, entries=entries, up_to=up_to, text=title
        )
        if isinstance(ours, list):
            ours = normalised(ours)
        comparison.check(f"fork {named} {up_to} {title}", ours, other)


def compare_changes(comparison: Comparison, config: Path) -> None:
    """The same changes to two copies of a tree; then the files are compared, line by line."""
    both = [config.with_name("ours"), config.with_name("theirs")]
    for copy in both:
        shutil.copytree(config, copy)
    os.environ["CLAUDE_CONFIG_DIR"] = str(both[1])
    files = [file for file in sorted(config.glob("projects/*/*.jsonl")) if file.is_file()]
    known = [file.stem for file in files]
    for number, file in enumerate(files):
        session, name = file.stem, file.relative_to(config)
        if known.count(session) > 1:
            continue
        title, tag = TITLES[number % len(TITLES)], TAGS[number % len(TAGS)]
        before = file.read_bytes()
        changes = [
            ({"operation": "rename_session", "title": title}, "rename_session", (title,)),
            ({"operation": "tag_session", "tag": tag}, "tag_session", (tag,)),
            ({"operation": "fork_session"}, "fork_session", ()),
        ]
        if number % 3 == 0:
            changes.append(({"operation": "delete_session"}, "delete_session", ()))
        for operation, function, arguments in changes:
            text = json.dumps({**operation, "session_id": session, "config_dir": str(both[0])})
            ours = comparison.peer.ask(ask="saved", text=text)
            other = theirs(getattr(claude_agent_sdk, function), session, *arguments)
            what = f"{function} {name}"
            if isinstance(ours, dict) and isinstance(other, dict) and "error" in ours:
                # The words differ for a tag ("None", "none") and for where was looked.
                comparison.check(what, ours["error"][:20], other.get("error", "")[:20])
                continue
            if function == "fork_session":
                compare_forked(comparison, what, both, name, before, ours, other)
                continue
            comparison.check(what, ours, other)
            if function == "delete_session":
                for copy in both:
                    comparison.check(what, (copy / name).exists(), False)
                    comparison.check(what, (copy / name).with_suffix("").exists(), False)
                continue
            lines = [appended(copy / name, before) for copy in both]
            if before.endswith(b"\n"):
                comparison.check(what, *lines)
            else:
                # The official package appends to the cut line, which loses both.
                comparison.meant["cut"] += 1


def compare_forked(comparison, what, both, name, before, ours, other) -> None:
    if b"\xe2\x80\xa8" in before or b"\x1c" in before:
        comparison.meant["separator"] += 1
        return
    if not before.endswith(b"\n"):
        # The new title is the fork's, or was lost: see above.
        comparison.meant["cut"] += 1
        return
    if b'"customTitle": "' in before:
        comparison.meant["spaces"] += 1
        return
    if not isinstance(ours, dict) or not hasattr(other, "get"):
        comparison.check(what, ours, other)
        return
    forks = [
        (copy / name).with_name(f"{answer['session_id']}.jsonl")
        for copy, answer in zip(both, (ours, other))
    ]
    comparison.check(what, *(oct(fork.stat().st_mode) for fork in forks))
    comparison.check(what, *(normalised(entries_of(fork)) for fork in forks))
    for fork in forks:
        fork.unlink()


class Stores:
    """The official package's functions over its store in memory."""

    import_project = None

    def __init__(self) -> None:
        self.store = InMemorySessionStore()

    def new(self, config: Path) -> None:
        os.environ["CLAUDE_CONFIG_DIR"] = str(config)
        self.store = InMemorySessionStore()

    def call(self, operation: str, session_id: str | None = None, **arguments: object) -> object:
        async def run() -> object:
            function = getattr(claude_agent_sdk, NAMES.get(operation, operation))
            if operation == "import_session_to_store":
                return await function(session_id, self.store, **arguments)
            given = [self.store] if session_id is None else [self.store, session_id]
            return await function(*given, directory="/", **arguments)

        return theirs(asyncio.run, run())

    def load(self, project_key: str, session_id: str, subpath: str | None) -> object:
        key = {"project_key": project_key, "session_id": session_id}
        if subpath is not None:
            key["subpath"] = subpath
        return asyncio.run(self.store.load(key))

    def subkeys(self, project_key: str, session_id: str) -> list[str]:
        key = {"project_key": project_key, "session_id": session_id}
        return sorted(asyncio.run(self.store.list_subkeys(key)))

    def append(self, project_key: str, session_id: str, subpath: str | None, entries: list) -> None:
        key = {"project_key": project_key, "session_id": session_id}
        if subpath is not None:
            key["subpath"] = subpath
        asyncio.run(self.store.append(key, entries))


READ = ("list_sessions", "get_session_info", "get_session_messages", "list_subagents")
NAMES = {
    **{name: f"{name}_from_store" for name in (*READ, "get_subagent_messages")},
    "import_session_to_store": "import_session_to_store",
    **{f"{name}_session": f"{name}_session_via_store" for name in ("rename", "tag", "fork", "delete")},
}


def compare_paths(comparison: Comparison) -> None:
    ask = comparison.peer.ask
    paths = ["", "/", "/a/b_c.d e", "/ünï/文", "/" + "x" * 199, "/" + "x" * 200, "/文" * 150]
    for path in paths:
        comparison.check(
            f"key {path!r}", ask(ask="key_of_path", text=path), sessions._sanitize_path(path)
        )
    emoji = "/a/🚀"
    if ask(ask="key_of_path", text=emoji) == "-a---" != sessions._sanitize_path(emoji):
        comparison.meant["utf16"] += 1
    else:
        comparison.wrong.append("key of an emoji")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--sessions", type=int, default=640)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", action="append", default=[], type=Path)
    arguments = parser.parse_args()
    comparison = Comparison(Peer(arguments.program), DIFFERENCES)
    compare_paths(comparison)
    count = 0
    with tempfile.TemporaryDirectory() as root:
        tree = Tree(Path(root).resolve(), arguments.seed)
        tree.build(arguments.sessions, claude_agent_sdk.project_key_for_directory)
        compare_tree(comparison, tree.config, tree.directories)
        compare_changes(comparison, tree.config)
        compare_stores(comparison, Stores(), tree.config)
        count += len(tree.sessions)
    for config in arguments.config:
        compare_tree(comparison, config, [])
        count += len(list((config / "projects").glob("*/*.jsonl")))
    comparison.peer.close()
    return comparison.report(count)


if __name__ == "__main__":
    sys.exit(main())
