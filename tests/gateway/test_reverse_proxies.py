"""The examples of docs/deploy.md for reverse proxies, run by the real programs where they are installed."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.gateway.gateways import Gateway, gateway
from tests.gateway.outcomes import listens
from tests.upstreams import FaultUpstream
from tests.waiting import until

NAME = "votes.example.org"
PASSED = {"Host": NAME, "Origin": f"https://{NAME}"}
PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"
NGINX = "daemon off; pid nginx.pid; error_log error.log; events {{}} http {{ access_log off; {paths} {server} }}"
PATHS = " ".join(f"{each}_temp_path {each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


def example(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(found)


def nginx_words(folder: Path, port: int, target: str) -> list[str]:
    """The example without its certificate, which only the owner of the name can have."""
    server = re.sub(r" +ssl_certificate.*\n", "", example("nginx")).replace(
        "listen 443 ssl", f"listen 127.0.0.1:{port}"
    )
    (folder / "nginx.conf").write_text(NGINX.format(paths=PATHS, server=server.replace("127.0.0.1:8000", target)))
    return ["nginx", "-p", str(folder), "-c", "nginx.conf"]


def caddy_words(folder: Path, port: int, target: str) -> list[str]:
    site = example("caddy").replace(f"{NAME} {{", f"http://{NAME}:{port} {{", 1).replace("127.0.0.1:8000", target)
    (folder / "Caddyfile").write_text("{\n    admin off\n}\n" + site)
    return ["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"]


@contextmanager
def proxy(name: str, folder: Path, target: str) -> Iterator[Gateway]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = {"nginx": nginx_words, "caddy": caddy_words}[name](folder, port, target)
    program = shutil.which(words[0]) or shutil.which(words[0], path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip(f"{name} is not installed")
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen([program, *words[1:]], cwd=folder, stdout=log, stderr=log)
    try:
        through = Gateway(f"http://127.0.0.1:{port}")
        until(lambda: listens(through) or running.poll() is not None)
        assert running.poll() is None, (folder / "log").read_text()
        yield through
    finally:
        running.terminate()
        running.wait()


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_the_example_of_the_docs_passes_votes_and_streams_on(
    name: str, upstream: FaultUpstream, tmp_path: Path
) -> None:
    with (
        gateway(upstream.url, allow_hosts=(NAME,)) as running,
        proxy(name, tmp_path, urlsplit(running.url).netloc) as through,
    ):
        body = {"model": "steelyard/majority", "messages": [{"role": "user", "content": "1 + 1?"}]}
        path = "/v1/chat/completions"
        assert through.send("POST", path, body, headers=PASSED).json["choices"][0]["message"]["content"]
        streamed = through.send("POST", path, body | {"stream": True}, headers=PASSED)
        assert streamed.body.rstrip().endswith(b"data: [DONE]")
        assert through.send("GET", "/v1/models", key=None, headers=PASSED).status == 401
        foreign = through.send("GET", "/v1/models", headers={"Host": NAME, "Origin": "https://evil.example"})
        assert foreign.error["code"] == "wrong_origin"
    with gateway(upstream.url) as running, proxy(name, tmp_path, urlsplit(running.url).netloc) as through:
        assert through.send("GET", "/v1/models", headers=PASSED).error["code"] == "wrong_host"
