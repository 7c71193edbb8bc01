"""Parses are remembered, shared between threads, and the same whatever they are made with."""

from concurrent.futures import ThreadPoolExecutor

from oulibench import check, parse, score
from oulibench.syntax import parser_signature
from oulibench.syntax.tree import to_conllu

TEXTS = [f"{subject} {verb} la mela." for subject in ("Luca", "Il gatto", "Mia nonna") for verb in ("mangia", "compra")]


def test_threads_get_what_one_thread_gets() -> None:
    texts = [f"{text} Poi torna a casa {i}." for i in range(20) for text in TEXTS]
    expected = [[to_conllu(s) for s in parse(text)] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: [to_conllu(s) for s in parse(text)], texts))
    assert together == expected


def test_a_verdict_does_not_depend_on_its_neighbours() -> None:
    alone = [check("voice", text, "active") for text in TEXTS]
    rows = score([{"task": "voice", "target": "active", "text": text} for text in TEXTS])
    assert [(v.passed, v.measured, v.reason) for v in alone] == [
        (row["passed"], row["measured"], row["reason"]) for row in rows
    ]


def test_the_signature_tells_the_licence_of_the_weights() -> None:
    assert "CC-BY-NC-SA" in parser_signature()
    assert parser_signature() in check("voice", "Luca mangia la mela.", "active").signature
