"""The TLS certificates to trust, and the client certificate to present."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from steelyard.foundation.environment import CLIENT_CERTIFICATE
from steelyard.foundation.errors import SettingError

TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")  # the last two: file or folder

Result = TypeVar("Result")


def tls_context() -> ssl.SSLContext:
    """A context that trusts the certificates named by variables, or the system's if none is set."""
    context = _trusting([variable for variable in TRUSTED if os.environ.get(variable)])
    context.set_alpn_protocols(["http/1.1"])
    if path := os.environ.get(CLIENT_CERTIFICATE):
        try:
            context.load_cert_chain(path, password="")  # else an encrypted key prompts on the terminal
        except (OSError, ValueError):
            raise SettingError(
                f"${CLIENT_CERTIFICATE} ({path}) is not a PEM file with a certificate and its unencrypted key: "
                "correct it, or unset it"
            ) from None
    return context


def _trusting(variables: list[str]) -> ssl.SSLContext:
    if not variables:
        return ssl.create_default_context()
    context = _loaded(ssl.create_default_context, variables[0])  # without the system's certificates
    for variable in variables[1:]:
        _loaded(context.load_verify_locations, variable)
    return context


def _loaded(load: Callable[..., Result], variable: str) -> Result:
    path = os.environ[variable]
    is_folder = variable == "SSL_CERT_DIR" or Path(path).is_dir()  # which may be several, joined by colons
    try:
        return load(**{"capath" if is_folder else "cafile": path})
    except OSError:  # ssl.SSLError is one
        raise SettingError(
            f"${variable} ({path}) is not a PEM file or a folder of certificates: correct it, or unset it"
        ) from None
