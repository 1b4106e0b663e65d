"""A Hugging Face hub on loopback that hands out folders: what `datasets` and `huggingface_hub` ask of the real one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlparse

COMMIT = "a" * 40


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, folders: Mapping[str, Path], asked: list[str], *args: Any) -> None:
        self.folders = folders
        self.asked = asked
        super().__init__(*args)

    def log_message(self, *_: Any) -> None:
        """Keep silent."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlparse(self.path).path)
        self.asked.append(path)
        for name, folder in self.folders.items():
            kind = "" if name.startswith("datasets/") else "models/"
            about, resolve = f"/api/{kind}{name}", f"/{name}/resolve/"
            if path == about or path.startswith(f"{about}/revision/"):
                return self._send(200, self._about(name, folder))
            if path.startswith(f"{about}/tree/"):
                return self._send(200, self._tree(folder, path.removeprefix(f"{about}/tree/").partition("/")[2]))
            if path.startswith(f"{about}/paths-info/"):
                return self._send(200, [_entry(folder, each) for each in sorted(folder.rglob("*"))])
            if path.startswith(resolve):
                file = folder / path.removeprefix(resolve).partition("/")[2]
                if file.is_file():
                    return self._send(200, file.read_bytes())
                return self._send(404, {"error": "Entry not found"}, code="EntryNotFound")
        return self._send(404, {"error": "Repository not found"}, code="RepoNotFound")

    def _about(self, name: str, folder: Path) -> dict[str, Any]:
        files = [{"rfilename": str(file.relative_to(folder))} for file in _files(folder)]
        return {"id": name.removeprefix("datasets/"), "sha": COMMIT, "tags": [], "siblings": files}

    def _tree(self, folder: Path, under: str) -> list[dict[str, Any]]:
        whole = "recursive=true" in urlparse(self.path).query.lower()
        return [_entry(folder, path) for path in sorted((folder / under).glob("**/*" if whole else "*"))]

    def _send(self, status: int, body: bytes | dict[str, Any] | list[dict[str, Any]], code: str = "") -> None:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("Content-Type", "application/octet-stream" if isinstance(body, bytes) else "application/json")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{sha1(sent).hexdigest()}"')
        if code:
            self.send_header("X-Error-Code", code)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(sent)


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _entry(folder: Path, path: Path) -> dict[str, Any]:
    kind, content = ("file", path.read_bytes()) if path.is_file() else ("directory", b"")
    return {"type": kind, "path": str(path.relative_to(folder)), "size": len(content), "oid": sha1(content).hexdigest()}


@contextmanager
def hub(folders: Mapping[str, Path]) -> Iterator[tuple[str, list[str]]]:
    """Serve folders by name (`OWNER/NAME`, `datasets/OWNER/NAME`); its address, and the paths asked for."""
    asked: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, folders, asked))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
