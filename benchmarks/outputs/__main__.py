"""Measure whether the bounded form of what a program printed still contains the answer.

    python -m benchmarks.outputs [--kind K] [--split dev|test] [--misses [READER]]

The outputs are real ones of command lines, test runs, compilers, servers and package managers. A question is answered
if all its answers, which are strings of the output, are in the result. Two of three questions have a query; the others
ask for what any reader looks for: the failing assertion, the error and its cause, the summary. Each share is given at
1,000, 2,000 and 4,000 characters, beside the bytes saved.
"""

from __future__ import annotations

import argparse

from benchmarks.outputs.corpus import SPLITS, load_outputs, load_questions, split_outputs
from benchmarks.outputs.readers import READERS, missing_readers
from benchmarks.outputs.report import assertion_lines, kinds_table, miss_lines, over_lines, run_trials, totals_table


def main() -> int:
    """Put the questions to the readers and print the tables."""
    arguments = _arguments()
    outputs = load_outputs()
    splits = split_outputs(outputs)
    questions = [
        question
        for question in load_questions()
        if arguments.split in ("all", splits[question.output])
        and arguments.kind in ("all", outputs[question.output].kind)
    ]
    missing = missing_readers()
    readers = {
        name: reader
        for name, reader in READERS.items()
        if name not in missing and (not arguments.reader or name in arguments.reader)
    }
    trials = run_trials(readers, questions, outputs)
    used = {question.output for question in questions}
    with_query = sum(question.query is not None for question in questions)
    print(
        f"{len(questions)} questions, {with_query} of them with a query, on {len(used)} outputs; "
        f"split {arguments.split}."
    )
    for name, reason in missing.items():
        print(f"{name} is left out: {reason}.")
    print(
        "", *totals_table(trials), "", *kinds_table(trials), "", *assertion_lines(trials), *over_lines(trials), sep="\n"
    )
    if arguments.misses:
        print("", *miss_lines(trials, arguments.misses), sep="\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs")
    parser.add_argument("--kind", default="all", help="only outputs of this kind")
    parser.add_argument("--split", choices=("all", *SPLITS), default="all")
    parser.add_argument("--reader", action="append", choices=tuple(READERS), help="only this reader; may be repeated")
    parser.add_argument("--misses", nargs="?", const="passages", choices=tuple(READERS), help="list what it misses")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
