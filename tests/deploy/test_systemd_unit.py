"""deploy/steelyard.service: systemd accepts it, and the server it starts reads its keys from files and answers."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.admission import CLOSING
from steelyard.sampling.llm.completion_json import ECHO
from tests.gateway.gateways import KEY, Gateway
from tests.upstreams import CANARY, FaultUpstream, command

FOLDER = Path(__file__).parents[2] / "deploy"
UNIT = FOLDER / "steelyard.service"
ECHOING = "fault:echo?unveil"  # repeats the key that it is sent, where the prompt has this word


def setting(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)


def variables(url: str) -> dict[str, str]:
    """The example of the environment, with the test's upstream."""
    pairs = dict(line.split("=", 1) for line in (FOLDER / "gateway.env").read_text().splitlines() if line[0] != "#")
    return pairs | {"STEELYARD_SERVE_UPSTREAM": url, "STEELYARD_SERVE_MODEL": ECHOING}


def body(prompt: str) -> dict[str, Any]:
    return {"model": "steelyard/vote", "messages": [{"role": "user", "content": prompt}]}


def test_what_the_unit_starts_reads_its_keys_out_of_credentials(upstream: FaultUpstream, tmp_path: Path) -> None:
    credentials = {
        name: tmp_path / name for name, _ in (credential.split(":") for credential in setting("LoadCredential"))
    }
    credentials["client-keys"].write_text(f"{KEY}\n")
    credentials["upstream-key"].write_text(f"{CANARY}\n")
    [started] = setting("ExecStart")
    program, *arguments = shlex.split(started.replace("%d", str(tmp_path)))
    assert program == "/opt/steelyard/bin/steelyard"
    line, environment = command(*arguments, "--port", 0)
    for name in ("OPENAI_API_KEY", "STEELYARD_KEY", "HOME"):
        environment.pop(name, None)
    environment |= dict(line.replace("%d", str(tmp_path)).split("=", 1) for line in setting("Environment"))
    environment |= variables(upstream.url)
    running = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
    try:
        assert running.stdout is not None
        gateway = Gateway(running.stdout.readline().split(" at ")[1].strip().removesuffix("/v1"))
        host = {"Host": environment["STEELYARD_SERVE_ALLOW_HOST"]}
        assert gateway.send("GET", "/v1/models", key=None, headers=host).status == 401
        assert gateway.send("POST", "/v1/chat/completions", body("unit?"), headers=host).status == 200
        refused = gateway.send("POST", "/v1/chat/completions", body("unveil"), headers=host)
        assert ECHO in refused.error["message"], "the upstream was sent the key of the credential"
        running.terminate()
        assert running.wait() == 0
    finally:
        running.kill()
        running.communicate()


def test_the_unit_waits_longer_than_the_gateway_drains_and_has_no_shell() -> None:
    assert float(setting("TimeoutStopSec")[0]) > Caps().drain + CLOSING
    assert not re.search(r"\bsh\b|[|;&$`]", setting("ExecStart")[0])
    for name in ("DynamicUser", "NoNewPrivileges", "ProtectHome"):
        assert setting(name) == ["yes"]
    assert setting("ProtectSystem") == ["strict"]
    assert setting("Restart") == ["on-failure"]


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/steelyard/bin/steelyard", sys.executable))
    arguments = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if UNIT.name in line]) == (0, [])
