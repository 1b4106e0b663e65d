"""The routes: what each answers, with and without a key, and every error in the shape that OpenAI's clients read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import steelyard as sy
from steelyard.gateway.configuration import Configuration
from tests.gateway.gateways import KEY, VOTE, Gateway, gateway
from tests.upstreams import FaultUpstream

ROUTES = [
    ("GET", "/"),
    ("GET", "/v1/models"),
    ("GET", f"/v1/models/{VOTE}"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
]
TRICKS = ["//healthz", "/healthz/", "/HEALTHZ", "/%68ealthz", "/x/../v1/models", "//v1/models", "/v1/models/"]


@pytest.fixture(scope="module")
def served(upstream: FaultUpstream) -> Iterator[Gateway]:
    with gateway(upstream.url) as running:
        yield running


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_wants_the_key(served: Gateway, method: str, path: str) -> None:
    for key in (None, "wrong", KEY[:-1], KEY + "x"):
        refused = served.send(method, path, {}, key=key)
        assert refused.status == 401
        assert refused.error["type"] == "authentication_error"
        assert KEY not in refused.body.decode()


@pytest.mark.parametrize("path", TRICKS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_no_spelling_of_a_path_comes_in_without_the_key(served: Gateway, method: str, path: str) -> None:
    refused = served.send(method, path, key=None)
    assert refused.status == 401 or (path == "/%68ealthz" and refused.status in (200, 405))


def test_only_health_is_open_and_says_nothing_else(served: Gateway) -> None:
    health = served.send("GET", "/healthz", key=None)
    assert (health.status, health.json) == (200, {"status": "ok"})


def test_ready_tells_what_the_upstream_can_do(served: Gateway) -> None:
    ready = served.send("GET", "/readyz")
    assert ready.status == 200
    assert ready.json["upstreams"]["good"] == {"n": 8, "logprobs": True, "seed": True, "usage": True}


def test_a_server_without_its_upstream_listens_and_is_not_ready() -> None:
    with gateway("http://127.0.0.1:9/v1") as running:
        ready = running.send("GET", "/readyz")
        assert ready.status == 503
        assert "no connection" in ready.json["upstreams"]["good"]["problem"]
        answered = running.chat()
        assert (answered.status, answered.error["code"]) == (502, "upstream_error")


def test_models_are_listed_and_found_by_ids_with_slashes(served: Gateway) -> None:
    listed = served.send("GET", "/v1/models").json
    assert listed["object"] == "list"
    assert [each["id"] for each in listed["data"]] == [VOTE, "good"]
    one = served.send("GET", f"/v1/models/{VOTE}").json
    assert (one["id"], one["object"], type(one["created"])) == (VOTE, "model", int)
    missing = served.send("GET", "/v1/models/x/y")
    assert (missing.status, missing.error["code"]) == (404, "model_not_found")


def test_what_is_not_there_and_what_is_not_allowed_are_errors_of_the_same_shape(served: Gateway) -> None:
    assert served.send("GET", "/v1/nothing").error["code"] == "not_found"
    wrong = served.send("DELETE", "/v1/models")
    assert (wrong.status, wrong.error["code"]) == (405, "method_not_allowed")
    assert "GET" in wrong.headers["allow"]


def test_a_request_id_is_echoed_or_made(served: Gateway) -> None:
    assert served.send("GET", "/healthz", headers={"x-request-id": "mine-7"}).headers["x-request-id"] == "mine-7"
    made = served.send("GET", "/healthz", headers={"x-request-id": "a b\tc"}).headers["x-request-id"]
    assert made.startswith("req_")


def test_a_name_that_a_proxy_passes_on_is_answered_and_no_other(upstream: FaultUpstream) -> None:
    for host in ("127.0.0.1", "0.0.0.0"):
        with gateway(upstream.url, host=host, allow_hosts=("Votes.example.org",)) as running:
            passed = {"Host": "votes.example.org", "Origin": "https://votes.example.org"}
            assert running.send("GET", "/v1/models", headers=passed).status == 200
            assert running.send("GET", "/v1/models", headers={"Host": "votes.example.org:8443"}).status == 200
            assert running.send("GET", "/v1/models", headers={"Host": "evil.example"}).error["code"] == "wrong_host"
            assert running.send("GET", "/v1/models", headers={"Host": "localhost"}).status == 200


@pytest.mark.parametrize(
    "name", ["https://votes.example.org", "votes.example.org:443", "cafe:443", "*.example.org", "", "a b"]
)
def test_a_name_to_allow_is_a_plain_name(name: str) -> None:
    with pytest.raises(sy.SettingError, match="--allow-host takes a name such as"):
        Configuration("http://127.0.0.1:9", model="m", method="majority", allow_hosts=(name,))


def test_names_and_origins_of_other_sites_are_refused(served: Gateway) -> None:
    rebound = served.send("GET", "/v1/models", headers={"Host": "evil.example"})
    assert (rebound.status, rebound.error["code"]) == (403, "wrong_host")
    other = served.send("GET", "/v1/models", headers={"Origin": "https://evil.example"})
    assert (other.status, other.error["code"]) == (403, "wrong_origin")
    own = served.url.removeprefix("http://")
    assert served.send("GET", "/v1/models", headers={"Host": own, "Origin": f"http://{own}"}).status == 200


def test_metrics_count_requests_votes_and_tokens(served: Gateway) -> None:
    assert served.chat(seed=1).status == 200
    text = served.send("GET", "/metrics").body.decode()
    for name in (
        "gen_ai_server_request_duration_seconds_count",
        "gen_ai_client_token_usage_sum",
        "steelyard_samples_sum",
    ):
        assert name in text
    assert 'steelyard_share_bucket{model="steelyard/majority",le="+Inf"}' in text
    assert "steelyard_confidence_bucket" not in text  # a majority vote has none
