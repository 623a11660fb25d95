"""What the comparisons with the official packages share."""

import json
import subprocess
import sys
from pathlib import Path

TITLES = ["a title", "  ümläut 文字 \n", "\u200bx", "🚀", "", " \t", "\x1c\x1f"]
TAGS = ["v1", "ﬁne ｆｕｌｌ", "re\u200bl\u202eease", "\ue000", "e\u0301", " \u2066 ", "\u00ad", "🚀", None]


class Peer:
    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, **question: object) -> object:
        question = {name: value for name, value in question.items() if value is not None}
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["ok"] if "ok" in answer else {"error": answer["error"]}

    def close(self) -> None:
        self.process.stdin.close()
        if self.process.wait(10) != 0:
            sys.exit("the program failed")


class Comparison:
    """Answers of both sides. ``meant`` has the differences that are meant, with their reasons."""

    def __init__(self, peer: Peer, meant: dict[str, str]) -> None:
        self.peer = peer
        # Members whose null is as good as none.
        self.absent: tuple[str, ...] = ()
        self.titles = TITLES
        self.reasons = meant
        self.asked = 0
        self.wrong: list[str] = []
        self.meant: dict[str, int] = dict.fromkeys(meant, 0)

    def check(self, what: str, ours: object, theirs: object) -> None:
        self.asked += 1
        ours, theirs = self.settle(ours, theirs)
        if ours != theirs:
            self.wrong.append(f"{what}: {difference(ours, theirs)}")

    def check_messages(self, what: str, ours: object, theirs: object, entries: list) -> bool:
        """As ``check``, of the messages of these entries; whether they are the same."""
        linked = [entry for entry in entries if "parentUuid" in entry and "uuid" in entry]
        if ours != theirs and "leaf" in self.meant and linked:
            if linked[-1].get("type") not in ("user", "assistant"):
                self.asked += 1
                self.meant["leaf"] += 1
                return False
        through = any(entry.get("type") not in ("user", "assistant") for entry in linked)
        if ours != theirs and through and "subagent" in what and "between" in self.meant:
            self.asked += 1
            self.meant["between"] += 1
            return False
        self.check(what, ours, theirs)
        return ours == theirs

    def check_answers(self, what: str, ours: object, theirs: object) -> None:
        """As ``check``, of something in a store. Of two errors it is enough that they are about the
        same."""
        both = [isinstance(one, dict) and "error" in one for one in (ours, theirs)]
        if all(both):
            ours, theirs = ours["error"][:12], theirs["error"][:12]
        if "image" in self.meant and isinstance(theirs, (dict, list)):
            before = len(theirs)
            if isinstance(theirs, list):
                theirs = [one for one in theirs if not is_of_image(one)]
                self.meant["image"] += before - len(theirs)
            elif is_of_image(theirs):
                theirs = None
                self.meant["image"] += 1
        pairs = [answer if isinstance(answer, list) else [answer] for answer in (ours, theirs)]
        for one, other in zip(*pairs):
            if not (isinstance(one, dict) and isinstance(other, dict) and "file_size" in one):
                continue
            if one["file_size"] != other.get("file_size"):
                self.meant["size"] += 1
            one["file_size"] = other.get("file_size")
            if one["cwd"] == "/" and other.get("cwd") is None and "directory" in self.meant:
                one["cwd"] = None
                self.meant["directory"] += 1
            # The two stores are written one after the other.
            for name in ("last_modified", "created_at"):
                ours_at, theirs_at = one[name], other.get(name)
                if ours_at and theirs_at and abs(ours_at - theirs_at) < 10_000:
                    one[name] = theirs_at
        self.check(what, ours, theirs)

    def settle(self, ours: object, theirs: object) -> tuple[object, object]:
        """Both with the differences that are meant taken out."""
        if isinstance(ours, dict) and isinstance(theirs, dict):
            ours, theirs = dict(ours), dict(theirs)
            if "archived" not in theirs and ours.pop("archived", None) is not None:
                self.meant["archived"] += 1
            for name in self.absent:
                if name in ours and name not in theirs and ours[name] is None:
                    del ours[name]
                    self.meant["null"] += 1
            if "request" in self.meant and "requestSessionId" in theirs.keys() - ours.keys():
                del theirs["requestSessionId"]
                self.meant["request"] += 1
            for name in ours.keys() & theirs.keys():
                ours[name], theirs[name] = self.settle_value(name, ours[name], theirs[name])
            return ours, theirs
        if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            pairs = [self.settle(one, other) for one, other in zip(ours, theirs)]
            return [one for one, _ in pairs], [other for _, other in pairs]
        return ours, theirs

    def settle_value(self, name: str, ours: object, theirs: object) -> tuple[object, object]:
        if name == "last_modified" and isinstance(ours, int) and isinstance(theirs, int):
            if abs(ours - theirs) == 1:
                self.meant["millisecond"] += 1
                return theirs, theirs
        if isinstance(ours, (dict, list)):
            return self.settle(ours, theirs)
        return ours, theirs

    def report(self, sessions: int) -> int:
        """Prints what came of it; the exit code."""
        for wrong in self.wrong[:20]:
            print(wrong)
        print(f"{sessions} sessions, {self.asked} answers, {len(self.wrong)} wrong")
        for name, times in self.meant.items():
            if times:
                print(f"  {times} times: {self.reasons[name]}")
        return 1 if self.wrong else 0


def is_of_image(info: object) -> bool:
    """Whether a session has its name from an image, as in the TypeScript package."""
    return (
        isinstance(info, dict) and info.get("summary") == "Image" and info.get("first_prompt") is None
    )


def difference(ours: object, theirs: object, path: str = "") -> str:
    """Where two answers differ first."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() != theirs.keys():
        path = f"{path} (one has {sorted(ours.keys() ^ theirs.keys())})"
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        for name in ours:
            if ours[name] != theirs[name]:
                return difference(ours[name], theirs[name], f"{path}.{name}")
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs)):
            if one != other:
                return difference(one, other, f"{path}[{index}]")
    return f"{path}\n  ours   {short(ours)}\n  theirs {short(theirs)}"


def short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, default=str)
    return text if len(text) < 400 else f"{text[:400]}… ({len(text)})"


def sorted_ties(listed: list) -> list:
    return sorted(listed, key=lambda info: (-info["last_modified"], info["session_id"]))


def entries_of(file: Path) -> list:
    entries = []
    for line in file.read_bytes().decode("utf-8", "replace").split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append(entry)
    return entries


def appended(file: Path, before: bytes) -> object:
    text = file.read_bytes()
    if not text.startswith(before):
        return "something else than the end has changed"
    return [json.loads(line) for line in text[len(before) :].splitlines() if line]


def normalised(entries: list) -> list:
    """Fresh ids and the time of now replaced by their order."""
    numbers: dict[str, str] = {}

    def number(value: object) -> object:
        if not isinstance(value, str):
            return value
        return numbers.setdefault(value, f"#{len(numbers)}")

    result = []
    for entry in entries:
        entry = dict(entry)
        for name in ("uuid", "parentUuid", "logicalParentUuid", "sessionId"):
            if name in entry:
                entry[name] = number(entry[name])
        if entry.get("timestamp", "").startswith("20") and "forkedFrom" not in entry:
            entry["timestamp"] = "now"
        result.append(entry)
    for entry in result[::-1]:
        if "forkedFrom" in entry:
            entry["timestamp"] = "now"
            break
    return result
