"""What a reader must know where runs are reported together: which of them are one system, and why others are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from oulibench.results.runs import Run, by_dataset
from oulibench.results.systems import asked_of, decisive

_TASKS_NAMED: Final = 4


def remarks(runs: Sequence[Run], aliases: Mapping[str, str] | None = None) -> list[str]:
    """One sentence on everything that may surprise.

    A model that is shown apart and why, models that may be one, answers collected by different versions or at different
    addresses.

    Args:
        runs: the runs, their items made.
        aliases: model → the name that it is shown under.

    Raises:
        DataError: a file of scored rows cannot be read.
    """
    asked = asked_of(runs)
    models: dict[str, dict[int, set[tuple[str, int]]]] = defaultdict(lambda: defaultdict(set))
    wordings: dict[tuple[str, int], set[str]] = defaultdict(set)
    for (number, model, wording), cells in asked.items():
        name = (aliases or {}).get(model, model)
        models[name][number] |= cells
        wordings[name, number].add(wording)
    found = []
    for model, parts in models.items():
        found += _apart(model, parts, runs, wordings)
        found += _addresses(model, parts, runs)
    return [*found, *_alike(models), *_versions(runs)]


def _apart(
    model: str,
    parts: Mapping[int, set[tuple[str, int]]],
    runs: Sequence[Run],
    wordings: Mapping[tuple[str, int], set[str]],
) -> list[str]:
    """Why runs of one model are several systems, each pair of neighbours once."""
    found = []
    numbers = sorted(parts)
    for i, first in enumerate(numbers):
        for second in numbers[i + 1 :]:
            if not wordings[model, first] & wordings[model, second]:
                continue
            where = f"{model} in {runs[first].name} and {runs[second].name}"
            if differing := _differing(runs[first], runs[second]):
                found.append(f"{where}: other settings ({differing}), so they are shown apart.")
            elif twice := sorted(parts[first] & parts[second]):
                cells = [f"{task} with {shots} shots" for task, shots in twice[:_TASKS_NAMED]]
                more = f" and {len(twice) - _TASKS_NAMED} more" if len(twice) > _TASKS_NAMED else ""
                found.append(
                    f"{where}: the same settings, and both were asked {', '.join(cells)}{more}. They are shown apart; "
                    "for one row, leave one of them out or let each ask different --tasks."
                )
            else:
                continue
            break  # one reason for each run is enough
    return found


def _differing(first: Run, second: Run) -> str:
    a, b = decisive(first), decisive(second)
    return ", ".join(
        f"{key}: {a.get(key, 'none')} and {b.get(key, 'none')}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)
    )


def _addresses(model: str, parts: Iterable[int], runs: Sequence[Run]) -> list[str]:
    """Servers on several hosts may serve different models under one name; a port of a job's own node says nothing."""
    hosts = {
        host
        for number in parts
        if isinstance(url := runs[number].settings.get("model_base_url"), str)
        and (host := urlsplit(url).hostname)
        and host not in ("localhost", "127.0.0.1", "::1")
    }
    if len(hosts) < 2:
        return []
    return [f"{model} was asked at {', '.join(sorted(hosts))}: taken for one model, since its name is the same."]


def _alike(models: Iterable[str]) -> list[str]:
    """Names that differ in nothing but the provider and the organisation before the model's own name."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for model in sorted(models):
        by_name[model.rsplit("/", 1)[-1].lower()].append(model)
    return [
        f"{' and '.join(names)} are shown apart. If they are one model: "
        + " ".join(f"--alias {name}={names[0]}" for name in names[1:])
        for names in by_name.values()
        if len(names) > 1
    ]


def _versions(runs: Sequence[Run]) -> list[str]:
    """Checks are made again by the version that reports; prompts are those of the version that asked."""
    by_version: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        if isinstance(version := run.settings.get("oulibench"), str):
            by_version[version].append(run.name)
    if len(by_version) < 2 or (len(datasets := by_dataset(runs)) == 1 and None not in datasets):
        return []
    listing = "; ".join(f"{version}: {', '.join(names)}" for version, names in sorted(by_version.items()))
    return [
        f"The answers were collected by several versions of oulibench ({listing}). All are checked by the present one, "
        "but their prompts may differ."
    ]
