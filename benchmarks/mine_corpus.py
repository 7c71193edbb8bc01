"""`oulibench mine` on a large text: sentences a second with one process, with two and on a Ray cluster.

    python -m benchmarks.mine_corpus [SENTENCES] [--ray]

Writes SENTENCES sentences (default 1,000,000) to two temporary files and mines them for lipograms; with `--ray`, also
on a Ray cluster of this machine with two workers. All ways must find the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.score_file import OBJECTS, SUBJECTS, VERBS, WAYS, arguments, measure

ENDINGS = ("di notte", "con calma", "senza dirlo a nessuno", "come ogni anno", "e poi torna a casa", "in silenzio")


def write_sentences(path: Path, first: int, n: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for i in range(first, first + n):
            text = f"{SUBJECTS[i % 5]} {VERBS[i // 5 % 5]} {OBJECTS[i // 25 % 4][:-1]} {ENDINGS[i // 100 % 6]}"
            file.write(f"{text}, per la {i}ª volta.\n")


def main() -> None:
    args = arguments("SENTENCES", 1_000_000)
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name) / "corpus"
        corpus.mkdir()
        for half in (0, 1):
            write_sentences(corpus / f"{half}.txt", half * (args.n // 2), args.n // 2)
        megabytes = sum(file.stat().st_size for file in corpus.iterdir()) / 1e6
        print(f"{args.n:,} sentences, {megabytes:.0f} MB")
        found = set()
        for way, options in WAYS.items():
            if way == "Ray" and not args.ray:
                continue
            target = Path(name) / "found.jsonl"
            seconds, peak = measure(
                "mine", corpus, "--task", "lipogram", "--target", "f", "--target", "u", "-o", target, *options
            )
            found.add(target.read_bytes())
            print(f"{way}: {seconds:.1f} s, {args.n / seconds:,.0f} sentences/s, peak {peak:.0f} MB", flush=True)
        assert len(found) == 1, "the ways find different sentences"


if __name__ == "__main__":
    main()
