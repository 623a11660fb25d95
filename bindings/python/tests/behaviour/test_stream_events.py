"""Stream events: decoded when somebody looks at them, and to be told from others by nothing else."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from support.fake import FakeCli
from support.script import INIT, PROMPT, RESULT, SESSION, emit

import towline
from towline import StreamEvent

EVENT = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "text_delta", "text": 'é "中" 🎉\n[]{}'},
}
LINE = {
    "type": "stream_event",
    "uuid": "u1",
    "session_id": SESSION,
    "event": EVENT,
    "parent_tool_use_id": None,
}
MADE = StreamEvent(uuid="u1", session_id=SESSION, event=EVENT)


async def received(cli: FakeCli, **more: Any) -> StreamEvent:
    options = cli.options(
        PROMPT, INIT, emit({**LINE, **more}), RESULT, include_partial_messages=True
    )
    messages = [message async for message in towline.query(prompt="hi", options=options)]
    [found] = [message for message in messages if isinstance(message, StreamEvent)]
    return found


LOOKS: dict[str, Callable[[StreamEvent], Any]] = {
    "event": lambda message: message.event,
    "event twice": lambda message: (message.event["index"], message.event is message.event),
    "vars": lambda message: vars(message),
    "repr": repr,
    "equality": lambda message: message == MADE,
    "asdict": dataclasses.asdict,
    "replace": lambda message: dataclasses.replace(message, uuid="other"),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda message: pickle.loads(pickle.dumps(message)),
    "hasattr": lambda message: hasattr(message, "event"),
    "class": lambda message: hasattr(type(message), "event"),
    "uuid": lambda message: message.uuid,
    "default": lambda message: (message.user_message_uuid, type(message).user_message_uuid),
}


@pytest.mark.parametrize("look", LOOKS)
async def test_looks_like_one_that_was_made(cli: FakeCli, look: str) -> None:
    message = await received(cli)
    seen = LOOKS[look](message)
    assert seen == LOOKS[look](MADE)
    assert message == MADE and vars(message) == vars(MADE)
    assert message.raw == LINE and MADE.raw is None


async def test_its_event_can_be_set_and_deleted(cli: FakeCli) -> None:
    message = await received(cli)
    message.event = {"type": "ping"}
    assert message.uuid == "u1"
    assert message.event == {"type": "ping"} and vars(message)["event"] == {"type": "ping"}
    del message.event
    with pytest.raises(AttributeError, match="event"):
        _ = message.event


async def test_one_with_more_than_the_fields_keeps_it(cli: FakeCli) -> None:
    message = await received(cli, ttft_ms=3)
    assert message == MADE and message.raw == {**LINE, "ttft_ms": 3}
    assert pickle.loads(pickle.dumps(message)).raw == message.raw


async def test_a_match_statement_reads_it(cli: FakeCli) -> None:
    match await received(cli):
        case StreamEvent(event={"delta": {"text": text}}):
            assert text == EVENT["delta"]["text"]  # type: ignore[index]
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("look", LOOKS)
async def test_one_behind_others_that_were_looked_at(cli: FakeCli, look: str) -> None:
    """Their event is made before it is asked for."""
    lines = [emit({**LINE, "uuid": uuid}) for uuid in ("u0", "u1", "u2")]
    options = cli.options(PROMPT, INIT, *lines, RESULT, include_partial_messages=True)
    found: list[StreamEvent] = []
    async for message in towline.query(prompt="hi", options=options):
        if isinstance(message, StreamEvent):
            found.append(message)
            assert found[0].event == EVENT
    _, second, third = found
    seen = LOOKS[look](second)
    assert seen == LOOKS[look](MADE)
    assert second == MADE and vars(second) == vars(MADE) and second.raw == LINE
    del third.event
    with pytest.raises(AttributeError, match="event"):
        _ = third.event
    assert third.uuid == "u2"
