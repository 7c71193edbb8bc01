"""What is rated: dimensions with their points, flags, guidelines; out of one TOML file, shipped or the user's own."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from oulibench.errors import DataError
from oulibench.language import ITALIAN, Language

InterfaceLanguage = Literal["it", "en"]
INTERFACE_LANGUAGES: Final[tuple[InterfaceLanguage, ...]] = get_args(InterfaceLanguage)
SHIPPED: Final = {"five-points": "scheme.toml", "yes-no": "binary.toml"}
FLAG_PREFIX: Final = "flag:"
"""In the long table a flag is a dimension of this prefix with the value 1."""

Localised = Mapping[InterfaceLanguage, str]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scale: its value, its name, when to choose it, a sentence that deserves it."""

    value: int
    label: Localised
    guideline: Localised
    example: str


@dataclass(frozen=True, slots=True)
class Dimension:
    """A question and its scale; points in ascending order of value."""

    id: str
    label: Localised
    question: Localised
    points: tuple[Point, ...]

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(point.value for point in self.points)


@dataclass(frozen=True, slots=True)
class Flag:
    """A remark that can be ticked. One that `excuses` lets an item go without ratings; `key` is its shortcut."""

    id: str
    key: str
    excuses: bool
    label: Localised
    guideline: Localised


@dataclass(frozen=True, slots=True)
class Scheme:
    """All that a rating consists of, and the source it was read from (kept with the ratings)."""

    name: str
    version: int
    intro: Localised
    tolerance: Localised
    dimensions: tuple[Dimension, ...]
    flags: tuple[Flag, ...]
    source: str

    def dimension(self, identifier: str) -> Dimension | None:
        return next((d for d in self.dimensions if d.id == identifier), None)

    def flag(self, identifier: str) -> Flag | None:
        return next((f for f in self.flags if f.id == identifier), None)

    def problem(self, values: Mapping[str, int], flags: frozenset[str]) -> str | None:
        """Why these ratings cannot stand (as `unknown …`, or the id of what is missing), or None where they can."""
        for identifier, value in values.items():
            dimension = self.dimension(identifier)
            if dimension is None or value not in dimension.values:
                return f"unknown value {value!r} of {identifier!r}"
        for identifier in flags:
            if self.flag(identifier) is None:
                return f"unknown flag {identifier!r}"
        if any(flag.excuses and flag.id in flags for flag in self.flags):
            return None
        return next((f"missing {d.id}" for d in self.dimensions if d.id not in values), None)


def load_scheme(name: str = "five-points", language: Language = ITALIAN) -> Scheme:
    """A scheme that ships with the package (by name) or a TOML file of the same form (by path).

    Raises:
        DataError: there is no such scheme, or the file does not hold what a scheme needs; says where.
    """
    if name in SHIPPED:
        return parse_scheme(language.data("annotation", SHIPPED[name]).read_text(encoding="utf-8"), SHIPPED[name])
    try:
        source = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        known = ", ".join(SHIPPED)
        raise DataError(f"The scheme {name} cannot be read ({error}). Known schemes: {known}.") from error
    return parse_scheme(source, name)


def parse_scheme(source: str, where: str = "the scheme") -> Scheme:
    """The scheme that a TOML text describes.

    Raises:
        DataError: it does not; names the first thing that is wrong.
    """
    try:
        table = tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{where}: {error}") from error
    reader = _Reader(where)
    dimensions = tuple(reader.dimension(d, i) for i, d in enumerate(reader.tables(table, "dimension", where), 1))
    flags = tuple(reader.flag(f, i) for i, f in enumerate(reader.tables(table, "flag", where), 1))
    if not dimensions:
        raise DataError(f"{where}: there is no [[dimension]], so there is nothing to rate.")
    reader.all_different([d.id for d in dimensions] + [f.id for f in flags], "id")
    reader.all_different([f.key for f in flags], "key of a flag")
    name = reader.text(table, "name", where)
    version = table.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise DataError(f"{where}: version is a whole number, not {version!r}.")
    intro, tolerance = reader.localised(table, "intro", where), reader.localised(table, "tolerance", where)
    return Scheme(name, version, intro, tolerance, dimensions, flags, source)


# Keys that the rating page itself listens to (letters; digits choose points).
RESERVED_KEYS: Final = frozenset("ucp")


