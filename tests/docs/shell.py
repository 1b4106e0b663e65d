"""Runs commands in bash as a reader types them, with `steelyard` on the path and a test server as the upstream."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from tests.upstreams import ROOT
from tests.waiting import PATIENCE

# What stands in an example for something of the reader's, and what a test runs it with.
STAND_INS = (
    (r"(--upstream|upstream=) ?local\b", r"\1 {url} --model good"),
    (r"https?://[\w.]+(:\d+)?/v1\b", "{url}"),
    (r"\bFILE\b", "labelled.parquet"),
    (r"\bNAME\b", "my-model"),
    (r" --port \d+", ""),
    (r"(steelyard serve )", r"\1--port 0 "),
)


class Shell:
    """Bash in a folder; what is exported stays exported."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.exports = folder, url, ""
        programs = folder / ".programs"
        programs.mkdir()
        for name, module in (("steelyard", "-m steelyard "), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module}"$@"\n')
            (programs / name).chmod(0o755)
        path = os.pathsep.join(map(str, (ROOT / "src", ROOT)))
        self.environment = os.environ | {"PYTHONPATH": path, "PATH": f"{programs}:{os.environ['PATH']}"}
        self.environment["THEIR_KEY"] = "sk-of-an-example"

    def filled(self, command: str) -> str:
        """The command with what the test has in place of the reader's server and files."""
        for pattern, replacement in STAND_INS:
            command = re.sub(pattern, replacement.format(url=self.url), command)
        return command

    def run(self, command: str) -> None:
        """Run a command, which must end well and print nothing that looks like a fault."""
        if "steelyard serve" in command:
            self.serve(command)
            return
        done = self.start(command)
        out, err = done.communicate()
        assert done.returncode == 0, f"{command}\n{err}{out}"
        assert not re.search(r"Traceback|Warning\b", err), f"{command}\n{err}"
        if command.startswith("export "):
            self.exports += command.partition("&&")[0] + "\n"

    def serve(self, command: str) -> None:
        """Run a server until it listens, and end it as a service manager does."""
        server = self.start(f"exec {command}")
        try:
            assert server.stdout is not None
            listens = server.stdout.readline()
            server.send_signal(signal.SIGTERM)
            out, err = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
        assert " at http://" in listens, f"{command}\n{listens}{out}{err}"
        assert server.returncode == 0, f"{command}\n{err}"
        assert "Traceback" not in err, f"{command}\n{err}"

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start a command in a bash of its own."""
        script = f"{self.exports}{command}"
        return subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script], cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
