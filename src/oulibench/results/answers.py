"""What only the stored answers tell: the demonstrations a model was shown, and what it wrote beside the items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from oulibench.errors import OuLiBenchError
from oulibench.jsonl import Row, parse_line
from oulibench.results.runs import Run
from oulibench.results.systems import Part, part_of
from oulibench.scoring import read_row
from oulibench.suite.demonstrations import demonstrations
from oulibench.text import normalise, without_list_mark


def stored_answers(run: Run) -> Iterator[Row]:
    """The rows of `responses.jsonl`; damaged lines are passed over (making the items has named them)."""
    if run.responses is None:
        return
    with run.responses.open("rb") as lines:
        for line in lines:
            try:
                if line.strip():
                    yield parse_line(line)
            except OuLiBenchError:
                continue


class StoredAnswers:
    """One pass over the stored answers of all runs.

    Attributes:
        remarks: system → (request id, epoch) → whether the answer holds text beside its items (a preamble, a closing,
            comments), read off the steps that reading an answer records. Answers without a text are left out.
        incomplete: run → (answers stored, answers expected), for runs whose settings say how many were to come.
    """

    def __init__(self, runs: Sequence[Run], names: Mapping[Part, str]) -> None:
        self.remarks: dict[str, dict[tuple[str, int], bool]] = {}
        self.incomplete: dict[str, tuple[int, int]] = {}
        self._prompts: dict[tuple[str, str, tuple[str, ...]], str] = {}
        for number, run in enumerate(runs):
            stored = 0
            for row in stored_answers(run):
                stored += 1
                self._see(row, names.get(part_of(number, row)))
            expected = expected_answers(run)
            if expected is not None and stored < expected:
                self.incomplete[run.name] = (stored, expected)

    def _see(self, row: Row, system: str | None) -> None:
        given = row.get("demonstrations")
        if isinstance(given, list) and given and isinstance(row.get("prompt"), str):
            key = (str(row.get("task")), repr(row.get("target")), tuple(map(str, given)))
            self._prompts.setdefault(key, row["prompt"])
        if system is None or row.get("id") is None or not row.get("response"):
            return
        try:
            reading = read_row(row)
        except OuLiBenchError:
            return
        epoch = row.get("epoch")
        self.remarks.setdefault(system, {})[str(row["id"]), epoch if isinstance(epoch, int) else 1] = any(
            " left out: " in step or step.startswith("preamble taken off") for step in reading.steps
        )

    def demonstrations(self, task: str, target: int | str | None, ids: Sequence[str]) -> Mapping[str, str]:
        """The texts of demonstrations by id: as the prompt showed them, else the package's own; empty where neither
        has all of them.
        """
        prompt = self._prompts.get((task, repr(target), tuple(ids)))
        if prompt is not None and len(shown := _marked_lines(prompt)) == len(ids):
            return dict(zip(ids, shown, strict=True))
        try:
            own = {d.id: d.text for d in demonstrations(task, target, len(ids))}
        except (OuLiBenchError, ValueError):
            return {}
        return {id_: own[id_] for id_ in ids} if set(ids) <= set(own) else {}


def _marked_lines(prompt: str) -> list[str]:
    """The lines of a prompt that begin with a list mark, without it: its demonstrations."""
    try:
        lines = normalise(prompt).split("\n")
    except OuLiBenchError:
        return []
    return [rest for line in lines if (rest := without_list_mark(line)) != line]


def expected_answers(run: Run) -> int | None:
    """How many answers the run was to collect; None where its settings do not say."""
    settings = run.settings
    if isinstance(calls := settings.get("calls"), int):
        return calls
    for key in ("answers", "requests", "number_of_requests"):
        if isinstance(number := settings.get(key), int):
            epochs = settings.get("epochs", 1)
            models = settings.get("models")
            times = (len(models) if isinstance(models, list) and models else 1) * (
                epochs if isinstance(epochs, int) else 1
            )
            return number if key == "answers" else number * times
    return None
