"""Trees of saved sessions made up by a seed: what the CLI writes, and damage of every kind."""

import json
import os
import random
import subprocess
import uuid
from datetime import datetime, timezone
from pathlib import Path

WORDS = ["fix", "the", "test", "naïve", "文字", "größe", "a\tb", "line\nbreak", "“quoted”", "x" * 90]
PROMPTS = [
    "<command-name>/clear</command-name>",
    "<command-name></command-name>",
    "<local-command-stdout>done</local-command-stdout>",
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use] again",
    "<ide_opened_file>a.py</ide_opened_file>",
    "  <ide_selection>x</ide_selection>  ",
    "<tick>",
    "<goal>win",
    "   ",
    "",
]


class Tree:
    """A config directory with sessions, and the directories they ran in.

    ``odd`` makes also what no CLI writes and the official packages read in different ways: results
    whose parent is nowhere, times with an offset, spaces between tokens.
    """

    def __init__(self, root: Path, seed: int, odd: bool = True) -> None:
        self.odd = odd
        self.root = root
        self.random = random.Random(seed)
        self.config = root / "config"
        self.projects = self.config / "projects"
        self.directories: list[Path] = []
        self.sessions: list[tuple[str, Path]] = []
        self.separators: tuple[str, str] | None = None
        self.words = WORDS
        self.clock = 1_767_000_000_000

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def moment(self) -> str:
        self.clock += self.random.choice([0, 1, 250, 1000, 60_000])
        seconds, millis = divmod(self.clock, 1000)
        base = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        usual = f"{base}.{millis:03d}Z"
        return self.random.choice([usual] * 9 + [f"{base}+02:00" if self.odd else usual])

    def text(self) -> str:
        return " ".join(self.random.choice(self.words) for _ in range(self.random.randint(1, 30)))

    def dump(self, entry: object) -> str:
        return json.dumps(
            entry,
            ensure_ascii=self.random.random() < 0.3,
            separators=self.separators,
        )

    # Lines -----------------------------------------------------------------

    def link(self, kind: str, parent: str | None, session: str, **more: object) -> dict:
        entry = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            "uuid": self.uuid(),
            "timestamp": self.moment(),
            "cwd": "/somewhere/" + self.random.choice(["a", "b"]),
            "sessionId": session,
            "version": "2.1.332",
            "gitBranch": self.random.choice(["main", "feature/ä", ""]),
        }
        entry.update(more)
        return entry

    def user(self, parent: str | None, session: str) -> dict:
        prompt = self.random.choice([self.text()] * 3 + [self.random.choice(PROMPTS)])
        content: object = prompt
        if self.random.random() < 0.4:
            content = [{"type": "image", "source": {}}, {"type": "text", "text": prompt}]
        more: dict[str, object] = {"message": {"role": "user", "content": content}}
        if self.random.random() < 0.05:
            more["isMeta"] = True
        if self.random.random() < 0.03:
            more["isCompactSummary"] = True
        if self.random.random() < 0.02:
            more["teamName"] = "team"
        return self.link("user", parent, session, **more)

    def response(self, parent: str, session: str) -> tuple[list[dict], str]:
        """The lines of a response with tools run side by side, and what the next line hangs on."""
        message_id = "msg_" + self.uuid()[:8]
        lines: list[dict] = []
        results: list[dict] = []
        for _ in range(self.random.choice([1, 1, 1, 2, 3, 4])):
            block: dict = {"type": "text", "text": self.text()}
            if self.random.random() < 0.6:
                block = {
                    "type": "tool_use",
                    "id": "toolu_" + self.uuid()[:8],
                    "name": "Bash",
                    "input": {"command": self.text()},
                }
            line = self.link(
                "assistant",
                parent,
                session,
                message={"id": message_id, "role": "assistant", "content": [block]},
            )
            lines.append(line)
            parent = line["uuid"]
            if block["type"] == "tool_use" and self.random.random() < 0.95:
                content = [
                    {"type": "tool_result", "tool_use_id": block["id"], "content": self.text()}
                ]
                result = self.link(
                    "user",
                    self.random.choice([parent] * 9 + [self.uuid() if self.odd else parent]),
                    session,
                    message={"role": "user", "content": content},
                    toolUseResult={"stdout": "x"},
                )
                if self.random.random() < 0.2:
                    result["sourceToolAssistantUUID"] = parent
                results.append(result)
        if self.random.random() < 0.5:
            self.random.shuffle(results)
        lines += results
        last = self.random.choice(results)["uuid"] if results else parent
        return lines, last

    def other(self, session: str) -> dict:
        return self.random.choice(
            [
                {"type": "queue-operation", "operation": "enqueue", "timestamp": self.moment()},
                {"type": "mode", "mode": "default", "sessionId": session},
                {"type": "file-history-snapshot", "messageId": self.uuid(), "snapshot": {}},
                {"type": "custom-title", "customTitle": self.text(), "sessionId": session},
                {"type": "ai-title", "aiTitle": self.text(), "sessionId": session},
                {"type": "last-prompt", "lastPrompt": self.text(), "sessionId": session},
                {"type": "summary", "summary": self.text(), "leafUuid": self.uuid()},
                {"type": "tag", "tag": self.random.choice(["", "v1", "ä"]), "sessionId": session},
                {
                    "type": "content-replacement",
                    "sessionId": session,
                    "replacements": [{"kind": "tool-result", "id": self.uuid()}],
                },
            ]
        )

    def conversation(self, session: str, sidechain: bool = False) -> list[dict]:
        lines: list[dict] = []
        parent: str | None = None
        for _ in range(self.random.randint(0, 3)):
            lines.append(self.other(session))
        for _ in range(self.random.randint(0, 6)):
            step = self.random.random()
            if step < 0.1:
                lines.append(self.other(session))
                continue
            if step < 0.2 and parent:
                kind = self.random.choice(["system", "progress", "attachment"])
                lines.append(self.link(kind, parent, session, content=self.text()))
                if self.random.random() < 0.7:
                    parent = lines[-1]["uuid"]
                continue
            if step < 0.25 and parent:
                boundary = self.link("system", None, session, subtype="compact_boundary")
                boundary["logicalParentUuid"] = parent
                lines.append(boundary)
                parent = boundary["uuid"]
            user = self.user(parent, session)
            lines.append(user)
            response, parent = self.response(user["uuid"], session)
            lines += response
            if self.random.random() < 0.1 and len(lines) > 2:
                earlier = self.random.choice(lines)
                parent = earlier.get("uuid", parent)
        if sidechain:
            for line in lines:
                line["isSidechain"] = True
                line["agentId"] = "a1"
        if self.random.random() < 0.03 and lines:
            lines[0]["isSidechain"] = True
        return lines

    # Files -----------------------------------------------------------------

    def content(self, lines: list[dict]) -> bytes:
        # The CLI writes no spaces; other programs may.
        self.separators = self.random.choice([(",", ":")] * 9 + [None if self.odd else (",", ":")])
        texts = [self.dump(line).encode("utf-8", "surrogatepass") for line in lines]
        if self.random.random() < 0.15 and texts:
            filler = {"type": "api-request", "body": "y" * self.random.choice([70_000, 200_000])}
            place = self.random.randint(0, len(texts))
            texts.insert(place, json.dumps(filler, separators=(",", ":")).encode())
        if self.random.random() < 0.05:
            place = self.random.randint(0, len(texts))
            texts.insert(place, self.random.choice([b"not json", b"{\"type\":", b"[]", b"", b"  "]))
        data = b"\n".join(texts) + (b"\n" if texts else b"")
        if self.random.random() < 0.05 and data:
            data = data[: self.random.randint(0, len(data) - 1)]
        return data

    def session(self, folder: Path, directory: Path) -> None:
        session = self.uuid()
        if self.random.random() < 0.05:
            session = session.upper()
        # JSON may hold a character that ends a line elsewhere.
        self.words = WORDS + (["\u2028"] if self.random.random() < 0.1 else [])
        lines = self.conversation(session)
        file = folder / f"{session}.jsonl"
        file.write_bytes(self.content(lines))
        modified = (self.clock + len(self.sessions) * 10_000) * 1_000_000
        os.utime(file, ns=(modified, modified + self.random.randint(0, 999_999)))
        self.sessions.append((session, directory))
        if self.random.random() < 0.15:
            self.subagents(folder / session / "subagents", session)

    def subagents(self, folder: Path, session: str) -> None:
        for _ in range(self.random.randint(1, 3)):
            place = folder
            if self.random.random() < 0.3:
                place = folder / "workflows" / f"run-{self.random.randint(1, 2)}"
            place.mkdir(parents=True, exist_ok=True)
            name = f"agent-{self.uuid()[:8]}"
            lines = self.conversation(session, sidechain=True)
            (place / f"{name}.jsonl").write_bytes(self.content(lines))
            meta = {"agentType": "Explore", "toolUseId": "toolu_1", "parentAgentId": None}
            if self.random.random() < 0.5:
                meta["parentAgentId"] = "p1"
            if self.random.random() < 0.8:
                text = json.dumps(meta)
                (place / f"{name}.meta.json").write_text(text[: self.random.choice([5, 999])])

    def project(self, directory: Path, sessions: int, key: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        folder = self.projects / key
        folder.mkdir(parents=True, exist_ok=True)
        self.directories.append(directory)
        for _ in range(sessions):
            self.session(folder, directory)
        (folder / "notes.jsonl").write_text("{}\n")
        (folder / f"{self.uuid()}.txt").write_text("x")
        (folder / f"{self.uuid()}.jsonl").write_bytes(b"")
        (folder / f"{self.uuid()}.jsonl").mkdir()

    def build(self, sessions: int, key_of) -> None:
        """``key_of`` gives the name of a directory's folder."""
        home = self.root / "home"
        plain = [
            home / "plain",
            home / "my_app.v2 x" / "ünï 文",
            home / "de\u0301composed",
            home / ("long-" * 25) / ("path-" * 25),
        ]
        repository = home / "repository"
        repository.mkdir(parents=True)
        git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.com"]
        subprocess.run([*git[:3], "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        for name in ["linked", "gone"]:
            subprocess.run([*git, "worktree", "add", "-q", str(home / name)], check=True)
        (repository / "deep").mkdir()
        directories = [*plain, repository, home / "linked", home / "gone", repository / "deep"]
        for directory in directories:
            directory.mkdir(parents=True, exist_ok=True)
            self.project(directory, sessions // len(directories), key_of(directory))
        link = home / "link"
        link.symlink_to(plain[0])
        self.directories += [link, home / "nowhere", home]
        # One session in two projects, and a folder that is a link.
        twice, _ = self.sessions[0]
        source = self.projects / key_of(plain[0]) / f"{twice}.jsonl"
        copy = self.projects / key_of(repository) / source.name
        copy.write_bytes(source.read_bytes())
        os.utime(copy, (1, 1))
        target = self.root / "elsewhere"
        target.mkdir()
        self.session(target, home / "linked-folder")
        (self.projects / "-linked-folder").symlink_to(target)
