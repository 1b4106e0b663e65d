"""Keys stay with the process that needs them, and out of what verifiers and doctor say."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steelyard.answers.equivalence import EquivalenceChecker
from steelyard.cli.diagnosis.servers import _there
from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm import embedded as local
from steelyard.sampling.llm.address import Address, read_address
from tests.upstreams import CANARY

NAMES = ("OPENAI_API_KEY", "HF_TOKEN", "MY_SECRET", "UNUSUAL_NAME")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys in the environment, one under a name that only --key-env tells."""
    for name in NAMES:
        monkeypatch.setenv(name, CANARY)
    names: set[str] = set()
    monkeypatch.setattr("steelyard.sampling.llm.address.KEY_NAMES", names)
    monkeypatch.setattr("steelyard.foundation.environment.KEY_NAMES", names)
    read_address("http://h/v1", "UNUSUAL_NAME")


@pytest.mark.usefixtures("keys")
def test_the_processes_that_read_answers_have_no_keys() -> None:
    with EquivalenceChecker(workers=1) as checker:
        assert checker.values(["\\sqrt{4}"]) == [2.0]
        process = checker._idle[0].process
        assert process is not None
        environment = Path(f"/proc/{process.pid}/environ").read_bytes()
    assert b"PATH=" in environment
    assert CANARY.encode() not in environment


@pytest.mark.usefixtures("keys")
def test_the_embedded_llm_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, str] = {}

    def started(*_: Any, env: dict[str, str], **__: Any) -> Any:
        given.update(env)
        raise OSError("not started")

    monkeypatch.setattr(local, "find_weights", lambda: Path("weights.gguf"))
    monkeypatch.setattr(subprocess, "Popen", started)
    with pytest.raises(OSError, match="not started"), local.serve_local():
        pass
    assert "PATH" in given
    assert CANARY not in given.values()


class Named:
    """A client whose server has the key for the name of its model."""

    address = Address("http://h/v1", CANARY)

    async def request(self, *_: object) -> Any:
        return {"data": [{"id": f"model of {CANARY}"}]}


def test_doctor_lists_models_without_the_key() -> None:
    finding = asyncio.run(_there(Named()))  # type: ignore[arg-type]
    assert "its models: model of ***" in finding.found


def test_a_key_is_read_from_a_file_where_the_variable_is_not_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(file))
    with pytest.raises(SettingError, match=r"named by \$OPENAI_API_KEY_FILE: No such file"):
        read_address("http://h/v1")
    problems = (
        (b"", "is empty"),
        (b"\xff\xfe", "not UTF-8; name a readable file"),
        (b"two words", "contains blanks"),
        (b"k" * 65_537, "larger than 65,536 bytes; name a readable file"),
    )
    for content, problem in problems:
        file.write_bytes(content)
        with pytest.raises(SettingError, match=problem):
            read_address("http://h/v1")
    file.write_text(f"{CANARY}\n")
    assert read_address("http://h/v1").key == CANARY
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path))
    with pytest.raises(SettingError, match=r"the key and nothing else$"):
        read_address("http://h/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")
    assert read_address("http://h/v1").key == "another-key"
