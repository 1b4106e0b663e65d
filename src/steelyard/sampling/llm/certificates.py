"""The TLS certificates to trust, and the client certificate to present."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from steelyard.foundation.environment import CLIENT_CERTIFICATE
from steelyard.foundation.errors import SettingError

OPENSSL = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # read by OpenSSL itself
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # a file or a folder

Result = TypeVar("Result")


def tls_context() -> ssl.SSLContext:
    """A context that trusts the certificates named by variables, or the system's if none is set."""
    context = _trusting([variable for variable in BUNDLES if os.environ.get(variable)])
    context.set_alpn_protocols(["http/1.1"])
    if path := os.environ.get(CLIENT_CERTIFICATE):
        try:
            context.load_cert_chain(path, password="")  # else an encrypted key prompts on the terminal
        except (OSError, ValueError):
            raise SettingError(
                f"${CLIENT_CERTIFICATE} ({path}) is not a PEM file with a certificate and its unencrypted key"
            ) from None
    return context


def _trusting(bundles: list[str]) -> ssl.SSLContext:
    if not bundles:
        return ssl.create_default_context()
    context = _loaded(ssl.create_default_context, bundles[0])  # without the system's certificates
    for variable in bundles[1:]:
        _loaded(context.load_verify_locations, variable)
    if any(map(os.environ.get, OPENSSL)):
        context.load_default_certs()
    return context


def _loaded(load: Callable[..., Result], variable: str) -> Result:
    path = Path(os.environ[variable])
    try:
        return load(**{"capath" if path.is_dir() else "cafile": str(path)})
    except OSError:  # ssl.SSLError is one
        raise SettingError(f"${variable} ({path}) is not a PEM file or a folder of certificates") from None
