"""Speed of surface verdicts, and how it compares with what COLLIE, IFEval and IFBench have for the same rule.

    python -m benchmarks.surface

Sentences have ten words; half of them satisfy the constraint, half do not. Times are CPU time of one process, the best
of several rounds; what travels between machines is the ratio. Peers are measured where they are installed
(`benchmarks.peers` says how the rule is put to each).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from benchmarks.peers import load_peers

from oulibench.constraints import get_constraint

T = TypeVar("T")

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
    "char_length": (
        48,
        [
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Domani mattina andremo tutti insieme al mare con i cugini.",
            "Perché quel cane così grosso abbaia sempre di notte fonda?",
            "La maestra legge una bella storia ai bambini della scuola.",
            "Il gatto nero dorme sul vecchio divano della nonna stanca e felice.",
            "Domani mattina andremo tutti insieme al mare con i vecchi amici.",
            "Perché quel povero cane così magro abbaia sempre di notte fonda?",
            "La maestra legge una bella storia ai bambini della nostra scuola.",
        ],
    ),
    "inverse_lipogram": (
        "e",
        [
            "Michele prende sempre tre pere verdi nelle belle ceste verdi.",
            "Elena vede stelle celesti mentre Pietro legge delle lettere segrete.",
            "Ieri Teresa beveva sempre del tè freddo nelle sere serene.",
            "Perché Matteo e Irene vendevano quelle vecchie seggiole senza sedile?",
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Domani mattina andremo tutti insieme al mare con gli amici.",
            "Michele prende sempre tre pere verdi nella bella cesta rossa.",
            "La maestra legge una bella storia ai bambini della scuola.",
        ],
    ),
    "acrostic": (
        "malinconia",
        [
            "Mia amica Laura incontra nonna Carla ogni notte in autunno.",
            "Marta arriva lunedì in nave con otto nuovi ingegneri arabi.",
            "Mentre Anna leggeva, il nonno cantava ogni nota in allegria.",
            "Mai avevo letto istruzioni nuove così ordinate, naturali, intelligenti, astute.",
            "Il gatto nero dorme sul vecchio divano della nonna felice.",
            "Domani mattina andremo tutti insieme al mare con gli amici.",
            "Mia amica Laura incontra nonna Carla ogni sera in autunno.",
            "La maestra legge una bella storia ai bambini della scuola.",
        ],
    ),
}


def verdicts_per_second(check: Callable[[T], object], sentences: Sequence[T]) -> float:
    """Calls a second of CPU time, in the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(REPEATS):
            for sentence in sentences:
                check(sentence)
        best = min(best, time.process_time() - start)
    return REPEATS * len(sentences) / best


def main() -> None:
    peers, missing = load_peers()
    for name, why in missing:
        print(f"{name}: not measured ({why})")
    print(f"{'task':<18}{'which':<12}{'verdicts/s':>12}  ours / theirs")
    for task, (target, sentences) in SENTENCES.items():
        constraint = get_constraint(task)
        passed = [constraint.check(s, target).passed for s in sentences]
        assert passed == [True] * 4 + [False] * 4, (task, passed)
        ours = verdicts_per_second(lambda s, c=constraint, t=target: c.check(s, t), sentences)  # type: ignore[misc]
        print(f"{task:<18}{'oulibench':<12}{ours:>12,.0f}")
        for peer in peers:
            if check := peer.express(task, target):
                theirs = verdicts_per_second(check, sentences)
                print(f"{'':<18}{peer.NAME:<12}{theirs:>12,.0f}  {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
