"""Passwords, tokens and signatures in addresses appear in nothing that a command prints or writes."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import steelyard as sy
from steelyard.foundation.errors import SteelyardWarning
from steelyard.foundation.masking import mask_addresses
from tests.running import steelyard

CANARY = "hunter2-canary"
ADDRESSES = [
    f"https://user:{CANARY}@host.invalid/a.parquet",
    f"https://{CANARY}@host.invalid/a.parquet",
    f"https://user:p@{CANARY}@host.invalid/a.json",
    f"hf://datasets/a/b?token={CANARY}",
    f"s3://bucket/a.parquet?X-Amz-Signature={CANARY}",
    f"s3://AKIA:{CANARY}@bucket/a.parquet",
    f"az://container/a.parquet?sig={CANARY}",
    f"ftp://host.invalid/a.csv#token={CANARY}",
]
READING = ("vote", "evaluate", "fit", "report", "answers", "plan-budget", "compare", "status")
SERVE = ("serve", "--upstream", "http://127.0.0.1:1", "--model", "m")
GENERATE = ("generate", "t.parquet", "--upstream", "http://127.0.0.1:1", "--model", "m", "-o", "run")
COMMANDS = [
    *((verb, "ADDRESS") for verb in READING),
    *((verb, "t.parquet", "-o", "ADDRESS") for verb in ("vote", "fit", "report", "answers", "import", "partition")),
    ("score", "ADDRESS", "--verifier", "logprob"),
    ("score", "t.parquet", "--verifier", "qwen-prm", "--upstream", "ADDRESS"),
    ("score", "t.parquet", "--verifier", "p-true", "--upstream", "ADDRESS", "--model", "m"),
    ("import", "ADDRESS", "-o", "o.parquet"),
    ("import", "t.parquet", "-o", "o.parquet", "--layout", "ADDRESS"),
    ("partition", "ADDRESS", "-o", "parts"),
    ("compare", "t.parquet", "ADDRESS"),
    ("compare", "t.parquet", "t.parquet", "--on", "ADDRESS"),
    ("vote", "t.parquet", "ADDRESS"),
    ("vote", "t.parquet", "--plan", "ADDRESS"),
    ("vote", "t.parquet", "--engine", "ADDRESS", "-o", "x"),
    ("vote", "t.parquet", "--method", "ADDRESS"),
    ("vote", "t.parquet", "--score", "ADDRESS"),
    ("vote", "t.parquet", "--no-such-option", "ADDRESS"),
    ("methods", "ADDRESS", "ADDRESS"),
    ("fit", "t.parquet", "--unlabelled", "ADDRESS"),
    ("fit", "t.parquet", "--set", "ADDRESS"),
    ("reproduce", "table-self", "--grid", "ADDRESS"),
    ("demo", "--pair", "ADDRESS"),
    ("demo", "-o", "ADDRESS"),
    ("simulate", "-o", "ADDRESS"),
    ("doctor", "-o", "ADDRESS"),
    ("doctor", "--upstream", "ADDRESS"),
    ("doctor", "--upstream", "a=ADDRESS,b=local", "--model", "m"),
    ("doctor", "--verifier", "qwen-prm", "--verifier-upstream", "ADDRESS"),
    ("ask", "How many?", "--upstream", "ADDRESS"),
    ("ask", "How many?", "--upstream", "ADDRESS", "--model", "m"),
    ("generate", "ADDRESS", *GENERATE[2:]),
    (*GENERATE[:-1], "ADDRESS"),
    (*GENERATE, "--fork", "ADDRESS"),
    (*GENERATE, "--prompt", "ADDRESS"),
    ("serve", "--upstream", "ADDRESS", "--model", "m"),
    *((*SERVE, option, "ADDRESS") for option in ("--key-file", "--feedback", "--plan", "--verifier-upstream")),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a table."""
    monkeypatch.chdir(tmp_path)
    sy.write(sy.simulate(20, 4, seed=1), tmp_path / "t.parquet")
    return tmp_path


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_repeats_the_secret_of_an_address(address: str, folder: Path) -> None:
    for arguments in COMMANDS:
        done = steelyard(*(argument.replace("ADDRESS", address) for argument in arguments))
        assert CANARY not in done.out + done.err, arguments
        assert done.code in (1, 2), (arguments, done.out, done.err)
        assert done.code == 1 or done.err.startswith("error: "), arguments
    written = [path for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert written == []
    assert [path for path in folder.rglob("*") if CANARY in str(path)] == []


@pytest.mark.parametrize("variable", ["STEELYARD_ASK_UPSTREAM", "STEELYARD_UPSTREAM", "STEELYARD_DOCTOR_OUTPUT"])
def test_nor_that_of_a_variable(variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in ADDRESSES:
        monkeypatch.setenv(variable, address)
        for arguments in (("ask", "How many?"), ("doctor",)):
            done = steelyard(*arguments)
            assert CANARY not in done.out + done.err


def test_errors_and_warnings_of_the_library_are_masked(folder: Path) -> None:
    for address in ADDRESSES:
        for call in (sy.read, sy.read_labelled, sy.vote):
            with pytest.raises(sy.SteelyardError) as error:
                call(address)
            assert CANARY not in str(error.value)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn(f"{address} is odd", SteelyardWarning, stacklevel=1)
        assert CANARY not in str(caught[0].message)


def test_what_is_no_secret_stays(folder: Path) -> None:
    for text in (
        "http://127.0.0.1:8000/v1",
        "write http://HOST:PORT/v1",
        "abfss://container@account.dfs.core.windows.net/parts",
        "grid:smol/prm",
        "mail me@host",
        "no objects match s3://bucket/part-?.parquet; give another address",
        "s3://bucket/year-?/part=1.parquet: read a part of it, or (s3://bucket/??.csv) another",
    ):
        assert mask_addresses(text) == text
    assert "no such file" in steelyard("vote", "part-?.parquet").err


def test_only_the_query_is_removed_from_a_message() -> None:
    for before, after in (("cannot read ", "; give another"), ("(", ") is odd"), ("'", "'"), ("", ", and"), ("", ".")):
        for query in (f"?sig={CANARY}", f"?a=1;b={CANARY}", f"?a,b=({CANARY}),c&d=e", f"#token={CANARY}", "?sig="):
            for path in ("s3://bucket/a.parquet", "s3://bucket/part-?/a-?.parquet"):
                assert mask_addresses(f"{before}{path}{query}{after}") == f"{before}{path}{after}"


def test_a_query_without_a_name_or_with_a_path_in_it_is_removed() -> None:
    for query in (f"?{CANARY}", f"?x/y&sig={CANARY}", f"?/p/q&token={CANARY}"):
        assert mask_addresses(f"https://host/a{query} failed") == "https://host/a failed"
    assert mask_addresses(f"s3://box/a?x/y&sig={CANARY} failed") == "s3://box/a failed"
    assert mask_addresses("s3://box/part-?/year=2024/a.parquet failed") == "s3://box/part-?/year=2024/a.parquet failed"


def test_masking_a_long_text_takes_no_time() -> None:
    for part in (
        "?",
        "#",
        "?a",
        "#a",
        ";",
        "?a=;",
        "=",
        ").,",
        "?&",
        "&/=",
        "https://a?",
        "https://a:b",
        "https://a@",
        "a:/",
    ):
        mask_addresses("@ s3://bucket/a" + part * 300_000 + " end")
