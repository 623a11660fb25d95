"""The same done in two stores: ours, in memory, and an official package's."""

from pathlib import Path

from common import TAGS, Comparison, entries_of, normalised

PAGES = ({}, {"limit": 3, "offset": 2}, {"limit": 0}, {"offset": 1})


def compare_stores(comparison: Comparison, official, config: Path) -> None:
    """``official`` has ``new``, ``call``, ``load``, ``subkeys`` and ``append``, and by
    ``import_project`` the project of imports, where it is not that of the transcript.
    """
    ask = comparison.peer.ask
    official.new(config)
    ask(ask="store_new")
    project = ask(ask="project_key", directory="/")

    def ours(operation: str, **arguments: object) -> object:
        if operation == "import_session":
            arguments["config_dir"] = str(config)
        else:
            arguments["directory"] = "/"
        given = {"operation": operation, **arguments}
        return ask(ask="store", operation=given)

    def check(operation: str, name: str, **arguments: object) -> None:
        one, other = ours(operation, **arguments), official.call(operation, **arguments)
        comparison.check_answers(f"store {operation} {name} {arguments}", one, other)

    def check_kept(name: str, key: str, session: str, subpath: str | None = None) -> None:
        one = ask(ask="store_load", project_key=key, session_id=session, subpath=subpath)
        other = official.load(key, session, subpath)
        settled = [normalised(entries or []) for entries in (one, other)]
        comparison.check(f"store, kept of {name} {subpath}", *settled)

    files = [file for file in sorted(config.glob("projects/*/*.jsonl")) if file.is_file()]
    known = [file.stem for file in files]
    for number, file in enumerate(files):
        session = file.stem
        entries = entries_of(file)
        if known.count(session) > 1 or not entries:
            continue
        name = f"{file.parent.name}/{session}"
        compare_import(comparison, official, name, file, ours)
        # An id twice in one transcript is once in ours.
        if len({entry.get("uuid", id(entry)) for entry in entries}) < len(entries):
            comparison.meant["repeated"] += 1
            continue
        for part in (entries[: number % 7], entries[number % 7 :]):
            if part:
                official.append(project, session, None, part)
                ask(ask="store_append", project_key=project, session_id=session, entries=part)
        parts: dict[str, list] = {}
        for agent in sorted((file.with_suffix("") / "subagents").rglob("*.jsonl")):
            subpath = agent.relative_to(file.with_suffix("")).with_suffix("").as_posix()
            part = entries_of(agent)
            parts[agent.stem.removeprefix("agent-")] = part
            if part:
                official.append(project, session, subpath, part)
                more = {"project_key": project, "session_id": session, "subpath": subpath}
                ask(ask="store_append", entries=part, **more)
        check("get_session_info", name, session_id=session)
        for page in PAGES:
            given = {"session_id": session, **page}
            one = ours("get_session_messages", **given)
            other = official.call("get_session_messages", **given)
            if not comparison.check_messages(f"store messages {name} {page}", one, other, entries):
                break
        agents = ours("list_subagents", session_id=session)
        check("list_subagents", name, session_id=session)
        for agent in agents if isinstance(agents, list) else []:
            given = {"session_id": session, "agent_id": agent}
            one = ours("get_subagent_messages", **given)
            other = official.call("get_subagent_messages", **given)
            what = f"store subagent {name} {agent}"
            comparison.check_messages(what, one, other, parts.get(agent, []))
        check("rename_session", name, session_id=session, title=comparison.titles[number % len(comparison.titles)])
        check("tag_session", name, session_id=session, tag=TAGS[number % len(TAGS)])
        check_kept(name, project, session)
        check("get_session_info", name, session_id=session)
        compare_fork(comparison, official, name, project, session, ours)
        if number % 3 == 0:
            check("delete_session", name, session_id=session)
            check_kept(name, project, session)
    # A page depends on what is left out before it.
    pages = ({}, {"limit": 0}, {"limit": 5, "offset": 3})
    for page in pages[:2] if comparison.meant.get("image") else pages:
        check("list_sessions", "all", **page)


def compare_import(comparison, official, name, file, ours) -> None:
    session, project = file.stem, file.parent.name
    theirs = official.import_project or project
    one = ours("import_session", session_id=session)
    other = official.call("import_session_to_store", session_id=session)
    if isinstance(other, type):
        # The official package raises at damage: bytes that are no UTF-8, a line that is no object.
        comparison.meant["bytes" if other is UnicodeDecodeError else "damaged"] += 1
        return
    failed = [isinstance(answer, dict) and "error" in answer for answer in (one, other)]
    if failed == [False, True]:
        # A damaged line stops the official package.
        comparison.meant["damaged"] += 1
        return
    comparison.check(f"import {name}", *failed)
    subkeys = comparison.peer.ask(ask="store_subkeys", project_key=project, session_id=session)
    comparison.check(f"import {name}, subkeys", sorted(subkeys), official.subkeys(theirs, session))
    for subpath in (None, *subkeys):
        key = {"project_key": project, "session_id": session, "subpath": subpath}
        kept = [
            comparison.peer.ask(ask="store_load", **key) or [],
            official.load(theirs, session, subpath) or [],
        ]
        if not all(isinstance(entry, dict) for entry in kept[1]):
            comparison.meant["damaged"] += 1
        elif len({entry.get("uuid", id(entry)) for entry in kept[1]}) < len(kept[1]):
            comparison.meant["repeated"] += 1
        else:
            comparison.check(f"import {name} {subpath}", *kept)


def compare_fork(comparison, official, name, project, session, ours) -> None:
    one, other = ours("fork_session", session_id=session), official.call("fork_session", session_id=session)
    failed = [isinstance(answer, dict) and "error" in answer for answer in (one, other)]
    comparison.check(f"store fork {name}", *failed)
    if any(failed):
        return
    kept = [
        comparison.peer.ask(ask="store_load", project_key=project, session_id=one["session_id"]),
        official.load(project, other["session_id"], None),
    ]
    comparison.check(f"store fork {name}", *(normalised(entries) for entries in kept))
    # So that lists of both have the same ids.
    ours("delete_session", session_id=one["session_id"])
    official.call("delete_session", session_id=other["session_id"])
