"""Rewards: how little cheap tricks earn, what the gates close on by mistake, and how many rewards a second there are.

    python benchmarks/rewards.py [--task lipogram …] [--sizes 1 10 100 1000 10000] [--processes 1 2] [--clock]
    python benchmarks/rewards.py --adversary
    python benchmarks/rewards.py --gates [CONLLU_FILE …]

Without an option: rewards a second, per task, without gates, with those that need no parse, and with the default ones,
in batches of several sizes, the best of three rounds (one round where texts are parsed); no completion comes twice. One
process is measured in processor time, or with `--clock` on the clock; several always are on the clock, which on a busy
machine says little. What travels between machines is the ratio to the column before it: how many of the same texts
Python splits at white space and counts in the same time (`Counter(text.split())`).

`--adversary`: the mean and the largest reward of each cheap strategy over all tasks and several targets, with the
default gates and with none; then what honest texts earn.

`--gates`: the share of honest texts that each gate closes on: the benchmark's demonstrations, the passing texts of the
golden cases, and the sentences of treebanks, where given.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from statistics import mean
from typing import Any, Final, NamedTuple

from oulibench.behaviour.known_palindromes import traditional
from oulibench.behaviour.repetition import function_words
from oulibench.constraints import get_constraint, task_names
from oulibench.errors import DataError
from oulibench.language import ITALIAN
from oulibench.lexicon import load_lexicon
from oulibench.rewards import DEFAULT_GATES, Gates, explain, score_completions
from oulibench.rewards.gates import syntax_threshold
from oulibench.suite import demonstrations
from oulibench.text import fold, initial, letters, normalise, words

GOLDEN: Final = Path(__file__).parents[1] / "tests" / "golden"
TARGETS_EACH: Final = 3
TIMES: Final = 4
"""Tries of a strategy per target, each with other random choices."""


# --- cheap strategies --------------------------------------------------------------------------------------------


class Ask(NamedTuple):
    """What a strategy sees."""

    task: str
    target: Any
    prompt: str
    shown: tuple[str, ...]
    """Demonstrations in the prompt."""
    rng: random.Random


Strategy = Callable[[Ask], str]


def asks(task: str, times: int = TIMES, shots: int = 5) -> list[Ask]:
    """Requests over the targets of a task, evenly spread."""
    constraint = get_constraint(task)
    targets = [spec.value for spec in constraint.targets()]
    if len(targets) > TARGETS_EACH:
        targets = [targets[i * len(targets) // TARGETS_EACH] for i in range(TARGETS_EACH)]
    found: list[Ask] = []
    for target in targets:
        try:
            shown = tuple(d.text for d in demonstrations(task, target, shots))
        except DataError:
            shown = ()
        prompt = constraint.prompt(target)
        for i in range(times):
            rng = random.Random(f"{task} {target} {i}")  # noqa: S311  # reproducible
            found.append(Ask(task, target, prompt, shown, rng))
    return found


@cache
def dictionary() -> tuple[str, ...]:
    """20,000 random words of the lexicon with at least three letters."""
    everything = sorted(w for w in load_lexicon()._words["core"] if len(w) > 2 and w.isalpha())
    return tuple(sorted(random.Random(0).sample(everything, 20_000)))  # noqa: S311  # reproducible


@cache
def vocabulary() -> tuple[str, ...]:
    """Common words: those of the benchmark's demonstrations, function words left out."""
    found = {fold_free(word) for text in built_in() for word in words(text)}
    return tuple(sorted(w for w in found if len(w) > 2 and fold(w) not in function_words() and w.isalpha()))


@cache
def little_words() -> tuple[str, ...]:
    return tuple(sorted(w for w in function_words() if w.isalpha()))


def fold_free(word: str) -> str:
    return word.lower().strip("'")