@dataclass(frozen=True, slots=True)
class _Reader:
    where: str

    def text(self, table: Mapping[str, Any], key: str, at: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{self.where}: {at}: {key} must be a text that is not empty, not {value!r}.")
        return value.strip()

    def localised(self, table: Mapping[str, Any], key: str, at: str) -> Localised:
        value = table.get(key)
        if not isinstance(value, Mapping):
            raise DataError(f'{self.where}: {at}: {key} must be a table such as {{ it = "…", en = "…" }}.')
        return {language: self.text(value, language, f"{at}: {key}") for language in INTERFACE_LANGUAGES}

    def tables(self, table: Mapping[str, Any], key: str, at: str) -> list[Mapping[str, Any]]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
            raise DataError(f"{self.where}: {at}: {key} must be written as [[{key}]] tables.")
        return value

    def identifier(self, table: Mapping[str, Any], at: str) -> str:
        value = self.text(table, "id", at)
        if not (value.isascii() and value.replace("_", "").isalnum() and value[0].isalpha()):
            raise DataError(f"{self.where}: {at}: id is made of letters, digits and «_», unlike {value!r}.")
        return value

    def dimension(self, table: Mapping[str, Any], number: int) -> Dimension:
        at = f"dimension {number}"
        points = tuple(self.point(p, f"{at}, point {i}") for i, p in enumerate(self.tables(table, "point", at), 1))
        values = [point.value for point in points]
        if len(points) < 2 or values != sorted(set(values)):
            raise DataError(f"{self.where}: {at} needs two points or more, in ascending order, each value once.")
        label, question = self.localised(table, "label", at), self.localised(table, "question", at)
        return Dimension(self.identifier(table, at), label, question, points)

    def point(self, table: Mapping[str, Any], at: str) -> Point:
        value = table.get("value")
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 100:
            raise DataError(f"{self.where}: {at}: value is a whole number from 0 to 100, not {value!r}.")
        label, guideline = self.localised(table, "label", at), self.localised(table, "guideline", at)
        example = table.get("example", "")
        if not isinstance(example, str):
            raise DataError(f"{self.where}: {at}: example must be a text, not {example!r}.")
        return Point(value, label, guideline, example)

    def flag(self, table: Mapping[str, Any], number: int) -> Flag:
        at = f"flag {number}"
        key = self.text(table, "key", at)
        if len(key) != 1 or not key.isascii() or not key.islower() or key in RESERVED_KEYS:
            reserved = ", ".join(sorted(RESERVED_KEYS))
            raise DataError(f"{self.where}: {at}: key is one small letter other than {reserved}, not {key!r}.")
        label, guideline = self.localised(table, "label", at), self.localised(table, "guideline", at)
        return Flag(self.identifier(table, at), key, table.get("excuses") is True, label, guideline)

    def all_different(self, names: list[str], what: str) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{self.where}: the {what} {twice!r} is there twice.")


# --- constraints in plain words ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Description:
    """What the writer had to do, in plain words; `severe` where raters should be more tolerant of style."""

    text: str
    severe: bool
    severe_note: str


def describe(
    task: str,
    target: object,
    interface: InterfaceLanguage,
    policy: Mapping[str, Any] | None = None,
    language: Language = ITALIAN,
) -> Description:
    """The constraint of a row in plain words, in the interface's language."""
    table = language.table("annotation", "constraints.toml")
    name = f"{task}_lines" if (policy or {}).get("acrostic") == "lines" and f"{task}_lines" in table else task
    entry = table.get(name)
    if entry is None:  # a task of another package: its name is all there is to say
        shown = "" if target is None else f": {target}"
        return Description(f"{task}{shown}", False, "")
    forms: Mapping[str, str] = entry[interface]
    form = forms.get(str(target)) or forms["one" if target in (1, "1") and "one" in forms else "many"]
    parts = entry.get("parts", {}).get(interface, {})
    order = ", ".join(parts.get(letter, letter) for letter in str(target))
    text = form.replace("{order}", order).replace("{target}", str(target))
    return Description(text, bool(entry["severe"]), table["severe_note"][interface])


def canonical_target(target: object) -> str:
    """A target as the text it is stored and compared by (JSON, so that 5 and "5" stay apart)."""
    return json.dumps(target, ensure_ascii=True, sort_keys=True)
