"""Speed of surface verdicts, and how it compares with the nearest checks of COLLIE, IFBench and IFEval.

    python benchmarks/surface.py

Sentences have ten words; half of them satisfy the constraint, half do not. Times are CPU time of one process, the best
of several rounds; what travels between machines is the ratio. Peers are measured where they are installed: COLLIE
(collie-bench), and IFBench and IFEval (if-verifiable carries the checks of both). COLLIE's word tokenizer needs a
sentence model that has to be downloaded, so it is given the same tokenizer without sentence splitting, which makes it
faster than it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from oulibench.constraints import get_constraint

ROUNDS = 15
REPEATS = 100

# Ten words each. The first four of a task satisfy it, the last four do not.
SENTENCES: dict[str, tuple[Any, list[str]]] = {
    "word_length": (
        10,
        [
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Domani mattina andremo tutti insieme al mare con gli amici.",
            "Perché quel cane così magro abbaia sempre di notte fonda?",
            "La maestra legge una bella storia ai bambini della scuola.",
            "Il gatto nero dorme sul vecchio divano della cara nonna felice.",
            "Domani mattina andremo tutti insieme al mare con i vecchi amici.",
            "Perché quel povero cane così magro abbaia sempre di notte fonda?",
            "La maestra legge una bella storia ai bambini della nostra scuola.",
        ],
    ),
    "lipogram": (
        "e",
        [
            "Il gatto dorma sul divano di nonna fino a domani.",
            "Oggi andrò con Marco a Roma, poi torno a casa.",
            "Lui canta piano una vaga canzon d'autunno più tardi, mai.",
            "Qualcuno suona il violino lassù, sopra i monti, di sabato.",
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Domani mattina andremo tutti insieme al mare con gli amici.",
            "Perché quel cane così magro abbaia sempre di notte fonda?",
            "La maestra legge una bella storia ai bambini della scuola.",
        ],
    ),
    "tautogram": (
        "m",
        [
            "Maria mangia mele morbide mentre Marco mesce molto moscato maturo.",
            "Mia madre mescola miele, menta, mandorle, mirtilli, mascarpone, more mature.",
            "Molti marinai malinconici mirano mari mossi mentre maestrale minaccia marosi.",
            "Mario mostra monete magnifiche, marmi medievali, mappe, manoscritti, medaglie, mosaici.",
            "Maria mangia le mele morbide mentre Marco beve il moscato.",
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Perché quel cane così magro abbaia sempre di notte fonda?",
            "Molti marinai guardano il mare mosso mentre il vento minaccia.",
        ],
    ),
}


def verdicts_per_second(check: Callable[[str], object], sentences: list[str]) -> float:
    """Calls a second of CPU time, in the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(REPEATS):
            for sentence in sentences:
                check(sentence)
        best = min(best, time.process_time() - start)
    return REPEATS * len(sentences) / best


def collie_checks() -> dict[str, Callable[[str], object]]:
    try:
        collie: Any = import_module("collie.constraints")
    except ImportError:
        return {}
    tokenizer: Any = import_module("nltk.tokenize").NLTKWordTokenizer()
    collie.word_tokenize = tokenizer.tokenize
    length = collie.Constraint(
        target_level=collie.TargetLevel("word"), transformation=collie.Count(), relation=collie.Relation("==")
    )
    without = collie.Constraint(
        target_level=collie.TargetLevel("character"),
        transformation=collie.ForEach(lambda c: c),
        relation=collie.Relation("!="),
        reduction=collie.Reduction("all"),
    )
    initials = collie.Constraint(
        input_level=collie.InputLevel("word"),
        target_level=collie.TargetLevel("character"),
        transformation=collie.ForEach(collie.Position(0)),
        relation=collie.Relation("=="),
        reduction=collie.Reduction("all"),
    )
    return {
        "word_length": lambda text: length.check(text, 10),
        "lipogram": lambda text: without.check(text, "e"),
        "tautogram": lambda text: initials.check(text, "m"),
    }


def ifbench_checks() -> dict[str, Callable[[str], object]]:
    try:
        ifbench: Any = import_module("if_verifiable.ifbench.instructions")
    except (ImportError, LookupError):
        return {}
    words = ifbench.WordCountRangeChecker("")
    words.build_description(min_words=10, max_words=10)
    letters = ifbench.NoConsecutiveFirstLetterChecker("")
    letters.build_description()
    return {"word_length": words.check_following, "tautogram": letters.check_following}


def ifeval_checks() -> dict[str, Callable[[str], object]]:
    try:
        ifeval: Any = import_module("if_verifiable.ifeval.instructions")
    except (ImportError, LookupError):
        return {}
    words = ifeval.NumberOfWords("")
    words.build_description(num_words=10, relation="at least")
    letter = ifeval.LetterFrequencyChecker("")
    letter.build_description(letter="e", let_frequency=1, let_relation="less than")
    return {"word_length": words.check_following, "lipogram": letter.check_following}


def main() -> None:
    peers = {"COLLIE": collie_checks(), "IFBench": ifbench_checks(), "IFEval": ifeval_checks()}
    print(f"{'task':<14}{'which':<12}{'verdicts/s':>12}  ours / theirs")
    for task, (target, sentences) in SENTENCES.items():
        constraint = get_constraint(task)
        passed = [constraint.check(s, target).passed for s in sentences]
        assert passed == [True] * 4 + [False] * 4, (task, passed)
        ours = verdicts_per_second(lambda s, c=constraint, t=target: c.check(s, t), sentences)  # type: ignore[misc]
        print(f"{task:<14}{'oulibench':<12}{ours:>12,.0f}")
        for name, checks in peers.items():
            if task in checks:
                theirs = verdicts_per_second(checks[task], sentences)
                print(f"{'':<14}{name:<12}{theirs:>12,.0f}  {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
