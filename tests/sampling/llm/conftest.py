"""Certificates for the tests of TLS and of proxies."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

OPENSSL = str(shutil.which("openssl"))
EXPIRED = """
[ca]
default_ca = own
[own]
database = index.txt
serial = serial.txt
new_certs_dir = .
default_md = sha256
policy = names
x509_extensions = extensions
[names]
commonName = supplied
[extensions]
basicConstraints = CA:TRUE
subjectAltName = IP:127.0.0.1
"""
NEW = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates with their keys: `ours` of this address, `other` of another name, `expired` of this address."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl makes the certificates")
    folder = tmp_path_factory.mktemp("certificates")
    for name, who in (("ours", "IP:127.0.0.1"), ("other", "DNS:other.example")):
        files = ["-addext", f"subjectAltName={who}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run([OPENSSL, *NEW.split(), *files], cwd=folder, check=True, capture_output=True)
    make_expired(folder)
    return folder


def make_expired(folder: Path) -> None:
    """Make a self-signed certificate that was valid for one day in 2020."""
    request = "req -new -key ours.key -subj /CN=test -out expired.csr"
    dates = "-startdate 20200101000000Z -enddate 20200102000000Z"
    signed = f"ca -batch -selfsign -config ca.conf -keyfile ours.key {dates} -in expired.csr -out expired.pem"
    (folder / "ca.conf").write_text(EXPIRED)
    (folder / "index.txt").write_text("")
    (folder / "serial.txt").write_text("01\n")
    shutil.copy(folder / "ours.key", folder / "expired.key")
    for line in (request, signed):
        subprocess.run([OPENSSL, *line.split()], cwd=folder, check=True, capture_output=True)
