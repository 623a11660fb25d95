"""The CLI's stderr."""

from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, asked, turn

import towline


async def ask(options: "towline.ClaudeAgentOptions") -> None:
    async for _ in towline.query(prompt="hi", options=options):
        pass


async def test_each_line_goes_to_the_callback(cli: FakeCli) -> None:
    lines: list[str] = []
    await ask(cli.options({"stderr": "one\ntwo\n\nthree\n"}, turn(), stderr=lines.append))
    assert [line for line in lines if line] == ["one", "two", "three"]


async def test_a_line_over_several_reads_is_one(cli: FakeCli) -> None:
    lines: list[str] = []
    parts: list[Any] = [{"stderr": "first half, "}, {"sleep_ms": 200}, {"stderr": "second half\n"}]
    await ask(cli.options(parts, turn(), stderr=lines.append))
    assert lines == ["first half, second half"]


async def test_the_rest_comes_at_the_end(cli: FakeCli) -> None:
    lines: list[str] = []
    await ask(cli.options(turn(), {"stderr": "no newline"}, {"exit": 0}, stderr=lines.append))
    assert lines == ["no newline"]


async def test_a_callback_that_raises_is_called_again(cli: FakeCli, nothing_logged: None) -> None:
    lines: list[str] = []

    def callback(line: str) -> None:
        lines.append(line)
        raise ValueError("the callback's own fault")

    await ask(cli.options({"stderr": "one\ntwo\n"}, turn(), stderr=callback))
    assert lines == ["one", "two"]


async def test_much_of_it_does_not_stop_the_cli(cli: FakeCli) -> None:
    await ask(cli.options(PROMPT, {"stderr": "x" * 99 + "\n", "times": 10_000}, INIT, RESULT))
    cli.holds()


async def test_an_endless_line_comes_in_pieces(cli: FakeCli) -> None:
    pieces: list[str] = []
    await ask(
        cli.options(
            PROMPT, {"stderr": "y" * 1000, "times": 3000}, INIT, RESULT, stderr=pieces.append
        )
    )
    assert sum(map(len, pieces)) == 3_000_000 and set("".join(pieces)) == {"y"}
    assert len(pieces) > 1, "nothing is kept without a limit"


async def test_bytes_that_are_no_text(cli: FakeCli) -> None:
    lines: list[str] = []
    await ask(
        cli.options({"stderr_b64": "//5iYWQK"}, {"stderr": "good\n"}, turn(), stderr=lines.append)
    )
    assert len(lines) == 2 and lines[0].endswith("bad") and lines[1] == "good"


@pytest.mark.parametrize("callback", [False, True])
async def test_its_end_stands_in_the_error(cli: FakeCli, callback: bool) -> None:
    lines: list[str] = []
    more: dict[str, Any] = {"stderr": lines.append} if callback else {}
    steps = [asked("initialize"), {"stderr": "the licence has expired\n"}, {"exit": 4}]
    with pytest.raises(towline.ProcessError) as caught:
        await ask(cli.options(steps, **more))
    assert "the licence has expired" in str(caught.value.stderr)
    assert lines == (["the licence has expired"] if callback else [])
