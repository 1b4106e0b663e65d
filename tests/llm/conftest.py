"""Certificates for the tests of TLS and of proxies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

OPENSSL = str(shutil.which("openssl"))
NEW = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates with their keys: one of this address, one of another name."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl makes the certificates")
    folder = tmp_path_factory.mktemp("certificates")
    for name, who in (("ours", "IP:127.0.0.1"), ("other", "DNS:other.example")):
        files = ["-addext", f"subjectAltName={who}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run([OPENSSL, *NEW.split(), *files], cwd=folder, check=True, capture_output=True)
    return folder
