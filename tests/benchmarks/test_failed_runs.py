"""The failed runs have the signals that are looked for, and their share in a text is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.outputs.failed_runs import Run, load_logdx, load_runs, tail, with_keyhole
from benchmarks.tasks.tasks import SPLITS
from keyhole.outputs.read import terminal_text

RUNS = load_runs()
SCORER = """
def score_case(*, manifest_row, ground_truth, context_text):
    missed = [each for each in ground_truth["required_signals"] if each["value"] not in context_text]
    return {"missed_signals": missed, "critical_total": 2}
"""


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.id)
def test_the_signals_of_a_run_occur_in_its_output(run: Run) -> None:
    lacking, total = run.missed(terminal_text(run.output))
    assert (lacking, total >= 3) == ([], True)
    assert run.exit_status != 0
    assert run.missed("")[0]


def test_the_runs_have_different_ids_and_both_splits() -> None:
    assert len({run.id for run in RUNS}) == len(RUNS) >= 50
    assert {run.split for run in RUNS} == set(SPLITS)


def test_a_result_fits_its_budget_and_has_more_than_the_tail() -> None:
    texts = [(run, with_keyhole(run, 2_000), tail(run, 2_000)) for run in RUNS[:8]]
    assert all(len(text) <= 2_000 for _, text, _ in texts)
    assert sum(len(run.missed(text)[0]) for run, text, _ in texts) < sum(
        len(run.missed(end)[0]) for run, _, end in texts
    )


def test_the_logs_of_another_data_set_are_counted_by_its_own_program(tmp_path: Path) -> None:
    case = tmp_path / "cases" / "dev" / "pump-1"
    case.mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "evaluate_signal_recall.py").write_text(SCORER, "utf-8")
    (case / "raw.log").write_text("the pump broke\n", "utf-8")
    signals = '[{"value": "pump broke", "importance": "critical"}, {"value": "well", "importance": "critical"}]'
    (case / "ground_truth.json").write_text(f'{{"required_signals": {signals}}}', "utf-8")
    (run,) = load_logdx(tmp_path)
    assert (run.id, run.missed(run.output)) == ("pump-1", (["well"], 2))
