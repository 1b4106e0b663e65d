"""A server that speaks S3, and a proxy before it that cuts uploads off in the middle."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SECRET = "never-to-be-seen"
SERVER = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(3600)
"""


@contextmanager
def bucket(name: str) -> Iterator[str]:
    """Serve a bucket; yield the server's address. This process, and all that it starts, finds it in its environment."""
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}"
            os.environ.update({**keys, "AWS_ALLOW_HTTP": "true", "AWS_ENDPOINT_URL": url})
            urllib.request.urlopen(urllib.request.Request(f"{url}/{name}", method="PUT")).close()
            yield url
        finally:
            for each in (*keys, "AWS_ALLOW_HTTP", "AWS_ENDPOINT_URL"):
                os.environ.pop(each, None)
            server.kill()


class Cutting(BaseHTTPRequestHandler):
    """Hands requests on; of an upload whose path ends with `cut` only half arrives, and then nobody answers."""

    protocol_version = "HTTP/1.1"
    server: CuttingServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        cut = self.command == "PUT" and bool(self.server.cut) and self.path.partition("?")[0].endswith(self.server.cut)
        behind = http.client.HTTPConnection(self.server.behind)
        behind.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            behind.putheader(name, value)
        behind.endheaders(body[: len(body) // 2] if cut else body)
        if cut:
            self.server.cuts += 1
            behind.close()
            self.close_connection = True
            return
        reply = behind.getresponse()
        content = reply.read()
        self.send_response_only(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", reply.getheader("Content-Length") or str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        behind.close()

    do_PUT = do_POST = do_HEAD = do_DELETE = do_GET

    def log_message(self, *said: object) -> None:
        pass


class CuttingServer(ThreadingHTTPServer):
    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), Cutting)
        self.behind, self.cut, self.cuts = urlsplit(behind).netloc, "", 0
        self.daemon_threads = True


@contextmanager
def cutting(behind: str) -> Iterator[CuttingServer]:
    """A proxy before a server; while the block lasts, the environment leads to it."""
    proxy = CuttingServer(behind)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{proxy.server_port}"
    try:
        yield proxy
    finally:
        os.environ["AWS_ENDPOINT_URL"] = behind
        proxy.shutdown()
        proxy.server_close()
