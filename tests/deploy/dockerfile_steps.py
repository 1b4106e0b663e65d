"""Runs the steps of deploy/Dockerfile in a folder, without a container."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
IMAGE_PATHS = re.compile(r"(?<![\w./])/(?=(?:opt|build)\b)")  # absolute paths that the image has and this machine lacks
OTHER_USER = 10001


def instructions() -> list[tuple[str, str]]:
    """Every instruction with its arguments, without comments."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    parts = (line.partition(" ") for line in text.splitlines() if line)
    return [(instruction, rest.strip()) for instruction, _, rest in parts]


def included() -> list[str]:
    """The patterns of files that the build sees."""
    lines = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().split()
    assert lines[0] == "*"
    return [line.removeprefix("!") for line in lines[1:]]


def python_for_others() -> str:
    """A Python of this version that another user can run too, where there is one."""
    here = Path(sys.executable).resolve()
    folders = [here, *here.parents]
    if all(folder.stat().st_mode & 0o001 for folder in folders):
        return str(here)
    return shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin") or str(here)


@dataclass
class Steps:
    """The file system of the image under `root`, and how its container starts."""

    root: Path
    user: int | None = None
    entrypoint: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def inside(self, text: str) -> str:
        """A text with the image's paths as paths of this machine."""
        return IMAGE_PATHS.sub(f"{self.root}/", text)

    def build(self, context: Path) -> None:
        """Do every step; the packages that the wheel needs are those of this Python."""
        bin_ = self.root / "bin"
        bin_.mkdir(parents=True)
        (bin_ / "python").symlink_to(python_for_others())
        for instruction, rest in instructions():
            if instruction == "COPY" and not rest.startswith("--from="):
                self._copy(context, *rest.split())
            elif instruction == "RUN":
                self._run(rest)
            elif instruction == "ENV":
                self.environment |= {name: self.inside(value) for name, value in re.findall(r"(\w+)=(\S+)", rest)}
            elif instruction == "USER":
                assert rest == f"{OTHER_USER}:{OTHER_USER}"
                self.user = OTHER_USER
            elif instruction == "HEALTHCHECK":
                self.health = json.loads(self.inside(rest.partition("CMD ")[2]))
            elif instruction == "ENTRYPOINT":
                self.entrypoint = json.loads(rest)
            else:
                assert instruction in ("ARG", "FROM", "COPY", "WORKDIR", "EXPOSE"), instruction
        [site] = (self.root / "opt" / "steelyard" / "lib").glob("python*/site-packages")
        others = [path for path in sys.path if path.endswith("site-packages")]
        (site / "others.pth").write_text("\n".join(others) + "\n")

    def _copy(self, context: Path, pattern: str, target: str) -> None:
        sources = sorted(context.glob(pattern))
        assert sources, f"nothing to copy: {pattern}"
        assert any(fnmatch(pattern, path) for path in included()), f"{pattern} is ignored by the build"
        to = Path(self.inside(target))
        for source in sources:
            into = to / source.name if target.endswith("/") else to
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, into)

    def _run(self, line: str) -> None:
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        done = subprocess.run(
            ["sh", "-c", self.inside(line)], env=environment | offline, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def started_as(self) -> dict[str, Any]:
        """The user for a process of the container, where this process may choose one."""
        return {"user": self.user, "group": self.user} if self.user and os.getuid() == 0 else {}
