"""What exporting must never do: break or delay a command, fill its log, or reveal a key."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

from steelyard.foundation.errors import SteelyardWarning
from steelyard.sampling.telemetry.exporting import exporting, signals
from tests.running import without_progress
from tests.sampling.telemetry.collector import PATIENT, collector
from tests.upstreams import ROOT, FaultUpstream, command
from tests.waiting import PATIENCE

BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
SECRET = "collector-secret-5d1f"
UNREACHABLE = f"http://user:{SECRET}@127.0.0.1:9/{SECRET}?key={SECRET}"
HEADERS = {"OTEL_EXPORTER_OTLP_HEADERS": f"x-key={SECRET}"}


def ask(
    upstream: FaultUpstream, variables: Mapping[str, str], *, patient: bool = False
) -> subprocess.CompletedProcess[str]:
    line, environment = command("ask", "1 + 1?", "--upstream", upstream.url, "--model", "good", "-n", 2)
    done = subprocess.run(
        [*PATIENT, *line[3:]] if patient else line, env=environment | dict(variables), capture_output=True, text=True,
        timeout=PATIENCE, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0
    assert "Verdict" in done.stdout
    assert SECRET not in done.stdout + done.stderr
    return done


def warned(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of stderr other than those about samples."""
    return [line for line in without_progress(done.stderr).splitlines() if ": sample " not in line]


def test_a_collector_that_cannot_be_reached_is_reported_in_one_line(upstream: FaultUpstream) -> None:
    (line,) = warned(ask(upstream, {BASE: UNREACHABLE, **HEADERS}))
    assert line.startswith("warning: telemetry is not exported (")


def test_a_collector_that_refuses_is_reported_with_its_status(upstream: FaultUpstream) -> None:
    with collector(status=404) as received:
        done = ask(upstream, received.variables(), patient=True)
    (line,) = warned(done)
    assert line.startswith("warning: telemetry is not exported (HTTP 404): ")


def test_the_end_waits_only_so_long_for_the_last_export(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(TracerProvider, "shutdown", lambda _: never.wait())
    monkeypatch.setattr("steelyard.sampling.telemetry.exporting.FLUSH", 0.01)
    monkeypatch.setenv(BASE, "http://127.0.0.1:9")
    with pytest.warns(SteelyardWarning, match="did not end within") as warnings, exporting() as recorder:
        assert recorder is not None
    assert len(warnings) == 1
    never.set()  # reached although the export has not ended


def test_without_the_extra_one_line_says_what_to_install(upstream: FaultUpstream, tmp_path: Path) -> None:
    (tmp_path / "opentelemetry.py").write_text("raise ImportError('not installed')\n")
    path = os.pathsep.join([str(tmp_path), command()[1]["PYTHONPATH"]])
    (line,) = warned(ask(upstream, {"PYTHONPATH": path, BASE: UNREACHABLE}))
    assert line.startswith("warning: ")
    assert line.endswith("pip install 'steelyard[otel]'")


@pytest.mark.parametrize(
    ("variables", "exported"),
    [
        ({}, []),
        ({BASE: ""}, []),
        ({BASE: "http://c"}, ["TRACES", "LOGS"]),
        ({BASE: "http://c", "OTEL_SDK_DISABLED": "True"}, []),
        ({BASE: "http://c", "OTEL_SDK_DISABLED": "false"}, ["TRACES", "LOGS"]),
        ({BASE: "http://c", "OTEL_TRACES_EXPORTER": "none"}, ["LOGS"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/v1/traces"}, ["TRACES"]),
        ({"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://c/v1/logs"}, ["LOGS"]),
    ],
)
def test_the_standard_variables_say_what_is_exported(variables: dict[str, str], exported: list[str]) -> None:
    assert signals(variables) == exported


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "by http/protobuf only"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", SECRET, "ignores the value of a variable"),
        ("OTEL_EXPORTER_OTLP_HEADERS", SECRET, "ignores the value of a variable"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1", "nothing is exported to the OTLP endpoint: ValueError"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "yes", "no content is exported"),
    ],
)
def test_a_wrong_variable_is_a_warning_and_no_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(BASE, "http://127.0.0.1:9")
    monkeypatch.setenv(name, value)
    with pytest.warns(SteelyardWarning, match=message) as warnings, exporting():
        pass
    assert not any(SECRET in str(warning.message) for warning in warnings)


def test_opentelemetry_is_not_imported_unless_an_endpoint_is_set() -> None:
    script = (
        "import sys; from steelyard.sampling.telemetry.exporting import exporting\n"
        "import steelyard.gateway.serving, steelyard.sampling.ask.ask, steelyard.cli.ask, steelyard.cli.serve\n"
        "with exporting() as recorder: print(recorder, 'opentelemetry' in sys.modules)\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.split() == ["None", "False"]
