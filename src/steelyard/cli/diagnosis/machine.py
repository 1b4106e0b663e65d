"""Is this machine able: Python, torch, a GPU, room on the disk, the embedded LLM."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from steelyard.cli.diagnosis import BAD, GOOD, NOTE, Finding
from steelyard.foundation.cores import usable_cores
from steelyard.foundation.version import __version__
from steelyard.sampling.llm.address import KEY_ENV, NO_KEY

LEAST_DISK = 1.0  # GB
INSTALL = "pip install 'steelyard[prm]'"


def look(folder: Path, *, key_env: str | None, torch_needed: bool) -> list[Finding]:
    """What this machine has; torch is only missed when a verifier is to run here, a key where one is for all."""
    return [
        Finding("steelyard", GOOD, f"{__version__} on Python {platform.python_version()}, {usable_cores()} cores"),
        disk(folder),
        *([] if key_env is None else [key(key_env)]),
        torch(needed=torch_needed),
        gpu(needed=torch_needed),
    ]


def disk(folder: Path) -> Finding:
    """Free space where the run will be."""
    there = next((parent for parent in (folder, *folder.resolve().parents) if parent.is_dir()), Path("/"))
    try:
        free = shutil.disk_usage(there).free / 1e9
    except OSError as error:
        return Finding("disk", BAD, f"{there}: {error.strerror or error}", "choose another folder with -o")
    if not os.access(there, os.W_OK):
        return Finding("disk", BAD, f"{there} cannot be written to", "choose another folder with -o")
    if free < LEAST_DISK:
        return Finding(
            "disk", BAD, f"{free:.2f} GB free at {there}", "free some space, or choose another folder with -o"
        )
    return Finding("disk", GOOD, f"{free:,.0f} GB free at {there.resolve()}")


def torch(*, needed: bool) -> Finding:
    """Whether torch and transformers are installed; without importing them."""
    versions = {name: _version(name) for name in ("torch", "transformers")}
    missing = [name for name, number in versions.items() if number is None]
    if not missing:
        return Finding("torch", GOOD, ", ".join(f"{name} {number}" for name, number in versions.items()))
    problem = f"{' and '.join(missing)} not installed"
    if needed:
        return Finding("torch", BAD, problem, INSTALL)
    return Finding("torch", NOTE, problem, f"only needed for verifiers in this process: {INSTALL}")


def gpu(*, needed: bool) -> Finding:
    """Whether there is a GPU that torch can use."""
    driver = Path("/proc/driver/nvidia/version").exists()
    if find_spec("torch") is None:
        message = "an NVIDIA driver, but no torch to use it" if driver else "none found"
        return Finding("gpu", NOTE, message, INSTALL if driver else "verifiers run on the CPU too, slowly")
    import torch

    if not torch.cuda.is_available():
        fix = "install the CUDA build of torch" if driver else "verifiers run on the CPU too, slowly"
        return Finding("gpu", NOTE, "torch finds none" + (", though there is a driver" if driver else ""), fix)
    memory = torch.cuda.get_device_properties(0).total_memory / 1e9
    name = torch.cuda.get_device_name(0)
    if needed and memory < 16:
        return Finding("gpu", NOTE, f"{name}, {memory:.0f} GB", "a 7B verifier needs about 16 GB; smaller ones fit")
    return Finding("gpu", GOOD, f"{name}, {memory:.0f} GB")


def key(name: str) -> Finding:
    """Whether a key is set; the key itself is nobody's business, nor a name that may be the key."""
    if name == NO_KEY:
        return Finding(
            "key", NOTE, "no key is sent, because --key-env has none for it", "add NAME=VARIABLE if it needs one"
        )
    if os.environ.get(name, "").strip():
        return Finding("key", GOOD, f"${name} is set")
    subject = f"${name} is" if name == KEY_ENV else "the variable named by --key-env is"
    return Finding("key", NOTE, f"{subject} not set", "fine for your own server; a hosted API needs one")


def _version(package: str) -> str | None:
    try:
        return version(package) if find_spec(package) else None
    except PackageNotFoundError:
        return None
