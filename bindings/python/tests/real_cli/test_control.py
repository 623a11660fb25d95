"""Control requests."""

import uuid
from typing import Any

import pytest

import towline

from .stage import Stage
from .talk import good, tool, turn


@pytest.mark.both_versions
async def test_set_model(stage: Stage) -> None:
    async with stage.client() as client:
        await turn(client, "with the first")
        await client.set_model("claude-opus-4-5")
        await turn(client, "with the other")
    assert [body["model"] for body in stage.asked("with the first")] == ["claude-sonnet-4-5"]
    (other,) = [body["model"] for body in stage.asked("with the other")]
    assert other.startswith("claude-opus-4-5")


async def test_an_unknown_request_is_refused(stage: Stage) -> None:
    async with stage.client() as client:
        with pytest.raises(Exception, match="no_such_request"):
            await client.request("no_such_request")


async def test_set_permission_mode(stage: Stage) -> None:
    asked = 0

    async def can_use_tool(*_: Any) -> Any:
        nonlocal asked
        asked += 1
        return towline.PermissionResultAllow()

    def write(name: str) -> str:
        return tool("Write", {"file_path": str(stage.project / name), "content": "text"})

    async with stage.client(can_use_tool=can_use_tool) as client:
        await turn(client, write("asked"))
        assert asked == 1
        await client.set_permission_mode("acceptEdits")
        await turn(client, write("not-asked"))
        assert asked == 1 and (stage.project / "not-asked").exists()
        with pytest.raises(Exception, match="bypass"):
            await client.set_permission_mode("bypassPermissions")


async def test_mcp_status(stage: Stage) -> None:
    @towline.tool("one", "One.", {})
    async def one(_: dict[str, Any]) -> dict[str, Any]:
        return {"content": []}

    server = towline.create_sdk_mcp_server("kit", "1.0.0", [one])
    async with stage.client(mcp_servers={"kit": server}) as client:
        # The first turn waits for the servers.
        await turn(client, "hello")
        status = await client.get_mcp_status()
    (kit,) = [server for server in status["mcpServers"] if server["name"] == "kit"]
    assert kit["status"] == "connected"
    assert kit.get("serverInfo", {}).get("version") == "1.0.0"


async def test_get_context_usage(stage: Stage) -> None:
    async with stage.client() as client:
        await turn(client, "hello")
        usage = await client.get_context_usage()
    assert usage["totalTokens"] > 0 and usage["maxTokens"] > 0 and usage["categories"]


async def test_get_settings(stage: Stage) -> None:
    async with stage.client(settings='{"cleanupPeriodDays": 17}') as client:
        settings = await client.request("get_settings")
    assert settings["effective"]["cleanupPeriodDays"] == 17


async def test_server_info(stage: Stage) -> None:
    async with stage.client() as client:
        info = await client.get_server_info()
    assert info is not None and info["commands"] and "output_style" in info


async def test_rewind_files(stage: Stage) -> None:
    file = stage.project / "draft"
    file.write_text("before")
    message_id = str(uuid.uuid4())

    async def write() -> Any:
        prompt = tool("Write", {"file_path": str(file), "content": "after"})
        yield {"type": "user", "message": {"role": "user", "content": prompt}, "uuid": message_id}

    async with stage.client(
        enable_file_checkpointing=True, permission_mode="acceptEdits"
    ) as client:
        await turn(client, tool("Read", {"file_path": str(file)}))
        await client.query(write())
        assert good([message async for message in client.receive_response()]) == "done"
        assert file.read_text() == "after"
        await client.rewind_files(message_id)
        assert file.read_text() == "before"
        with pytest.raises(Exception, match=".+"):
            await client.rewind_files(str(uuid.uuid4()))
