"""Starts the installed gateway on the embedded LLM, asks it one question, and stops it by SIGTERM."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
from pathlib import Path
from threading import Timer

from tools.installation import CheckError, Installation, clean_environment

PATIENCE = 300.0  # seconds until the gateway is killed
REQUEST = {
    "model": "steelyard/vote",
    "max_tokens": 32,
    "messages": [{"role": "user", "content": "What is 3 + 4?"}],
}
SAMPLES = 3


def check_serving(installed: Installation) -> None:
    """Fail unless the gateway answers by a vote and ends with exit code 0."""
    log = installed.work / "serve.log"
    command = [str(installed.executable), "serve", "--upstream", "local", "--port", "0", "-n", str(SAMPLES)]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, cwd=installed.work, env=clean_environment(), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as gateway,
    ):
        deadline = Timer(PATIENCE, gateway.kill)
        deadline.start()
        try:
            first = gateway.stdout.readline() if gateway.stdout else ""
            address = re.search(r"http://127\.0\.0\.1:(\d+)", first)
            if address is None:
                raise CheckError(f"steelyard serve did not start: {_last_line(log)}")
            _ask(int(address[1]))
            gateway.send_signal(signal.SIGTERM)
            code = gateway.wait()
        except (OSError, http.client.HTTPException) as error:
            raise CheckError(f"steelyard serve failed: {error or type(error).__name__}") from None
        finally:
            deadline.cancel()
            gateway.kill()
    if code:
        raise CheckError(f"steelyard serve ended with exit code {code} after SIGTERM: {_last_line(log)}")


def _ask(port: int) -> None:
    """Ask one question; the reply must have a text and count the samples that voted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(
        "POST", "/v1/chat/completions", json.dumps(REQUEST).encode(), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if response.status != http.client.OK:
        raise CheckError(f"the gateway answered {response.status}: {body[:200].decode(errors='replace')}")
    reply = json.loads(body)
    if not reply["choices"][0]["message"]["content"] or reply["steelyard"]["samples"]["drawn"] != SAMPLES:
        raise CheckError(f"the gateway's reply is not a vote of {SAMPLES} samples: {body[:200].decode()}")


def _last_line(log: Path) -> str:
    """The last line on the gateway's standard error."""
    lines = log.read_text().strip().splitlines()
    return lines[-1] if lines else "it printed nothing"
