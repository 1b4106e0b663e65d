"""More clients than the initial limit on open files, which is 256 on macOS."""

from __future__ import annotations

import socket
import subprocess
from contextlib import ExitStack
from urllib.parse import urlsplit

from tests.gateway.gateways import KEY, Gateway
from tests.upstreams import FaultUpstream, command


def test_a_request_is_answered_beside_more_clients_than_the_soft_limit_of_open_files(upstream: FaultUpstream) -> None:
    line, environment = command("serve", "--upstream", upstream.url, "--model", "good", "--port", 0)
    few = ["sh", "-c", 'ulimit -Sn 64 && exec "$@"', "sh", *line]
    variables = environment | {"STEELYARD_KEY": KEY}
    with subprocess.Popen(few, stdout=subprocess.PIPE, text=True, env=variables) as running, ExitStack() as crowd:
        crowd.callback(running.kill)
        assert running.stdout is not None
        url = running.stdout.readline().split(" at ")[1].strip().removesuffix("/v1")
        server = urlsplit(url)
        for _ in range(100):
            crowd.enter_context(socket.create_connection((server.hostname, server.port)))
        assert Gateway(url).chat(model="steelyard/vote").status == 200
