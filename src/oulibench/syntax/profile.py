"""The linguistic profile of a text: the features of Profiling-UD, computed from Universal Dependencies trees.

Brunato, Cimino, Dell'Orletta, Montemagni and Venturi (2020), «Profiling-UD: a Tool for Linguistic Profiling of Texts»,
LREC 2020. Variants of the list exist; this one is named by `VARIANT` and pinned: a value moves only when the name does.

Conventions of all features: names ending in `_dist_X`, `_pre`, `_post` and `_perc` are percentages; a share of nothing
is 0; children never include punctuation; a link's length is the distance of the word's number from its head's. Only the
type/token ratios of the first 100 and 200 words have no value (NaN) in a shorter text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import nan

from oulibench.syntax.clause import children_by_head
from oulibench.syntax.tree import UPOS, Sentence, Token

VARIANT = "profiling-ud/1"

LEXICAL = frozenset(("ADJ", "ADV", "NOUN", "PROPN", "VERB"))
MOODS = ("Cnd", "Imp", "Ind", "Sub")
TENSES = ("Fut", "Imp", "Past", "Pres")
FORMS = ("Fin", "Ger", "Inf", "Part")
PERSONS = ("Sing+1", "Sing+2", "Sing+3", "Plur+1", "Plur+2", "Plur+3")
MAX_EDGES = 6
MAX_CHAIN = 5
CHUNKS = (100, 200)
RELATIONS = (
    "acl", "acl:relcl", "advcl", "advmod", "amod", "appos", "aux", "aux:pass", "case", "cc", "ccomp", "compound",
    "conj", "cop", "csubj", "csubj:pass", "dep", "det", "det:poss", "det:predet", "discourse", "dislocated", "expl",
    "expl:impers", "expl:pass", "fixed", "flat", "flat:foreign", "flat:name", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nsubj:pass", "nummod", "obj", "obl", "obl:agent", "orphan", "parataxis", "punct", "root",
    "vocative", "xcomp",
)  # fmt: skip

_COPULAR = frozenset(("ADJ", "NOUN", "PRON", "ADV"))
_NO_SUBORDINATE_VERB = frozenset(("cop", "conj", "root", "parataxis", "amod"))
_NO_SUBORDINATE_PREDICATE = frozenset(("cop", "conj", "root"))


def _descriptions() -> dict[str, str]:
    found = {
        "n_sentences": "sentences",
        "n_tokens": "syntactic words, punctuation included",
        "tokens_per_sent": "syntactic words, punctuation included, per sentence",
        "char_per_tok": "characters per syntactic word, punctuation excluded",
    }
    for unit in ("form", "lemma"):
        for size in CHUNKS:
            found[f"ttr_{unit}_chunks_{size}"] = (
                f"different {unit}s among the first {size} words but punctuation, over {size}; NaN in a shorter text"
            )
    for upos in UPOS:
        found[f"upos_dist_{upos}"] = f"% of words that are {upos}"
    found["lexical_density"] = "ADJ, ADV, NOUN, PROPN and VERB over all words but punctuation"
    for name, upos in (("verbs", "VERB"), ("aux", "AUX")):
        for mood in MOODS:
            found[f"{name}_mood_dist_{mood}"] = f"% of {upos} with Mood={mood}, among those with a mood"
        for tense in TENSES:
            found[f"{name}_tense_dist_{tense}"] = f"% of {upos} with Tense={tense}, among those with a tense"
        for form in FORMS:
            found[f"{name}_form_dist_{form}"] = f"% of {upos} with VerbForm={form}, among those with a verb form"
        for person in PERSONS:
            found[f"{name}_num_pers_dist_{person}"] = f"% of finite {upos} with number and person {person}"
    found["verbal_head_per_sent"] = "VERB and copular predicates (ADJ, NOUN, PRON, ADV with a copula) per sentence"
    found["verbal_root_perc"] = "% of roots that are VERB, AUX or a copular predicate"
    found["avg_verb_edges"] = (
        f"children of a VERB other than `aux`, mean; verbs with more than {MAX_EDGES} count in the denominator only"
    )
    for edges in range(MAX_EDGES + 1):
        found[f"verb_edges_dist_{edges}"] = f"% of VERB with {edges} children other than `aux`"
    found["avg_max_depth"] = "longest path from the root down to a word, in links, mean over sentences"
    found["avg_token_per_clause"] = "words, punctuation included, per VERB or copular predicate"  # noqa: S105
    found["avg_links_len"] = "length of a dependency link, mean over words that are neither punctuation nor root"
    found["max_links_len"] = "length of the longest dependency link of the text"
    found["avg_max_links_len"] = "length of a sentence's longest dependency link, mean over sentences"
    found["n_prepositional_chains"] = "chains of `nmod` with a `case` child, one for each way down"
    found["avg_prepositional_chain_len"] = "length of a prepositional chain, mean"
    for length in range(1, MAX_CHAIN + 1):
        found[f"prep_dist_{length}"] = f"% of prepositional chains that are {length} long"
    for of, name in (("subj", "subjects"), ("obj", "objects (any relation with `obj`, so indirect ones too)")):
        found[f"{of}_pre"] = f"% of {name} before their head"
        found[f"{of}_post"] = f"% of {name} after their head"
    for relation in RELATIONS:
        found[f"dep_dist_{relation}"] = f"% of words with the relation {relation}"
    found["principal_proposition_dist"] = "% of verbal and copular roots among these and subordinate clauses"
    found["subordinate_proposition_dist"] = "% of subordinate clauses among these and verbal and copular roots"
    found["subordinate_pre"] = "% of subordinate clauses whose head stands before the root"
    found["subordinate_post"] = "% of subordinate clauses whose head stands after the root"
    found["avg_subordinate_chain_len"] = "length of a chain of subordinate clauses, one for each way down, mean"
    for length in range(1, MAX_CHAIN + 1):
        found[f"subordinate_dist_{length}"] = f"% of chains of subordinate clauses that are {length} long"
    return found


FEATURES: Mapping[str, str] = _descriptions()
"""Every feature in its fixed order, with its definition in one line."""


def n_syntactic_words(sentence: Sentence) -> int:
    """Words under the `syntactic` counting policy: UD words without punctuation (*della* = di + la = 2)."""
    return sum(token.upos != "PUNCT" for token in sentence.tokens)


def n_tokens(sentence: Sentence) -> int:
    """Words under the `profiling` counting policy: UD words with punctuation, as Profiling-UD counts them."""
    return len(sentence.tokens)


def profile_sentences(sentences: Sequence[Sentence]) -> dict[str, float]:
    """The features of `FEATURES` for a text, in that order.

    Parts of speech, relations and morphological values that the list does not foresee follow it in alphabetical order.
    A text without sentences has 0 everywhere.
    """
    counts = _Counts()
    for sentence in sentences:
        counts.add(sentence)
    values = counts.values()
    known = {name: values.pop(name, 0.0) for name in FEATURES}
    return {**known, **{name: values[name] for name in sorted(values)}}


class _Counts:
    """What is counted over the sentences of one text."""

    def __init__(self) -> None:
        self.sentences = self.tokens = self.words = self.characters = self.lexical = 0
        self.verbs = self.copular = self.roots = self.verbal_roots = 0
        self.verb_edges = self.links = self.links_length = self.longest_link = self.longest_links = self.depths = 0
        self.subordinates = self.subordinates_pre = 0
        self.forms: set[str] = set()
        self.lemmas: set[str] = set()
        self.ratios: dict[str, float] = {
            f"ttr_{unit}_chunks_{size}": nan for unit in ("form", "lemma") for size in CHUNKS
        }
        self.upos: Counter[str] = Counter()
        self.relations: Counter[str] = Counter()
        self.features: dict[str, Counter[str]] = {}
        self.edges: Counter[int] = Counter()
        self.places: Counter[str] = Counter()
        self.prepositional: list[int] = []
        self.subordinate_chains: list[int] = []

    def add(self, sentence: Sentence) -> None:
        below = [[t for t in children if t.upos != "PUNCT"] for children in children_by_head(sentence)]
        self.sentences += 1
        longest = 0
        copular = [_is_copular(token, below) for token in sentence.tokens]
        subordinate = [
            _is_subordinate(token, is_copular) for token, is_copular in zip(sentence.tokens, copular, strict=True)
        ]
        prepositional = [_is_prepositional(token, below) for token in sentence.tokens]
        root = next((t.id for t in sentence.tokens if t.head == 0), 0)
        for token in sentence.tokens:
            self._word(token)
            if token.upos == "VERB":
                self.verbs += 1
                edges = sum(child.deprel != "aux" for child in below[token.id])
                if edges <= MAX_EDGES:
                    self.verb_edges += edges
                    self.edges[edges] += 1
            self.copular += copular[token.id - 1]
            if token.deprel == "root":
                self.roots += 1
                self.verbal_roots += token.upos in ("VERB", "AUX") or copular[token.id - 1]
            if token.head and token.upos != "PUNCT":
                length = abs(token.head - token.id)
                self.links += 1
                self.links_length += length
                longest = max(longest, length)
            for of in ("subj", "obj"):
                if of in token.deprel:
                    self.places[f"{of}_{'pre' if token.id < token.head else 'post'}"] += 1
            if subordinate[token.id - 1]:
                self.subordinates += 1
                self.subordinates_pre += token.id < root
        self.longest_link = max(self.longest_link, longest)
        self.longest_links += longest
        self.depths += _depth(below)
        self.prepositional += _chains(sentence.tokens, below, prepositional)
        self.subordinate_chains += _chains(sentence.tokens, below, subordinate)

    def _word(self, token: Token) -> None:
        self.tokens += 1
        self.upos[token.upos] += 1
        self.relations[token.deprel] += 1
        if token.upos != "PUNCT":
            self.words += 1
            self.characters += len(token.form)
            self.lexical += token.upos in LEXICAL
            self.forms.add(token.form)
            self.lemmas.add(token.lemma)
            if self.words in CHUNKS:
                self.ratios[f"ttr_form_chunks_{self.words}"] = len(self.forms) / self.words
                self.ratios[f"ttr_lemma_chunks_{self.words}"] = len(self.lemmas) / self.words
        if token.upos in ("VERB", "AUX"):
            name = "verbs" if token.upos == "VERB" else "aux"
            for feature, kind in (("Mood", "mood"), ("Tense", "tense"), ("VerbForm", "form")):
                if feature in token.feats:
                    self._count(f"{name}_{kind}_dist", token.feats[feature])
            if token.feats.get("VerbForm") == "Fin":
                self._count(f"{name}_num_pers_dist", f"{token.feats.get('Number', '')}+{token.feats.get('Person', '')}")

    def _count(self, family: str, value: str) -> None:
        self.features.setdefault(family, Counter())[value] += 1

    def values(self) -> dict[str, float]:
        clauses = self.verbs + self.copular
        main = self.verbal_roots
        values: dict[str, float] = {
            "n_sentences": float(self.sentences),
            "n_tokens": float(self.tokens),
            "tokens_per_sent": _share(self.tokens, self.sentences),
            "char_per_tok": _share(self.characters, self.words),
            **self.ratios,
            "lexical_density": _share(self.lexical, self.words),
            "verbal_head_per_sent": _share(clauses, self.sentences),
            "verbal_root_perc": 100 * _share(main, self.roots),
            "avg_verb_edges": _share(self.verb_edges, self.verbs),
            "avg_max_depth": _share(self.depths, self.sentences),
            "avg_token_per_clause": _share(self.tokens, clauses),
            "avg_links_len": _share(self.links_length, self.links),
            "max_links_len": float(self.longest_link),
            "avg_max_links_len": _share(self.longest_links, self.sentences),
            "n_prepositional_chains": float(len(self.prepositional)),
            "avg_prepositional_chain_len": _share(sum(self.prepositional), len(self.prepositional)),
            "principal_proposition_dist": 100 * _share(main, main + self.subordinates),
            "subordinate_proposition_dist": 100 * _share(self.subordinates, main + self.subordinates),
            "subordinate_pre": 100 * _share(self.subordinates_pre, self.subordinates),
            "subordinate_post": 100 * _share(self.subordinates - self.subordinates_pre, self.subordinates),
            "avg_subordinate_chain_len": _share(sum(self.subordinate_chains), len(self.subordinate_chains)),
        }
        if not self.sentences:
            values.update(dict.fromkeys(self.ratios, 0.0))
        for of in ("subj", "obj"):
            both = self.places[f"{of}_pre"] + self.places[f"{of}_post"]
            for place in ("pre", "post"):
                values[f"{of}_{place}"] = 100 * _share(self.places[f"{of}_{place}"], both)
        values |= _distribution("upos_dist", self.upos.items(), self.tokens)
        values |= _distribution("dep_dist", self.relations.items(), self.tokens)
        values |= _distribution("verb_edges_dist", self.edges.items(), self.verbs)
        for family, counted in self.features.items():
            values |= _distribution(family, counted.items(), counted.total())
        for family, chains in (("prep_dist", self.prepositional), ("subordinate_dist", self.subordinate_chains)):
            short = Counter(length for length in chains if length <= MAX_CHAIN)
            values |= _distribution(family, short.items(), len(chains))
        return values


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _distribution(family: str, counted: Iterable[tuple[str | int, int]], whole: int) -> dict[str, float]:
    return {f"{family}_{value}": 100 * count / whole for value, count in counted}


def _is_copular(token: Token, below: list[list[Token]]) -> bool:
    return token.upos in _COPULAR and any(child.deprel == "cop" for child in below[token.id])


def _is_subordinate(token: Token, copular: bool) -> bool:
    if token.upos == "VERB":
        return token.deprel not in _NO_SUBORDINATE_VERB
    return copular and token.deprel not in _NO_SUBORDINATE_PREDICATE


def _is_prepositional(token: Token, below: list[list[Token]]) -> bool:
    return token.deprel == "nmod" and any(child.deprel == "case" for child in below[token.id])


def _depth(below: list[list[Token]]) -> int:
    """Links from the root to the word farthest below it."""
    level = below[0]
    depth = -1
    while level:
        depth += 1
        level = [child for token in level for child in below[token.id]]
    return max(depth, 0)


def _chains(tokens: Sequence[Token], below: list[list[Token]], links: Sequence[bool]) -> list[int]:
    """The lengths of the chains of words that are `links`, each on the one before; a fork makes two chains."""
    lengths: list[int] = []
    pending = [(token, 1) for token in tokens if links[token.id - 1] and not (token.head and links[token.head - 1])]
    while pending:
        token, length = pending.pop()
        further = [child for child in below[token.id] if links[child.id - 1]]
        if further:
            pending += [(child, length + 1) for child in further]
        else:
            lengths.append(length)
    return lengths
