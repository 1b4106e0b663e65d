"""deploy/: the image's steps work, and the containers of Compose and Kubernetes become ready and stop in time."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steelyard.gateway.caps import Caps
from steelyard.gateway.limits.admission import CLOSING
from steelyard.gateway.page.page_routes import FILES
from tests.deploy.dockerfile_steps import DOCKERFILE, ROOT, Steps
from tests.gateway.gateways import KEY, Gateway
from tests.upstreams import CANARY, FaultUpstream

pytestmark = pytest.mark.long  # a wheel is built and installed
PORT = "127.0.0.1:8000"
TAG = "steelyard-test"
yaml = pytest.importorskip("yaml")


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((ROOT / "deploy" / name).read_text()))


@pytest.fixture(scope="module")
def context() -> Iterator[Path]:
    """What the image is built from; other users may read it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        here = importlib.util.find_spec("hatchling") is not None
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder / "dist"), str(ROOT)]
        command += ["--no-build-isolation"] if here else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode and not here and "hatchling" in done.stderr:
            pytest.skip("there is no hatchling to build the wheel with")
        assert done.returncode == 0, done.stderr
        for path in ("constraints.txt", "deploy/probe.py", "deploy/Dockerfile", "deploy/Dockerfile.dockerignore"):
            (folder / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        yield folder


@pytest.fixture(scope="module")
def image(context: Path) -> Steps:
    steps = Steps(context / "image")
    steps.build(context)
    return steps


@contextmanager
def container(image: Steps, arguments: list[str], upstream: FaultUpstream, keys: str, **more: str) -> Iterator[Gateway]:
    """The entry point with these arguments, as the image's user, without a home and in a folder it cannot write to."""
    swaps = {"http://vllm:8000/v1": upstream.url, "NAME": "good", "${MODEL:?the model that vLLM serves}": "good"}
    secrets = image.root / "secrets"
    secrets.mkdir(exist_ok=True)
    (secrets / "client-keys").write_text(f"{KEY}\n")
    (secrets / "upstream-key").write_text(f"{CANARY}\n")
    line = [swaps.get(part, part).replace(keys, str(secrets)) for part in [*image.entrypoint, *arguments]]
    line[0] = str(image.root / "opt" / "steelyard" / "bin" / line[0])
    environment = image.environment | {name: value.replace(keys, str(secrets)) for name, value in more.items()}
    environment["PATH"] = environment["PATH"].replace("$PATH", os.defpath)
    running = subprocess.Popen(
        [*line, "--port", "0"], cwd="/", env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        **image.started_as(),
    )  # fmt: skip
    try:
        assert running.stdout is not None
        first = running.stdout.readline()
        assert " at http" in first, running.communicate()
        yield Gateway("http://127.0.0.1:" + first.strip().removesuffix("/v1").rpartition(":")[2], running)
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate()
        assert running.returncode == 0
        assert '"route": "/v1/chat/completions", "status": 200' in err
        assert KEY not in out + err
    finally:
        running.kill()
        running.communicate()


def check(image: Steps, command: list[str], running: Gateway, keys: str) -> None:
    """A health check, with the address that the test's server has."""
    port = running.url.rpartition(":")[2]
    line = [image.inside(part).replace(PORT, f"127.0.0.1:{port}") for part in command]
    line = [part.replace(keys, str(image.root / "secrets")) if keys else part for part in line]
    path = f"{image.root}/opt/steelyard/bin:{os.defpath}"
    for expected, extra in ((0, ""), (1, "/nothing-here")):
        url = next(part for part in line if part.startswith("http"))
        probe = [part + extra if part == url else part for part in line]
        program = shutil.which(probe[0], path=path)
        assert program is not None
        done = subprocess.run(
            [program, *probe[1:]], env={"PATH": path}, capture_output=True, text=True, check=False, **image.started_as()
        )
        assert done.returncode == expected, done.stderr
        assert len(done.stderr.splitlines()) == expected


def test_the_image_starts_and_its_health_check_works(image: Steps, upstream: FaultUpstream) -> None:
    arguments = ["--upstream", upstream.url, "--model", "good", "--key-file", "/keys/client-keys"]
    with container(image, arguments, upstream, "/keys") as running:
        check(image, image.health, running, "")
        assert running.chat(model="steelyard/vote").status == 200
        assert running.send("GET", "/", headers={"Accept": "text/html"}).body.startswith(b"<!doctype html>")


def test_compose_starts_a_gateway_that_is_ready_and_stops_in_time(image: Steps, upstream: FaultUpstream) -> None:
    [compose] = documents("compose.yaml")
    service = compose["services"]["gateway"]
    health = service["healthcheck"]["test"]
    assert health[0] == "CMD"
    with container(image, service["command"], upstream, "/run/secrets", **service["environment"]) as running:
        check(image, health[1:], running, "/run/secrets")
        assert running.chat(model="steelyard/vote").status == 200
    assert set(service["secrets"]) == set(compose["secrets"])
    assert int(service["stop_grace_period"].removesuffix("s")) > Caps().drain + CLOSING
    assert service["depends_on"] == {"vllm": {"condition": "service_healthy"}}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).samefile(DOCKERFILE)