@cache
def built_in() -> tuple[str, ...]:
    """All texts of the benchmark's demonstrations."""
    folder = ITALIAN.data("demonstrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".jsonl")), key=lambda f: f.name)
    return tuple(json.loads(line)["text"] for f in files for line in f.read_text("utf-8").splitlines() if line.strip())


@cache
def fitting(task: str, target: Any, pool: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """The words of a pool that keep the task's rule about words; all of them, where it has none."""
    if task == "lipogram":
        return tuple(w for w in pool() if target not in fold(w))
    if task == "inverse_lipogram":
        return tuple(w for w in pool() if target in fold(w))
    if task == "tautogram":
        return tuple(w for w in pool() if initial(w) == target)
    return pool()


def salad(ask: Ask, pool: Callable[[], tuple[str, ...]], joint: str = " ") -> str:
    """Random words of a pool that meet what the task asks of words, initials and lengths."""
    rng, task, target = ask.rng, ask.task, ask.target
    candidates = fitting(task, target, pool) or pool()
    if task == "acrostic":
        chosen = [rng.choice([w for w in candidates if initial(w) == c] or candidates) for c in letters(target)]
    elif task == "word_anagram":
        chosen = [rng.choice([w for w in candidates if len(w) == len(target)])]
    elif task in ("char_length", "sentence_anagram"):
        chosen = fill(rng, candidates, target if isinstance(target, int) else len(letters(target)))
    else:
        n = target if task == "word_length" else rng.randint(6, 12)
        chosen = [rng.choice(candidates) for _ in range(n)]
    text = joint.join(chosen)
    return f"{text[:1].upper()}{text[1:]}."


def fill(rng: random.Random, candidates: Sequence[str], length: int) -> list[str]:
    """Random words of exactly so many letters in all."""
    chosen: list[str] = []
    left = length
    for _ in range(1000):
        word = rng.choice(candidates)
        if len(word) == left or len(word) <= left - 3:
            chosen.append(word)
            left -= len(word)
        if not left:
            break
    return chosen


def one_word(ask: Ask) -> str:
    if ask.task == "palindrome":
        return ask.rng.choice(("Anna", "Ossesso", "Radar", "Ingegni", "Onorarono"))
    if ask.task == "word_anagram":  # one word is what is asked for
        return ask.rng.choice(dictionary()).capitalize()
    return ask.rng.choice(fitting(ask.task, ask.target, dictionary) or dictionary()).capitalize() + "."


def a_letter_repeated(ask: Ask) -> str:
    letter = {"inverse_lipogram": ask.target, "tautogram": ask.target}.get(ask.task, "o")
    if ask.task == "char_length":
        return "o" * int(ask.target)
    return " ".join([letter] * (ask.target if ask.task == "word_length" else 10))


def sentence_for(ask: Ask) -> str:
    """A sentence that the demonstrations have for the target, or any."""
    return ask.rng.choice(ask.shown or built_in())


def sentence_repeated(ask: Ask) -> str:
    return " ".join([ask.rng.choice(built_in())] * 4)


_ENGLISH: Final = (
    "The quick brown fox jumps over the lazy dog while a small bird sings in the old garden near the river and two "
    "children run home from school with their books under the grey sky of a long and quiet afternoon in the north"
)


def english_words() -> tuple[str, ...]:
    return tuple(_ENGLISH.split())


def english(ask: Ask) -> str:
    n = ask.target if ask.task == "word_length" else 12
    if ask.task == "char_length":
        chosen = fill(ask.rng, [w for w in english_words() if len(w) > 2], ask.target)
    else:
        chosen = list(fitting(ask.task, ask.target, english_words) or english_words())[:n]
    return " ".join(chosen).capitalize() + "."


def punctuation(ask: Ask) -> str:
    return ask.rng.choice(("...", "!?!?!?", "— — — — —", "«»", "1. 2. 3. 4. 5.", "* * * * * * * * * *"))


def zero_width(ask: Ask) -> str:
    """One long run of letters cut up by characters that nobody sees."""
    return "\u200b".join(salad(ask, vocabulary, "\u200b"))


HOMOGLYPHS: Final = str.maketrans("aeiopcyx", "аеіорсух")


def homoglyphs(ask: Ask) -> str:
    """A sentence with Cyrillic letters in place of Latin ones."""
    return ask.rng.choice(built_in()).translate(HOMOGLYPHS)


def letters_dropped(ask: Ask) -> str:
    """A sentence whose words are cut to fit: the forbidden letter left out, the initial put in front."""
    target = ask.target
    texts = [t for t in built_in() if fold(t).count(target) > 1] if ask.task == "lipogram" else built_in()
    found = words(ask.rng.choice(texts))
    if ask.task == "lipogram":
        found = ["".join(c for c in w if fold(c) != target) for w in found]
    elif ask.task in ("tautogram", "inverse_lipogram"):
        found = [target + w for w in found]
    elif ask.task == "palindrome":
        half = letters(" ".join(found[:4]))
        return f"{half} {half[::-1]}"
    else:
        found = [w[: max(1, len(w) - 2)] for w in found]
    return " ".join(found)


def thinking(ask: Ask) -> str:
    """Good sentences where they are not looked at, and an answer that never comes."""
    inside = " ".join([sentence_for(ask)] * 3)
    return ask.rng.choice((f"<think>{inside}", f"<think>{inside}</think>", f"{inside}</think> ok", "<think></think>"))


def capitalised(ask: Ask) -> str:
    """Letters in random order that pose as names."""
    found = words(salad(ask, dictionary))
    return " ".join("".join(ask.rng.sample(w, len(w))).capitalize() for w in found)


def numbers(ask: Ask) -> str:
    return " ".join(str(ask.rng.randint(1, 99)) for _ in range(ask.target if ask.task == "word_length" else 10))


def very_long(ask: Ask) -> str:
    return " ".join(ask.rng.choices(fitting(ask.task, ask.target, vocabulary) or vocabulary(), k=5_000))


@cache
def phrases() -> tuple[str, ...]:
    """Articles with the word after them, out of the demonstrations."""
    articles = {"il", "lo", "la", "i", "gli", "le", "un", "uno", "una"}
    found = [words(fold(text)) for text in built_in()]
    return tuple(sorted({f"{a} {w}" for text in found for a, w in pairwise(text) if a in articles}))


def noun_phrases(ask: Ask) -> str:
    n = ask.target // 2 if ask.task == "word_length" else 5
    text = ", ".join(ask.rng.sample(fitting(ask.task, ask.target, phrases) or phrases(), n))
    return f"{text[:1].upper()}{text[1:]}."


def mixed_salad(ask: Ask) -> str:
    """Common words with a function word before every second of them."""
    small = fitting(ask.task, ask.target, little_words)
    found = words(salad(ask, vocabulary))
    if ask.task in ("word_length", "char_length", "acrostic", "word_anagram") or not small:
        return " ".join(found) + "."
    return " ".join(w if i % 2 else f"{ask.rng.choice(small)} {w}" for i, w in enumerate(found)) + "."


STRATEGIES: Final[dict[str, Strategy]] = {
    "nothing": lambda ask: "",
    "one word": one_word,
    "the prompt back": lambda ask: ask.prompt,
    "the demonstrations back": lambda ask: ask.rng.choice(ask.shown) if ask.shown else ask.prompt,
    "a traditional palindrome": lambda ask: ask.rng.choice(sorted(traditional().values())),
    "a letter repeated": a_letter_repeated,
    "one sentence repeated": sentence_repeated,
    "words of the lexicon": lambda ask: salad(ask, dictionary),
    "common words": lambda ask: salad(ask, vocabulary),
    "common and function words": mixed_salad,
    "function words": lambda ask: salad(ask, little_words),
    "words with full stops": lambda ask: salad(ask, vocabulary, ". "),
    "words with commas": lambda ask: salad(ask, vocabulary, ", "),
    "noun phrases with commas": noun_phrases,
    "English": english,
    "punctuation": punctuation,
    "zero-width spaces": zero_width,
    "look-alike letters": homoglyphs,
    "words cut to fit": letters_dropped,
    "made-up names": capitalised,
    "numbers": numbers,
    "5,000 words": very_long,
    "reasoning without an answer": thinking,
}


def rows_of(strategy: Strategy, task: str, times: int = TIMES) -> list[dict[str, Any]]:
    """Completions of a strategy as rows to reward."""
    return [
        {
            "task": ask.task,
            "target": ask.target,
            "completion": strategy(ask),
            "prompt": ask.prompt,
            "demonstrations": list(ask.shown),
        }
        for ask in asks(task, times)
    ]


def honest_rows() -> list[dict[str, Any]]:
    """The benchmark's demonstrations, each for its own target and not shown, and the golden texts that pass."""
    found: list[dict[str, Any]] = []
    for task in task_names():
        for spec in get_constraint(task).targets():
            for shots in range(20, 0, -1):
                try:
                    texts = [d.text for d in demonstrations(task, spec.value, shots)]
                except DataError:
                    continue
                found.extend({"task": task, "target": spec.value, "completion": text} for text in texts)
                break
    return found


def golden_rows() -> list[dict[str, Any]]:
    lines = map(json.loads, (GOLDEN / "verdicts.jsonl").read_text("utf-8").splitlines())
    found = [
        {"task": r["task"], "target": r["target"], "completion": r["text"], "policy": r.get("policy")}
        for r in lines
        if r.get("passed")
    ]
    for name in ("dev", "heldout"):
        lines = map(json.loads, (GOLDEN / f"voice_sentences_{name}.jsonl").read_text("utf-8").splitlines())
        found.extend({"task": "voice", "target": r["voice"], "completion": r["text"]} for r in lines if r["voice"])
    return found


class Earned(NamedTuple):
    """What a strategy earns over all tasks, each counting alike: mean and largest reward, with gates and without."""

    mean: float
    most: float
    mean_open: float
    most_open: float


def earned(strategy: Strategy, times: int = TIMES) -> Earned:
    tasks = [rows_of(strategy, task, times) for task in task_names()]
    gated, open_ = ([[r or 0.0 for r in score_completions(rows, g)] for rows in tasks] for g in (DEFAULT_GATES, None))
    return Earned(mean(map(mean, gated)), max(map(max, gated)), mean(map(mean, open_)), max(map(max, open_)))


def report_adversary() -> None:
    print("| strategy | mean | largest | mean without gates | largest |\n|---|---|---|---|---|")
    for name, strategy in STRATEGIES.items():
        found = earned(strategy)
        print(f"| {name} | {found.mean:.3f} | {found.most:.2f} | {found.mean_open:.3f} | {found.most_open:.2f} |")
    for name, rows in (("demonstrations", honest_rows()), ("golden texts", golden_rows())):
        gated, open_ = ([r or 0.0 for r in score_completions(rows, g)] for g in (DEFAULT_GATES, None))
        print(f"| *honest:* {name} | {mean(gated):.3f} | {max(gated):.2f} | {mean(open_):.3f} | {max(open_):.2f} |")


# --- what gates close on by mistake ------------------------------------------------------------------------------


def treebank_rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    """Sentences of three words and more, as answers to a task that asks for no more than a sentence."""
    texts = [
        line[9:].strip()
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if line.startswith("# text = ")
    ]
    return [
        {"task": "lipogram", "target": "w", "completion": text} for text in texts if len(words(normalise(text))) >= 3
    ]


def report_gates(files: Sequence[Path]) -> None:
    sources = {"demonstrations": honest_rows(), "golden texts": golden_rows()}
    if files:
        sources["treebanks"] = treebank_rows(files)
    for name, rows in sources.items():
        closed: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for row in rows:
            found = explain(row["task"], row["completion"], row["target"], policy=row.get("policy"))
            closed.update(found.closed or ())
            closed["any"] += bool(found.closed)
            for gate in found.closed:
                examples.setdefault(gate, f"{row['task']}: {row['completion']}")
        print(f"{name}: {len(rows):,} texts")
        for gate, n in closed.most_common():
            print(f"  {gate:<12}{n:>6}{n / len(rows):>8.2%}  {examples.get(gate, '')[:90]}")


# --- speed -------------------------------------------------------------------------------------------------------


def speed_rows(task: str, n: int) -> list[dict[str, Any]]:
    """Sentences of the demonstrations, numbered so that no completion comes twice in this process."""
    rng = random.Random(task)  # noqa: S311  # reproducible
    targets = [spec.value for spec in get_constraint(task).targets()]
    texts = [text.rstrip(".!?") for text in built_in()]
    return [
        {"task": task, "target": targets[i % len(targets)], "completion": f"{rng.choice(texts)} {next(_NUMBER)}."}
        for i in range(n)
    ]


_NUMBER: Final = count(1)


def splits_per_second(texts: Sequence[str], now: Callable[[], float]) -> float:
    """How many texts a second are split and counted, in the best of three rounds."""
    best = float("inf")
    for _ in range(3):
        start = now()
        for text in texts:
            Counter(text.split())
        best = min(best, now() - start)
    return len(texts) / best


def report_speed(tasks: Sequence[str], sizes: Sequence[int], processes: Sequence[int], clock: bool) -> None:
    settings: dict[str, Gates | None] = {"none": None, "no parse": Gates(syntax=None), "default": DEFAULT_GATES}
    print("| task | gates | processes |", " | ".join(f"{size:,}" for size in sizes), "| split | ratio |")
    print("|---|---|---|" + "---|" * (len(sizes) + 2))
    for task in tasks:
        for name, gates in settings.items():
            parsed = syntax_threshold(get_constraint(task), gates) is not None or get_constraint(task).parses()
            for n_processes in processes:
                now = time.perf_counter if clock or n_processes > 1 else time.process_time
                rates = [
                    None if parsed and size > MOST_PARSED else speed(task, size, gates, n_processes, now, parsed)
                    for size in sizes
                ]
                split = splits_per_second([row["completion"] for row in speed_rows(task, 1_000)], now)
                shown = " | ".join("" if r is None else f"{r:,.0f}" for r in rates)
                best = max(r for r in rates if r is not None)
                print(f"| {task} | {name} | {n_processes} | {shown} | {split:,.0f} | {best / split:.4f} |", flush=True)


MOST_PARSED: Final = 1_000
"""Larger batches would take minutes where texts are parsed, and are no quicker a text."""


def speed(task: str, size: int, gates: Gates | None, processes: int, now: Callable[[], float], parsed: bool) -> float:
    """Rewards a second in batches of `size`, each of texts that were not seen before."""
    rounds = 1 if parsed else 3
    batches = max(1, min(100, (200 if parsed else 1_000) // size))
    everything = speed_rows(task, size * (rounds * batches + 1))
    warm = speed_rows(task, max(size, 2_000)) if not parsed else everything[:size]
    score_completions(warm, gates, processes=processes)  # loads what there is to load; words are looked up once
    best = float("inf")
    position = size
    for _ in range(rounds):
        start = now()
        for _ in range(batches):
            score_completions(everything[position : position + size], gates, processes=processes)
            position += size
        best = min(best, now() - start)
    return size * batches / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adversary", action="store_true")
    parser.add_argument("--gates", nargs="*", type=Path, metavar="CONLLU_FILE")
    parser.add_argument("--task", nargs="+", choices=task_names(), default=task_names())
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 10, 100, 1_000, 10_000])
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--clock", action="store_true", help="measure one process on the clock, too")
    args = parser.parse_args()
    if args.adversary:
        report_adversary()
    elif args.gates is not None:
        report_gates(args.gates)
    else:
        report_speed(args.task, args.sizes, args.processes, args.clock)


if __name__ == "__main__":
    main()
