"""steelyard doctor: what is there, what is not, and how to mend it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

import steelyard as sy
from steelyard.cli.diagnosis.machine import disk
from tests.running import Done, steelyard
from tests.upstreams import CANARY, FaultUpstream

pytestmark = pytest.mark.usefixtures("key", "short_pauses")


def checks(done: Done) -> dict[str, dict[str, Any]]:
    assert CANARY not in done.out + done.err
    return {check["name"]: check for check in json.loads(done.out)["checks"]}


def look(upstream: FaultUpstream, model: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = steelyard("doctor", "--upstream", upstream.url, "--model", model, "--json")
    return done.code, checks(done)


def test_alone_it_looks_at_the_machine_and_nothing_is_red() -> None:
    done = steelyard("doctor", "--json")
    found = checks(done)
    assert done.code == 0
    assert {"settings", "steelyard", "disk", "key", "torch", "gpu"} == set(found)
    assert found["disk"]["status"] == "ok"
    assert found["key"]["found"] == "$OPENAI_API_KEY is set"


def test_a_good_server_is_all_green(upstream: FaultUpstream) -> None:
    code, found = look(upstream, "good")
    assert code == 0
    for name in ("server", "model", "n", "logprobs", "usage", "seeds"):
        assert found[name]["status"] == "ok", found[name]
    assert "its models: good" in found["server"]["found"]


@pytest.mark.parametrize(
    ("model", "name", "says"),
    [
        ("fault:no-n", "n", "one sample per request"),
        ("fault:slots@3", "n", "at most 3 samples"),
        ("fault:no-usage", "usage", "not counted"),
        ("fault:picky@logprobs", "logprobs", "no log-probabilities"),
        ("fault:picky@seed+logprobs", "seeds", "seeds are refused"),
    ],
)
def test_what_a_server_cannot_do_is_a_note_with_advice(
    upstream: FaultUpstream, model: str, name: str, says: str
) -> None:
    code, found = look(upstream, model)
    assert code == 0
    assert found[name]["status"] == "note"
    assert says in found[name]["found"]
    assert found[name]["fix"]


@pytest.mark.parametrize(
    ("model", "says"), [("fault:401", "HTTP 401"), ("fault:404", "HTTP 404"), ("fault:html", "HTML")]
)
def test_a_model_that_does_not_answer_is_red_with_a_fix(upstream: FaultUpstream, model: str, says: str) -> None:
    code, found = look(upstream, model)
    assert code == 1
    assert found["model"]["status"] == "red"
    assert says in found["model"]["found"]
    assert found["model"]["fix"]


def test_a_quota_that_is_used_up_is_called_that_and_nothing_is_to_be_started(upstream: FaultUpstream) -> None:
    _, found = look(upstream, "fault:quota")
    assert found["model"]["fix"] == "the quota of this key is used up: add credit, or use another key"
    assert "quota of this key" not in found["model"]["found"]


def test_a_server_that_is_not_there_is_red_with_a_fix() -> None:
    with socket.socket() as taken:  # nobody else listens there meanwhile
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = steelyard("doctor", "--upstream", f"http://127.0.0.1:{port}/v1", "--model", "m")
    assert done.code == 1
    assert f"red   server     http://127.0.0.1:{port}/v1: no connection" in done.out
    assert "→ start the server" in done.out
    assert "1 problem to fix." in done.out


def test_without_a_model_the_models_are_listed(upstream: FaultUpstream) -> None:
    done = steelyard("doctor", "--upstream", upstream.url, "--json")
    assert done.code == 0
    assert "its models: good" in checks(done)["server"]["found"]
    assert "--model" in checks(done)["model"]["fix"]


def test_the_proxy_of_each_address_is_shown_without_its_password(
    upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    ours, theirs = upstream.url, "https://verifier.example/v1"
    findings = sy.doctor(upstream=ours, verifier="p-true", verifier_upstream=theirs, verifier_model="m")
    assert [finding.found for finding in findings if finding.name == "proxy"] == [
        f"{ours} is reached directly",
        f"{theirs} is reached through http://***@127.0.0.1:1 (set by HTTPS_PROXY)",
    ]
    verifier = findings[-1]
    assert verifier.status == "red"
    assert (
        "no connection to the proxy http://***@127.0.0.1:1 (set by HTTPS_PROXY): connection refused" in verifier.found
    )
    assert "start the server" not in f"{verifier.found} {verifier.fix}"


@pytest.mark.parametrize(
    ("scheme", "key", "status"), [("http", CANARY, "note"), ("http", "EMPTY", "ok"), ("https", CANARY, "ok")]
)
def test_a_proxy_that_can_read_the_key_is_a_note(
    monkeypatch: pytest.MonkeyPatch, scheme: str, key: str, status: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_API_KEY", key)
    (proxy,) = (found for found in sy.doctor(upstream=f"{scheme}://server.example/v1") if found.name == "proxy")
    assert proxy.status == status
    assert ("can read the key" in proxy.found) == ("https://" in proxy.fix) == (status == "note")
    assert CANARY not in f"{proxy.found} {proxy.fix}"


def test_without_a_proxy_nothing_is_said_of_one(upstream: FaultUpstream) -> None:
    assert not any(finding.name == "proxy" for finding in sy.doctor(upstream=upstream.url))


def test_a_server_behind_a_proxy_that_is_down_is_red_with_what_to_do_about_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@127.0.0.1:1")
    finding = sy.doctor(upstream="https://server.example/v1")[-1]
    assert (finding.name, finding.status) == ("server", "red")
    assert finding.fix == "correct that variable, or add the server's host to NO_PROXY"


def test_an_address_that_is_none_is_a_mistake() -> None:
    done = steelyard("doctor", "--upstream", f"http://me:{CANARY}@host/v1")
    assert done.code == 2
    assert CANARY not in done.err


def test_a_verifier_that_needs_nothing_is_there() -> None:
    done = steelyard("doctor", "--verifier", "logprob", "--json")
    assert done.code == 0, done.out
    assert "it needs log-probabilities" in checks(done)["verifier"]["found"]


def test_a_verifier_that_asks_a_server_must_be_told_which(upstream: FaultUpstream) -> None:
    done = steelyard("doctor", "--verifier", "p-true", "--json")
    assert done.code == 1
    assert "--verifier-upstream" in checks(done)["verifier"]["fix"]


@pytest.mark.parametrize(("number", "status", "code"), [("2.9.0", "ok", 0), (None, "red", 1)])
def test_a_verifier_with_weights_here_needs_torch_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str | None, status: str, code: int
) -> None:
    monkeypatch.setattr("steelyard.cli.diagnosis.machine._version", {"torch": number, "transformers": "5.0"}.get)
    monkeypatch.setattr("steelyard.cli.diagnosis.machine.find_spec", lambda _: None)  # the GPU is not looked for
    done = steelyard("doctor", "--verifier", "qwen-prm", "--verifier-model", tmp_path, "--json")
    found = checks(done)
    assert found["verifier"]["status"] == "ok"
    assert (found["torch"]["status"], done.code) == (status, code)
    assert found["torch"]["found"] == ("torch 2.9.0, transformers 5.0" if number else "torch not installed")
    assert ("pip install" in found["torch"]["fix"]) == (number is None)


def test_without_a_verifier_torch_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.diagnosis.machine.find_spec", lambda _: None)
    done = steelyard("doctor", "--json")
    assert (checks(done)["torch"]["status"], done.code) == ("note", 0)


def test_an_unknown_verifier_is_a_mistake() -> None:
    done = steelyard("doctor", "--verifier", "qwen-prn")
    assert done.code == 2
    assert "did you mean 'qwen-prm" in done.err


def test_a_full_disk_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert disk(tmp_path / "not" / "yet").status == "ok"
    monkeypatch.setattr("steelyard.cli.diagnosis.machine.LEAST_DISK", 1e9)
    assert (disk(tmp_path).status, "free some space" in disk(tmp_path).fix) == ("red", True)


def test_a_folder_that_cannot_be_written_to_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    found = disk(tmp_path)
    assert (found.status, found.found) == ("red", f"{tmp_path} cannot be written to")
    assert "-o" in found.fix


def test_several_upstreams_have_a_section_each(upstream: FaultUpstream) -> None:
    words = ("--upstream", f"ant={upstream.url},bee={upstream.url}", "--model", "ant=good,bee=fault:no-n")
    done = steelyard("doctor", *words)
    assert done.code == 0, done.out
    _, ant, bee = (part.splitlines() for part in done.out.removesuffix("\nNo problems found.\n").split("\n\n"))
    assert (ant[0], bee[0]) == ("ant:", "bee:")
    assert any("'good' answers" in line for line in ant)
    assert any("one sample per request" in line for line in bee)
    listed = json.loads(steelyard("doctor", *words, "--json").out)["checks"]
    assert {check["upstream"] for check in listed if check["name"] == "server"} == {"ant", "bee"}
    assert not any("upstream" in check for check in listed if check["name"] in ("steelyard", "disk"))


def test_one_dead_upstream_of_several_is_red_and_the_other_is_looked_at(upstream: FaultUpstream) -> None:
    with socket.socket() as taken:  # nobody else listens there meanwhile
        taken.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = steelyard("doctor", "--upstream", f"ant={dead},good={upstream.url}", "--json")
    assert done.code == 1
    found = {(check.get("upstream"), check["name"]): check for check in json.loads(done.out)["checks"]}
    assert found["ant", "server"]["status"] == "red"
    assert found["good", "model"]["found"] == "'good' answers"


def test_a_key_by_name_goes_to_that_upstream_alone(upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANT_KEY", CANARY)
    words = ("--upstream", f"ant={upstream.url},bee={upstream.url}", "--model", "ant=good,bee=fault:no-n")
    done = steelyard("doctor", *words, "--key-env", "ant=ANT_KEY", "--json")
    assert CANARY not in done.out + done.err
    found = {(check.get("upstream"), check["name"]): check for check in json.loads(done.out)["checks"]}
    assert found["ant", "key"]["found"] == "$ANT_KEY is set"
    assert "no key is sent" in found["bee", "key"]["found"]
    assert (None, "key") not in found


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--upstream", "http://h/v1,http://k/v1"), "several upstreams need a name each"),
        (("--upstream", "a=http://h/v1", "--model", "b=m"), "there is a model for 'b' and no such upstream"),
        (("--upstream", "a=ftp://h/v1"), "a: "),
    ],
)
def test_upstreams_that_cannot_be_told_apart_are_a_mistake(words: tuple[str, ...], says: str) -> None:
    done = steelyard("doctor", *words)
    assert (done.code, says in done.err) == (2, True), done.err
