"""The linguistic profile of a run's items: mean and standard deviation per model and task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import isnan, nan, sqrt
from typing import Any

from oulibench.errors import TextError
from oulibench.syntax.parser import get_parser
from oulibench.syntax.profile import FEATURES, profile_sentences
from oulibench.text import normalise

_BATCH = 512


@dataclass(slots=True)
class Moments:
    """Running mean and variance of one feature (Welford 1962), NaN left out."""

    n: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, value: float) -> None:
        if isnan(value):
            return
        self.n += 1
        delta = value - self.mean
        self.mean += delta / self.n
        self._squares += delta * (value - self.mean)

    @property
    def standard_deviation(self) -> float:
        """Of the sample (n - 1); NaN for fewer than two values."""
        return sqrt(self._squares / (self.n - 1)) if self.n > 1 else nan


@dataclass(slots=True)
class GroupProfile:
    """The profile of the items of one model and task; each item counts once."""

    items: int = 0
    features: dict[str, Moments] = field(default_factory=lambda: {name: Moments() for name in FEATURES})


def profile_items(rows: Iterable[Mapping[str, Any]], parser: str = "bundled") -> dict[tuple[str, str], GroupProfile]:
    """Profiles by (model, task) of the rows that have a text; rows without one, or with a damaged one, are left out."""
    loaded = get_parser(parser)
    groups: dict[tuple[str, str], GroupProfile] = {}
    texts = _texts(rows)
    while batch := list(islice(texts, _BATCH)):
        for (group, _), sentences in zip(batch, loaded.parse([text for _, text in batch]), strict=True):
            if not sentences:
                continue
            profile = groups.setdefault(group, GroupProfile())
            profile.items += 1
            for name, value in profile_sentences(sentences).items():
                profile.features[name].add(value)
    return groups


def _texts(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], str]]:
    for row in rows:
        if isinstance(row.get("text"), str):
            try:
                text = normalise(row["text"])
            except TextError:
                continue
            yield (str(row.get("model", "")), str(row.get("task", ""))), text
