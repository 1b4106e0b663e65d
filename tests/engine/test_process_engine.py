"""Real processes do parts, die over them, and are replaced."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.engine.engines import engine_of
from steelyard.engine.process_engine import _Process
from steelyard.engine.scheduler import DiedError, Failed, Finished
from steelyard.foundation.errors import SettingError
from tests.engine.tasks import doubled, fatal, parts
from tests.waiting import until


def test_what_kills_or_fails_is_named_and_the_rest_is_done(tmp_path: Path) -> None:
    ended = {each.part.value: each for each in engine_of("processes:2").run(fatal, tmp_path, parts(6))}
    assert {i: each.summary for i, each in ended.items() if isinstance(each, Finished)} == {0: 0, 1: 1, 5: 5}
    reasons = {i: each.reason for i, each in ended.items() if isinstance(each, Failed)}
    assert set(reasons) == {2, 3, 4}
    assert reasons[2].endswith("ended with code -9")
    assert reasons[3] == "three is refused: give another"
    assert reasons[4] == "ValueError: four"


def test_a_worker_that_reads_another_file_is_refused(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text("{}")
    with pytest.raises(SettingError, match=r"reads another .*plan.json than this command"):
        list(engine_of("processes").run(fatal, tmp_path, parts(1), workers=1, reads={str(plan): "0" * 64}))


def test_an_engine_that_is_none_is_refused_with_what_there_is() -> None:
    for text in ("dask", "processes:0", "processes:x", "ray://host:10001"):
        with pytest.raises(SettingError, match="unknown engine"):
            engine_of(text)


def test_a_missing_ray_is_one_line_with_the_fix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(SettingError, match=r"pip install 'steelyard\[ray\]'"):
        list(engine_of("ray").run(fatal, tmp_path, parts(1)))


def test_workers_end_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    words = "from steelyard.engine.engines import engine_of; from tests.engine.tasks import parts, waiting; "
    words += f"from pathlib import Path; list(engine_of('processes:1').run(waiting, Path({str(tmp_path)!r}), parts(1)))"
    driver = subprocess.Popen([sys.executable, "-c", words])
    until(lambda: list(tmp_path.iterdir()))
    driver.kill()
    driver.wait()
    (worker,) = tmp_path.iterdir()
    until(lambda: not running(int(worker.name)))


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_a_worker_that_is_gone_before_it_gets_a_part_is_one_that_died(tmp_path: Path) -> None:
    worker = _Process((doubled, 2, {}))
    assert worker.result() is None
    worker.process.kill()
    worker.process.join()
    worker.give(parts(1)[0])
    with pytest.raises(DiedError, match="ended with code -9"):
        worker.result()
    worker.stop()


@pytest.mark.long
def test_a_script_that_starts_processes_while_it_is_imported_is_told_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\nfrom steelyard.engine.engines import engine_of\n"
        "list(engine_of('processes:1').run(max, 0, [Path('part')]))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert "put the call under if __name__ == '__main__':" in done.stderr.splitlines()[-1]
