"""Count correct votes over random subsets: the prefixes of one permutation per question and resample.

Keys [Q] fix the permutations. A method whose weights hold in every subset is weighed once and only added
up; any other votes again on every subset. Both count the same subsets, verdict for verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from steelyard.foundation.cores import usable_cores
from steelyard.foundation.errors import SettingError
from steelyard.voting.methods.base.method import Method
from steelyard.voting.pools.arrays import Ints
from steelyard.voting.pools.pool import LabelledPool

AT_ONCE = 1_000_000  # responses held while voting again on every subset
MAX_WEIGHTS = 4_000_000  # weights held while adding
A_TASK = 10_000_000  # samples drawn in one task of a thread: a fraction of a second
Voters = Sequence[Sequence[Method | None]]  # [S][K]; None does not vote
Keys = NDArray[np.uint64]
Progress = Callable[[float], None]


def no_progress(done: float) -> None:
    """Ignore progress."""


def count_by_adding(
    voters: Voters,
    test: LabelledPool,
    sizes: Ints,
    keys: Keys,
    resamples: int,
    *,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Ints:
    """Count correct votes [Q, S, K] of methods with `by_response`, sizes rising."""
    from steelyard.voting import kernels

    hits = np.zeros((test.n_questions, len(sizes), len(voters[0])), np.int64)
    pairs = max(1, sum(method is not None for row in voters for method in row))
    with ThreadPoolExecutor(threads or usable_cores()) as executor:
        for block in _blocks(test.starts, 0, test.n_questions, MAX_WEIGHTS // pairs):
            part = test.take(np.arange(*block))
            weights, column, live = _weighed(voters, part)
            scores = np.empty(0) if part.scores is None else part.scores.astype(np.float64)
            read = (part.starts, part.base, part.width, part.answer, scores, part.answer_correct, keys[slice(*block)])
            written = hits[slice(*block)]
            tasks = [
                executor.submit(kernels.resample, *read, weights, sizes, live, column, resamples, *ends, written)
                for ends in _blocks(part.starts, 0, part.n_questions, A_TASK // resamples)
            ]
            _finish(executor, tasks, within(progress, *(q / test.n_questions for q in block)))
    return hits


def count_by_voting(
    voters: Voters,
    test: LabelledPool,
    sizes: Ints,
    keys: Keys,
    resamples: int,
    *,
    threads: int | None = None,
    progress: Progress = no_progress,
) -> Ints:
    """Count correct votes [Q, S, K] of any method, by voting on every subset."""
    workers = threads or usable_cores()
    batch = max(1, min(AT_ONCE // (workers * test.n_responses), -(-resamples // workers)))
    hits = np.zeros((test.n_questions, len(sizes), len(voters[0])), np.int64)
    one_adds = Lock()

    def count(begin: int) -> None:
        pool = test.resampled(keys, begin, min(batch, resamples - begin))
        for t, n in enumerate(sizes.tolist()):
            subset = pool.first(n)
            for k, method in enumerate(voters[t]):
                if method is not None:
                    votes = answers_correctly(method, subset).reshape(-1, test.n_questions).sum(axis=0)
                    with one_adds:
                        hits[:, t, k] += votes

    with ThreadPoolExecutor(workers) as executor:
        _finish(executor, [executor.submit(count, begin) for begin in range(0, resamples, batch)], progress)
    return hits


def _finish(executor: ThreadPoolExecutor, tasks: list[Future[None]], progress: Progress) -> None:
    """Wait for the tasks; after an error or an interrupt begin no other."""
    try:
        for done, task in enumerate(as_completed(tasks), 1):
            task.result()
            progress(done / len(tasks))
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise


def within(progress: Progress, begin: float, end: float) -> Progress:
    """Return the progress callback of a part that runs from `begin` to `end` of the total."""
    return lambda done: progress(begin + done * (end - begin))


def answers_correctly(method: Method, pool: LabelledPool) -> NDArray[np.bool_]:
    """Return which questions a method answers correctly [Q]; only an oracle sees the labels."""
    return method.decide(pool if method.oracle else pool.unlabelled()).correct(pool)


def _blocks(starts: Ints, begin: int, end: int, responses: int) -> Iterator[tuple[int, int]]:
    """Split the questions begin..end into blocks of about `responses` responses, at least one question each."""
    while begin < end:
        until = int(np.searchsorted(starts, starts[begin] + responses, side="right")) - 1
        until = min(end, max(until, begin + 1))
        yield begin, until
        begin = until


def _weighed(voters: Voters, pool: LabelledPool) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Return each distinct weighing once [R, C], the one each voter uses [S, K], how many are needed from each size on.

    From the largest size down, a method that weighs as it does at the next larger size shares its column; so the
    columns that are needed longest stand first.
    """
    seen: list[NDArray[np.float64]] = []
    column = np.full((len(voters), len(voters[0])), -1, np.int64)
    live = np.zeros(len(voters), np.int64)
    bare = pool.unlabelled()
    for t in reversed(range(len(voters))):
        for k, method in enumerate(voters[t]):
            if method is None:
                continue
            visible = pool if method.oracle else bare
            method.check_pool(visible)
            weights = method.weights(visible)
            larger = [c for c in column[t + 1 :, k] if c >= 0]
            if larger and np.array_equal(weights, seen[larger[0]]):
                column[t, k] = larger[0]
                continue
            if not np.isfinite(weights[pool.readable]).all():
                raise SettingError(f"{method.name} gives weights that are not finite: clip its scores")
            column[t, k] = len(seen)
            seen.append(weights)
        live[t] = len(seen)
    stacked = np.empty((pool.n_responses, len(seen)))
    for c, weights in enumerate(seen):
        stacked[:, c] = weights
    return stacked, column, live
