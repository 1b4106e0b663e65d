"""Upstreams by name: what is read from --upstream, --model and --key-env, and what is refused with the fix."""

from __future__ import annotations

import pytest

from steelyard.foundation.errors import SettingError
from steelyard.sampling.llm.address import NO_KEY
from steelyard.sampling.llm.upstreams import Named, names_of, read_upstreams

A, B = "http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"
KEY = "OPENAI_API_KEY"


def read_and_check(upstream: Named, model: Named | None, key_env: Named) -> None:
    """Do as a command does before it makes anything."""
    for each in read_upstreams(upstream, model, key_env, n=8):
        each.check()


@pytest.mark.parametrize("url", [A, "http://h/v1?key=value", "https://h/a=b/v1", "local"])
def test_one_address_is_read_as_it_is_whatever_it_holds(url: str) -> None:
    (found,) = read_upstreams(url, None if url == "local" else "a=b", "VARIABLE", n=8)
    assert (found.name, found.url, found.key_env) == ("", url, "VARIABLE")
    assert found.model == ("SmolLM2-135M-Instruct" if url == "local" else "a=b")


@pytest.mark.parametrize("text", [f"b={B},a={A}", f" b = {B} , a = {A} ,", {"b": B, "a": A}])
def test_several_are_in_the_order_of_their_names(text: Named) -> None:
    found = read_upstreams(text, {"b": "big"}, {"a": "KEY_A"}, n=8)
    assert [(each.name, each.url, each.model, each.key_env) for each in found] == [
        ("a", A, "a", "KEY_A"),
        ("b", B, "big", NO_KEY),
    ]
    assert names_of(text) == ("a", "b")


def test_one_model_and_one_key_are_for_all() -> None:
    found = read_upstreams(f"a={A},b={B},c=local", "meta/llama,3", KEY, n=8)
    assert [each.model for each in found] == ["meta/llama,3", "meta/llama,3", "SmolLM2-135M-Instruct"]
    assert {each.key_env for each in found} == {KEY}


def test_a_source_may_be_called_local() -> None:
    assert names_of(f"a={A},local=local") == ("a", "local")


def test_one_address_may_serve_two_models() -> None:
    found = read_upstreams(f"a={A},b={A}", "a=small,b=big", KEY, n=8)
    assert [each.model for each in found] == ["small", "big"]


@pytest.mark.parametrize(
    ("upstream", "model", "says"),
    [
        (f"{A},{B}", "m", "several upstreams need a name each: write NAME=URL,NAME=URL"),
        (f"{A},b={B}", "m", "several upstreams need a name each"),
        (f"a={A},{B}", "m", "several upstreams need a name each"),
        (f"a={A},b=ftp://h", None, "b: the upstream's address must begin with http"),
        (f"a={A},b={B}?key=1", None, "b: the upstream's address must not contain '?'"),
        (f"a={A},A={B}", None, "'a' and 'A' are alike but for case"),
        (f"a={A},a={B}", None, "the name 'a' twice"),
        (f"={A},b={B}", None, "an upstream has an empty name"),
        (f"a=,b={B}", None, "the upstream 'a' has no address"),
        (f"a={A},b={A}/", "m", "'a' and 'b' are the same model at the same address"),
        ("a=local,b=local", None, "the same model at the same address"),
        (f"a={A},b={B}", "a=x,c=y", "there is a model for 'c' and no such upstream"),
        (f"a={A},b={B}", "a=x,a=y", "--model has the name 'a' twice"),
        ({"a,b": A}, None, "is not an upstream name"),
        ({"a\n": A, "b\x07": B}, None, "is not an upstream name"),
        ({f"u{i}": f"http://h{i}/v1" for i in range(101)}, None, "a run has at most 100"),
        (A, {"a": "m"}, "named models and keys need named upstreams"),
        (f"a={A},b=local", "a=x,b=y", "the embedded LLM is SmolLM2-135M-Instruct"),
    ],
)
def test_what_cannot_be_meant_is_one_line_with_the_fix(upstream: Named, model: Named | None, says: str) -> None:
    with pytest.raises(SettingError) as found:
        read_and_check(upstream, model, KEY)
    assert says in str(found.value)
    assert "\n" not in str(found.value)


def test_a_key_in_the_place_of_its_variable_is_not_shown() -> None:
    for given in ("sk-0123456789abcdef==", "a=sk-0123456789abcdef"):
        with pytest.raises(SettingError) as found:
            read_and_check(f"a={A},b={B}", None, given)
        assert "0123456789abcdef" not in str(found.value)


def test_more_samples_of_each_than_a_run_can_number_are_refused() -> None:
    with pytest.raises(SettingError, match="-n is at most 1,000"):
        read_upstreams(f"a={A},b={B}", None, KEY, n=1001)