def test_kubernetes_starts_a_gateway_that_is_ready_and_stops_in_time(image: Steps, upstream: FaultUpstream) -> None:
    deployment, service = documents("kubernetes.yaml")
    pod = deployment["spec"]["template"]["spec"]
    [one] = pod["containers"]
    mounted = {mount["name"]: mount["mountPath"] for mount in one["volumeMounts"]}
    variables = {variable["name"]: variable["value"] for variable in one["env"]}
    with container(image, one["args"], upstream, mounted["keys"], **variables) as running:
        check(image, one["readinessProbe"]["exec"]["command"], running, mounted["keys"])
        live = one["livenessProbe"]["httpGet"]
        headers = {header["name"]: header["value"] for header in live["httpHeaders"]}
        assert running.send("GET", live["path"], key=None, headers=headers).status == 200
        assert running.chat(model="steelyard/vote").status == 200
    pause = float(one["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + Caps().drain + CLOSING
    assert pod["securityContext"]["runAsUser"] == image.user
    assert one["securityContext"]["readOnlyRootFilesystem"] is True
    assert live["port"] == one["ports"][0]["name"] == service["spec"]["ports"][0]["targetPort"]
    assert service["spec"]["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert {volume["name"] for volume in pod["volumes"]} == set(mounted)


def test_the_wheel_has_the_page_and_nothing_of_the_deployment(context: Path) -> None:
    [wheel] = (context / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    page = {f"steelyard/gateway/page/{file.name}" for file in FILES.iterdir() if file.is_file()}
    assert page <= set(names)
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"steelyard"}
    assert not [name for name in names if "deploy/" in name or "tests/" in name]


def works(builder: str) -> bool:
    """Whether a program that builds images is installed and can be probe: docker without its daemon cannot."""
    if not shutil.which(builder):
        return False
    return subprocess.run([builder, "info"], capture_output=True, check=False).returncode == 0


def test_a_builder_builds_the_image_offline(context: Path) -> None:
    builder = next(filter(works, ("docker", "podman", "buildah")), None)
    if builder is None:
        pytest.skip("no container builder works here; the steps are checked without one")
    [base] = re.findall(r"^ARG PYTHON=(.*)$", DOCKERFILE.read_text(), re.MULTILINE)
    if subprocess.run([builder, "inspect", "--type=image", base], capture_output=True, check=False).returncode:
        pytest.skip(f"{builder} has no {base}")
    [wheel] = (context / "dist").glob("steelyard*")
    command = ["download", "--dest", str(wheel.parent), "--constraint", str(ROOT / "constraints.txt"), str(wheel)]
    if subprocess.run([sys.executable, "-m", "pip", *command], capture_output=True, check=False).returncode:
        pytest.skip("the wheels of the dependencies are not here")
    command = ["--file", "deploy/Dockerfile", "--network=none", "--build-arg", "PIP_NO_INDEX=1", "--tag", TAG]
    subprocess.run([builder, "build", *command, "."], cwd=context, check=True)
    if builder != "buildah":
        subprocess.run([builder, "run", "--rm", "--read-only", TAG, "--help"], check=True)
