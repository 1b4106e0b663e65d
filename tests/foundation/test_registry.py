"""What other packages add by entry points: found by name, never in place of a built-in thing, refused in one line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import steelyard as sy
from steelyard.foundation.registry import Registry
from steelyard.sampling import verifiers
from steelyard.voting import methods, stopping
from tests.running import steelyard

HERE = "tests.foundation.test_registry"
BROKEN = "tests.no_such_module:Vote"


@dataclass(repr=False)
class Outside(sy.MajorityVote):
    """A vote of another package. It does what majority does."""

    name: ClassVar[str] = "outside"


class Misnamed(sy.MajorityVote):
    name: ClassVar[str] = "another"


class Open(sy.Method):
    name: ClassVar[str] = "open"


@dataclass(repr=False)
class Demanding(sy.Method):
    name: ClassVar[str] = "demanding"

    strength: float

    def weigh(self, pool: sy.Pool) -> NDArray[np.float64]:
        return np.full(pool.n_responses, self.strength)


class Painted(sy.MajorityVote):
    name: ClassVar[str] = "painted"
    colour: ClassVar[str | None] = "red;}"


def failing() -> None:
    """What is imported from `tests.foundation.test_registry.failing` and is no class."""


def adding(monkeypatch: pytest.MonkeyPatch, **points: str) -> Registry[type[sy.Method]]:
    """The registry of methods where another package has these entry points."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        found = [EntryPoint(name.replace("_", "-"), value, "steelyard.methods") for name, value in points.items()]
        return [point for point in found if point.group == group]

    monkeypatch.setattr("steelyard.foundation.registry.entry_points", entry_points)
    return methods.registry.__wrapped__()


def refused(registry: Registry[type[sy.Method]], name: str) -> str:
    with pytest.raises(sy.SettingError) as caught:
        registry.get(name)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_class_of_another_package_is_listed_after_the_built_in_ones_and_imported_when_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = adding(monkeypatch, outside=f"{HERE}:Outside", absent=BROKEN)
    assert found.names == (*found.built_in, "absent", "outside")
    assert found.get("outside") is Outside
    assert (found.origin("outside"), found.origin("logit")) == ("tests", "steelyard")


def test_a_built_in_name_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = adding(monkeypatch, majority=f"{HERE}:Outside", outside=f"{HERE}:Outside")
    with pytest.warns(sy.SteelyardWarning, match="'majority' is the name of a built-in method; give it another name"):
        assert found.names == (*found.built_in, "outside")
    assert found.get("majority") is sy.MajorityVote


def test_a_package_that_cannot_be_imported_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refused(adding(monkeypatch, absent=BROKEN), "absent")
    assert f"the method 'absent' cannot be imported from {BROKEN} (ModuleNotFoundError: " in said
    assert said.endswith("fix or uninstall the package that adds it")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("failing", "failing", "it must be a subclass of steelyard.voting.methods.base.method.Method"),
        ("pool", "sy.Pool", "it must be a subclass of steelyard.voting.methods.base.method.Method"),
        ("misnamed", "Misnamed", "its class has name = 'another', which must equal the name of the entry point"),
        ("open", "Open", "its class must define weigh"),
        ("demanding", "Demanding", "its setting 'strength' must have a default"),
        ("painted", "Painted", "its colour must be written as #0072b2, not 'red;}'"),
    ],
)
def test_what_is_no_method_is_refused_in_one_line(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = refused(adding(monkeypatch, **{name: f"{HERE}:{value}"}), name)
    assert said == f"the method '{name}', {HERE}:{value}, cannot be used: {says}"


def test_an_unknown_name_is_answered_with_the_nearest_one_those_of_other_packages_included(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = refused(adding(monkeypatch, outside=f"{HERE}:Outside"), "outsid")
    assert "unknown method 'outsid': did you mean 'outside'?" in said


def test_protocols_and_rules_of_other_packages_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "steelyard.foundation.registry.entry_points", lambda *, group: [EntryPoint("mine", f"{HERE}:Outside", group)]
    )
    with pytest.raises(sy.SettingError, match="it must be a TokenProtocol, a ChatProtocol, an EmbeddingProtocol or"):
        verifiers.registry.__wrapped__().get("mine")
    with pytest.raises(
        sy.SettingError, match=r"it must be a subclass of steelyard\.voting\.stopping\.stopping_rule\.Rule"
    ):
        replace(stopping.REGISTRY).get("mine")  # it looks for entry points again


def test_a_broken_package_is_listed_as_such_and_harms_no_other_method(monkeypatch: pytest.MonkeyPatch) -> None:
    found = adding(monkeypatch, absent=BROKEN, outside=f"{HERE}:Outside")
    monkeypatch.setattr(methods, "registry", lambda: found)
    listed = steelyard("methods").out.splitlines()
    assert any(line.startswith("absent ") and "broken" in line and "cannot be imported" in line for line in listed)
    assert any(line.startswith("outside ") and line.endswith("A vote of another package.") for line in listed)


def test_a_broken_protocol_harms_no_built_in_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "steelyard.foundation.registry.entry_points", lambda *, group: [EntryPoint("absent", BROKEN, group)]
    )
    found = verifiers.registry.__wrapped__()
    monkeypatch.setattr(verifiers, "registry", lambda: found)
    assert verifiers.find_verifier("p-true")[1].name == "p-true"


def test_of_two_packages_with_one_name_one_is_left_out_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    values = (f"{HERE}:Outside", f"{HERE}:Misnamed")
    points = [EntryPoint("outside", value, "steelyard.methods") for value in values]
    monkeypatch.setattr("steelyard.foundation.registry.entry_points", lambda *, group: points)
    methods.registry.cache_clear()
    try:
        with pytest.warns(
            sy.SteelyardWarning, match=f"{HERE}:Outside is ignored: 'outside' is the name of {HERE}:Misnamed"
        ):
            assert methods.registry().names.count("outside") == 1
    finally:
        methods.registry.cache_clear()
