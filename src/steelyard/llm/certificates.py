"""The TLS certificates to trust, and the client certificate to present."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from steelyard.environment import CLIENT_CERTIFICATE
from steelyard.errors import SettingError

OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # read by OpenSSL itself
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # a file or a folder, in place of the system's certificates


def tls_context() -> ssl.SSLContext:
    """A context that trusts the system's certificates, or those named by a variable."""
    context = _trusting(None if any(map(os.environ.get, OPENSSL)) else next(filter(os.environ.get, BUNDLES), None))
    context.set_alpn_protocols(["http/1.1"])
    if path := os.environ.get(CLIENT_CERTIFICATE):
        try:
            context.load_cert_chain(path, password="")  # else an encrypted key prompts on the terminal
        except (OSError, ValueError):
            raise SettingError(
                f"${CLIENT_CERTIFICATE} ({path}) is not a PEM file with a certificate and its unencrypted key"
            ) from None
    return context


def _trusting(variable: str | None) -> ssl.SSLContext:
    if variable is None:
        return ssl.create_default_context()
    path = Path(os.environ[variable])
    try:
        if path.is_dir():
            return ssl.create_default_context(capath=str(path))
        return ssl.create_default_context(cafile=str(path))
    except OSError:  # ssl.SSLError is one
        raise SettingError(f"${variable} ({path}) is not a PEM file or a folder of certificates") from None
