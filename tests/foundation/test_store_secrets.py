"""What opens a store is neither repeated in messages nor taken in addresses."""

from __future__ import annotations

import pytest

import steelyard as sy
from steelyard.foundation import store_connections
from steelyard.foundation.errors import SteelyardError
from steelyard.foundation.masking import without_secrets
from steelyard.foundation.store_address import place_of
from tests.running import steelyard

REFUSED = r"leave it out, and set the variables (AWS|GOOGLE)"


@pytest.mark.parametrize(
    "text", ["s3://AKIA:hunter2@box/a.parquet", "s3://AKIA:hun/ter2@box/a", "gs://hunter2@box/a*.pq"]
)
def test_an_address_with_a_password_is_refused_and_the_password_not_repeated(text: str) -> None:
    with pytest.raises(SteelyardError, match=REFUSED) as told:
        place_of(text)
    assert "hun" not in str(told.value)
    with pytest.raises(SteelyardError, match=REFUSED) as told:
        sy.read(text)
    assert "ter2" not in str(told.value)
    for done in (steelyard("vote", text), steelyard("simulate", "-o", text)):
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "leave it out" in done.err
        assert "ter2" not in done.err


def test_a_container_of_an_account_is_no_password() -> None:
    text = "abfss://container@account.dfs.core.windows.net/parts"
    assert str(place_of(text)) == without_secrets(text) == text


@pytest.mark.parametrize("endpoint", ["http://me:hunter2@127.0.0.1:1", "https://hunter2@127.0.0.1:1/x"])
def test_the_password_of_an_endpoint_is_not_repeated(endpoint: str) -> None:
    told = store_connections._message("s3://box/a", "s3", ValueError(f"Error performing GET {endpoint}/box/a: refused"))
    assert "hunter2" not in told
    assert "***@127.0.0.1:1" in told


def test_the_signature_of_an_address_is_not_repeated() -> None:
    for text in ("az://box/parts?sig=hunter2", "az://box/a.parquet?sig=hunter2", "az://box/*.parquet?sig=hunter2"):
        for done in (steelyard("vote", text), steelyard("simulate", "-o", text)):
            assert (done.code, done.err.count("\n")) == (2, 1)
            assert "az://box/" in done.err
            assert "hunter2" not in done.err
