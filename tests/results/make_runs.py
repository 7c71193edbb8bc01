"""Run folders for tests and benchmarks: invented models that answer the benchmark's prompts well or badly.

Nothing here is a measurement of a real model. Answers are made from small vocabularies with a seeded generator; what a
model does (skill, copying, English, refusals …) is a parameter, so that tests know what a measurement must find.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUBJECTS = [
    "il gatto",
    "la maestra",
    "un bambino",
    "il nonno",
    "la vicina",
    "il pescatore",
    "una ragazza",
    "il medico",
    "la zia",
    "il postino",
]
VERBS = ["guarda", "porta", "compra", "trova", "disegna", "lava", "perde", "regala", "nasconde", "cerca"]
OBJECTS = [
    "una mela",
    "il pane",
    "la barca",
    "un libro",
    "la chiave",
    "il cappello",
    "una rosa",
    "la lettera",
    "il vino",
    "una pietra",
]
PLACES = [
    "in giardino",
    "a casa",
    "sul tetto",
    "nel bosco",
    "al mare",
    "in cucina",
    "per strada",
    "vicino al fiume",
    "in piazza",
    "a scuola",
]
EXTRA = [
    "oggi",
    "sempre",
    "piano",
    "ancora",
    "presto",
    "spesso",
    "poi",
    "qui",
    "bene",
    "forse",
    "tardi",
    "insieme",
    "subito",
    "ieri",
    "adesso",
    "davvero",
]
BY_INITIAL = {
    "m": ["Maria", "mangia", "mele", "morbide", "mentre", "Marco", "mescola", "molto", "miele", "maturo"],
    "s": ["Sara", "saluta", "sempre", "sette", "signori", "seduti", "sotto", "salici", "secolari"],
    "p": ["Paolo", "porta", "poche", "pere", "piccole", "per", "Piero"],
}
WITHOUT_E = [
    "un gatto nuota lontano con tutti i suoi amici",
    "oggi vado in montagna",
    "la nonna cucina una torta di frutta",
    "domani andiamo al lago",
]
PALINDROMES = [
    "Anna",
    "osso",
    "radar",
    "ingegni",
    "I topi non avevano nipoti",
    "Aceto nell'enoteca",
    "otto",
    "È corta e atroce",
]
NOT_PALINDROMES = ["La casa bianca", "Il sole e la luna", "Amo la pasta"]
ENGLISH = [
    "The cat is sleeping on the old sofa",
    "A man a plan a canal Panama",
    "She sells sea shells by the sea shore",
]
ANAGRAMS = {
    "noce": ["ceno", "cneo", "noce"],
    "roma": ["amor", "ramo", "mora", "orma", "maro"],
    "porta": ["tropa", "prato", "parto", "trapo"],
}
SENTENCES = {"Il sole splende.": ["Splende il sole.", "Le sole splendi.", "Sole il splende"]}
TARGETS: dict[str, list[tuple[Any, int]]] = {
    "word_length": [(3, 1), (5, 1), (8, 2), (12, 3), (16, 4), (20, 5)],
    "char_length": [(10, 1), (20, 2), (35, 3), (50, 4), (80, 5)],
    "lipogram": [("z", 1), ("u", 3), ("e", 5)],
    "inverse_lipogram": [("a", 1), ("e", 2)],
    "tautogram": [("m", 1), ("s", 2), ("p", 3)],
    "word_anagram": [("roma", 1), ("noce", 2), ("porta", 4)],
    "sentence_anagram": [("Il sole splende.", 3)],
    "palindrome": [(None, 5)],
    "acrostic": [("sole", 2), ("mare", 3)],
}
FAMILY = {"word_length": "quantitative", "char_length": "quantitative"}
FEW_SHOT = ("word_length", "char_length", "lipogram", "palindrome")


@dataclass(frozen=True)
class Fake:
    """An invented model: probabilities of what it does."""

    name: str
    skill: float = 0.5
    copying: float = 0.0
    english: float = 0.0
    refusing: float = 0.0
    truncating: float = 0.0
    failing: float = 0.0
    repeating: float = 0.1
    preamble: float = 0.2


def sentence(rng: random.Random, words: int) -> str:
    pieces = " ".join([rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(OBJECTS), rng.choice(PLACES)]).split()
    while len(pieces) < words:
        pieces.insert(rng.randrange(2, len(pieces)), rng.choice(EXTRA))
    text = " ".join(pieces[: max(1, words)])
    return text[0].upper() + text[1:] + "."


def answer(rng: random.Random, fake: Fake, task: str, target: Any) -> str:
    good = rng.random() < fake.skill
    if rng.random() < fake.english:
        return rng.choice(ENGLISH)
    if task == "word_length":
        return sentence(rng, target if good else max(1, round(target * rng.gauss(1, 0.2))))
    if task == "char_length":
        text = sentence(rng, max(1, round(target / 4.6 * rng.gauss(1, 0.15))))
        have = sum(map(str.isalnum, text))
        return text[:-1] + "a" * (target - have) + "." if good and have < target else text
    if task == "lipogram":
        return rng.choice(WITHOUT_E).capitalize() + "." if good else sentence(rng, rng.randint(4, 9))
    if task == "inverse_lipogram":
        return "La gatta mangia la pasta." if good and target == "a" else sentence(rng, 5)
    if task == "tautogram":
        words = BY_INITIAL[target]
        chosen = " ".join(rng.sample(words, rng.randint(2, len(words)))).capitalize()
        return chosen + ("." if good else " di sera.")
    if task == "word_anagram":
        return ANAGRAMS[target][0] if good else rng.choice(ANAGRAMS[target])
    if task == "sentence_anagram":
        return rng.choice(SENTENCES[target])
    if task == "palindrome":
        return rng.choice(PALINDROMES if good else NOT_PALINDROMES)
    if task == "acrostic":
        by_letter = {w[0].lower(): w for w in [*EXTRA, "mare", "amore", "rosa", "elefante", "oggi", "luna", "sera"]}
        words = [by_letter.get(c, "zia") for c in target]
        return " ".join(words).capitalize() if good else sentence(rng, 4)
    raise ValueError(task)


def response_rows(
    fake: Fake,
    tasks: Sequence[str] = tuple(TARGETS),
    shots: Sequence[int] = (0, 5, 10, 15),
    n: int = 10,
    epochs: int = 1,
    seed: int = 0,
    wording: str = "explicit",
    demonstrations: dict[tuple[str, Any], list[tuple[str, str]]] | None = None,
) -> Iterator[dict[str, Any]]:
    """Rows of `responses.jsonl`; `demonstrations` holds (id, text) pairs per task and target."""
    rng = random.Random(f"{seed}/{fake.name}")  # noqa: S311
    for task in tasks:
        for k in shots if task in FEW_SHOT else [0]:
            for target, difficulty in TARGETS[task]:
                for epoch in range(1, epochs + 1):
                    shown = (demonstrations or {}).get((task, target), [])[:k]
                    yield _row(rng, fake, task, k, target, difficulty, epoch, n, wording, shown)


def _row(
    rng: random.Random,
    fake: Fake,
    task: str,
    k: int,
    target: Any,
    difficulty: int,
    epoch: int,
    n: int,
    wording: str,
    shown: list[tuple[str, str]],
) -> dict[str, Any]:
    items: list[str] = []
    for _ in range(n):
        if items and rng.random() < fake.repeating:
            items.append(rng.choice(items))
        elif shown and rng.random() < fake.copying:
            items.append(rng.choice(shown)[1])
        else:
            items.append(answer(rng, fake, task, target))
    truncated = rng.random() < fake.truncating
    if truncated:
        items = items[: max(1, n // 2)]
    text = items[0] if n == 1 else "\n".join(f"{i}. {item}" for i, item in enumerate(items, 1))
    if rng.random() < fake.preamble:
        text = "Ecco le frasi richieste:\n\n" + text
    if rng.random() < fake.refusing:
        text = "Mi dispiace, ma non posso soddisfare questa richiesta."
    failed = rng.random() < fake.failing
    return {
        "id": f"{task}/{target}/{k}/{wording}",
        "model": fake.name,
        "task": task,
        "family": FAMILY.get(task, "stylistic"),
        "target": target,
        "difficulty": difficulty,
        "n": n,
        "shots": k,
        "wording": wording,
        "suite": "test",
        "epoch": epoch,
        "demonstrations": [id_ for id_, _ in shown],
        "prompt": _prompt(task, target, n, shown),
        "response": None if failed else text,
        "stop_reason": "max_tokens" if truncated else "stop",
        "truncated": truncated,
        "error": "500 Internal Server Error" if failed else None,
        "input_tokens": 100,
        "output_tokens": len(text) // 4,
        "seconds": 1.5,
    }


def _prompt(task: str, target: Any, n: int, shown: Sequence[tuple[str, str]]) -> str:
    asked = f"Genera {n} testi ({task}, {target})."
    if not shown:
        return asked
    examples = "\n".join(f"{f'{i}.' if n > 1 else '-'} {text}" for i, (_, text) in enumerate(shown, 1))
    return f"{asked}\n\nEcco {len(shown)} esempi:\n{examples}\n\nNon ripetere gli esempi."


def invented_demonstrations(seed: int = 7) -> dict[tuple[str, Any], list[tuple[str, str]]]:
    """Fifteen demonstrations for every few-shot task and target; no package knows their ids."""
    rng = random.Random(seed)  # noqa: S311
    perfect = Fake("demonstrations", skill=1.0)
    return {
        (task, target): [(f"{task}-{target}-{i}", answer(rng, perfect, task, target)) for i in range(15)]
        for task in FEW_SHOT
        for target, _ in TARGETS[task]
    }


def write_run(folder: Path, rows: Sequence[dict[str, Any]] | Iterator[dict[str, Any]], **settings: Any) -> Path:
    """A run folder with these answers."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "responses.jsonl").open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    settings = {"format": 1, "oulibench": "0.1.0", "suite": "test", "temperature": 0.7, "seed": 1, **settings}
    (folder / "run.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder
