"""Step 2: sentences of our own, with their analysis, out of a small grammar of Italian and lexicon_grammar.txt.

    python -m training.parser.grammar COUNT SEED > own.conllu

They show what the treebanks hold too little of: clauses in all six orders whose roles only the verb's selection or
agreement tells apart, reflexives of all persons, passives with essere, venire and andare, unaccusatives, questions,
imperatives, dislocations. Where neither agreement nor selection decides, only the unmarked order is generated.
"""

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from oulibench.syntax.tree import Sentence, Token, to_conllu

VOWELS = "aeiouàèéìòùAEIOU"
PERSONS = ("1S", "2S", "3S", "1P", "2P", "3P")
CLITIC = {"1S": "mi", "2S": "ti", "3S": "si", "1P": "ci", "2P": "vi", "3P": "si"}
ISC = {"pulire", "capire", "preferire", "sparire", "finire", "guarire", "ferire", "fiorire", "appassire", "indebolire",
       "trasferire"}  # fmt: skip
PRESENT = {
    "cucire": "cucio cuci cuce cuciamo cucite cuciono",
    "bere": "bevo bevi beve beviamo bevete bevono",
    "comporre": "compongo componi compone componiamo componete compongono",
    "proporre": "propongo proponi propone proponiamo proponete propongono",
    "tradurre": "traduco traduci traduce traduciamo traducete traducono",
    "produrre": "produco produci produce produciamo producete producono",
    "contenere": "contengo contieni contiene conteniamo contenete contengono",
    "raccogliere": "raccolgo raccogli raccoglie raccogliamo raccogliete raccolgono",
    "spegnere": "spengo spegni spegne spegniamo spegnete spengono",
    "sedere": "siedo siedi siede sediamo sedete siedono",
    "uscire": "esco esci esce usciamo uscite escono",
    "morire": "muoio muori muore moriamo morite muoiono",
    "salire": "salgo sali sale saliamo salite salgono",
    "rimanere": "rimango rimani rimane rimaniamo rimanete rimangono",
    "essere": "sono sei è siamo siete sono",
    "avere": "ho hai ha abbiamo avete hanno",
    "venire": "vengo vieni viene veniamo venite vengono",
    "andare": "vado vai va andiamo andate vanno",
    "stare": "sto stai sta stiamo state stanno",
    "dovere": "devo devi deve dobbiamo dovete devono",
    "potere": "posso puoi può possiamo potete possono",
    "volere": "voglio vuoi vuole vogliamo volete vogliono",
}
IMPERFECT = {"essere": "ero eri era eravamo eravate erano"}
FUTURE_STEM = {"essere": "sar", "avere": "avr", "venire": "verr", "andare": "andr", "bere": "berr", "dovere": "dovr",
               "potere": "potr", "volere": "vorr", "stare": "star", "rimanere": "rimarr", "contenere": "conterr",
               "comporre": "comporr", "proporre": "proporr", "tradurre": "tradurr", "produrre": "produrr"}  # fmt: skip
IMPERFECT_STEM = {"bere": "bev", "comporre": "compon", "proporre": "propon", "tradurre": "traduc", "produrre": "produc"}
CLASSES = Path(__file__).parents[2] / "src" / "oulibench" / "data" / "it" / "syntax" / "noun_classes.tsv"
GENDERS = (("ista", "m"), ("tore", "m"), ("trice", "f"), ("zione", "f"), ("sione", "f"), ("essa", "f"), ("iere", "m"),
           ("ore", "m"), ("ale", "m"), ("one", "m"), ("ice", "f"), ("tà", "f"), ("o", "m"), ("a", "f"))  # fmt: skip
# For the verbs of a line: the classes of their subjects and of their objects.
WIDE = {
    "WIDE": (("person", "thing"), ("person", "thing"), ("name", "thing"), ("animal", "thing"), ("person", "vehicle")),
    "FORCE": (("force", "thing"), ("force", "vehicle"), ("force", "person")),
    "PSYCH": (("event", "person"), ("force", "person"), ("event", "name"), ("thing", "person")),
}  # fmt: skip
ENDINGS = {"are": "o i a iamo ate ano", "ere": "o i e iamo ete ono", "ire": "o i e iamo ite ono"}


@dataclass(eq=False, slots=True)
class Word:
    form: str
    lemma: str
    upos: str
    feats: str = "_"
    head: "Word | None" = None
    rel: str = "root"
    glue: bool = False  # no space after


@dataclass(frozen=True, slots=True)
class Noun:
    lemma: str
    gender: str
    plural: str
    kind: str
    proper: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    lemma: str
    participle: str
    subjects: str
    objects: str


@dataclass(slots=True)
class Phrase:
    words: list[Word]
    head: Word
    number: str
    gender: str
    person: str = "3"


@dataclass(slots=True)
class Lexicon:
    nouns: dict[str, list[Noun]] = field(default_factory=dict)
    names: list[Noun] = field(default_factory=list)
    adjectives: list[str] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)
    reflexive: list[Verb] = field(default_factory=list)
    reciprocal: list[Verb] = field(default_factory=list)
    body: list[Noun] = field(default_factory=list)
    of: list[str] = field(default_factory=list)
    unaccusative: list[Verb] = field(default_factory=list)
    unergative: list[Verb] = field(default_factory=list)
    wide: list[tuple[Verb, str, str]] = field(default_factory=list)
    classes: dict[str, list[Noun]] = field(default_factory=dict)


def plural(lemma: str, gender: str) -> str:
    if lemma[-1] in "àèéìòù" or lemma[-1] not in VOWELS:
        return lemma
    if lemma.endswith("io"):
        return lemma[:-1]
    if lemma.endswith(("co", "go")) and gender == "m":
        return lemma[:-1] + "hi"
    if lemma.endswith(("ca", "ga")):
        return lemma[:-1] + "he"
    if lemma.endswith(("cia", "gia")):
        return lemma[:-2] + "e"
    return lemma[:-1] + ("e" if lemma.endswith("a") and gender == "f" else "i")


def participle(lemma: str) -> str:
    return lemma[:-3] + {"are": "ato", "ere": "uto", "ire": "ito"}[lemma[-3:]]


def read_lexicon(path: Path) -> Lexicon:
    lexicon = Lexicon()

    def noun(entry: str, kind: str) -> Noun:
        lemma, gender, *rest = entry.split("/")
        return Noun(lemma, gender, rest[0] if rest else plural(lemma, gender), kind)

    def verb(entry: str, kinds: str) -> Verb:
        lemma, *rest = entry.replace("!", "").split("/")
        irregular = rest[0] if rest and rest[0].islower() else participle(lemma)
        subjects = rest[-1] if rest and not rest[-1].islower() else kinds
        return Verb(lemma, irregular, subjects, "")

    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        key, *rest = line.split()
        if len(key) == 1:
            lexicon.nouns[key] = [noun(entry, key) for entry in rest]
        elif key == "NAMES":
            lexicon.names += [Noun(name, rest[0], name, "P", True) for name in rest[1:]]
        elif key == "ADJ":
            lexicon.adjectives = rest
        elif key == "BODY":
            lexicon.body = [noun(entry, key) for entry in rest]
        elif key == "OF":
            lexicon.of = rest
        elif key in WIDE:
            lexicon.wide += [(verb(entry, "P"), *roles) for entry in rest for roles in WIDE[key]]
        elif key in ("REFL", "RECIP", "ESSE", "AVERE"):
            verbs = [verb(entry, "P") for entry in rest]
            names = {"REFL": "reflexive", "RECIP": "reciprocal", "ESSE": "unaccusative", "AVERE": "unergative"}
            setattr(lexicon, names[key], [v for v in verbs if v.subjects != "0"])
        else:
            part = participle(key) if rest[0] == "-" else rest[0]
            lexicon.verbs.append(Verb(key, part, rest[1], rest[2]))
    lexicon.classes = read_classes(CLASSES)
    return lexicon


def read_classes(path: Path) -> dict[str, list[Noun]]:
    """The package's list of what nouns denote, those whose gender the ending tells."""
    found: dict[str, list[Noun]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        lemma, _, kind = line.partition("\t")
        if not lemma.isalpha() or lemma in ("class", "lemma"):
            continue
        if kind == "name":
            found.setdefault(kind, []).append(Noun(lemma, "f" if lemma.endswith("a") else "m", lemma, "P", True))
            continue
        gender = next((g for ending, g in GENDERS if lemma.endswith(ending)), None)
        if gender is not None and lemma.islower():
            found.setdefault(kind, []).append(Noun(lemma, gender, plural(lemma, gender), kind))
    return found


def join_stem(stem: str, ending: str, conjugation: str) -> str:
    if conjugation == "are":
        if stem.endswith(("c", "g")) and ending[0] in "ei":
            return stem + "h" + ending
        if stem.endswith("i") and ending[0] == "i":
            return stem[:-1] + ending
        if stem.endswith(("ci", "gi")) and ending[0] == "e":
            return stem[:-1] + ending
    return stem + ending


def conjugate(lemma: str, tense: str, person: str) -> str:
    index = PERSONS.index(person)
    conjugation = lemma[-3:] if lemma[-3:] in ENDINGS else "ere"
    stem = lemma[:-3]
    if tense == "Pres":
        if lemma in PRESENT:
            return PRESENT[lemma].split()[index]
        if lemma in ISC and index not in (3, 4):
            return stem + "isc" + ENDINGS["ire"].split()[index]
        return join_stem(stem, ENDINGS[conjugation].split()[index], conjugation)
    if tense == "Imp":
        if lemma in IMPERFECT:
            return IMPERFECT[lemma].split()[index]
        stem = IMPERFECT_STEM.get(lemma, stem)
        return stem + conjugation[0] + ["vo", "vi", "va", "vamo", "vate", "vano"][index]
    base = FUTURE_STEM.get(lemma)
    if base is None:
        base = join_stem(stem, "er", "are") if conjugation == "are" else stem + conjugation[:2]
    if tense == "Fut":
        return base + ["ò", "ai", "à", "emo", "ete", "anno"][index]
    if tense == "Cnd":
        return base + ["ei", "esti", "ebbe", "emmo", "este", "ebbero"][index]
    if tense == "Past":  # only the third persons of regular verbs in -are and -ire
        return stem + {"are": ("ò", "arono"), "ire": ("ì", "irono")}[conjugation][person == "3P"]
    raise ValueError(f"no tense {tense}")


def finite(tense: str, person: str) -> str:
    number = "Sing" if person[1] == "S" else "Plur"
    mood = "Cnd" if tense == "Cnd" else "Ind"
    return f"Mood={mood}|Number={number}|Person={person[0]}|Tense={'Pres' if tense == 'Cnd' else tense}|VerbForm=Fin"


def agree(participle_: str, gender: str, number: str) -> str:
    return participle_[:-1] + {"mS": "o", "mP": "i", "fS": "a", "fP": "e"}[gender + number]


def adjective(lemma: str, gender: str, number: str) -> str:
    if lemma.endswith("e"):
        return lemma if number == "S" else lemma[:-1] + "i"
    form = agree(lemma, gender, number)
    if number == "P" and lemma.endswith(("co", "go")) and lemma != "greco":
        form = lemma[:-1] + ("hi" if gender == "m" else "he")
    return form


def gender_number(gender: str, number: str) -> str:
    return f"Gender={'Masc' if gender == 'm' else 'Fem'}|Number={'Sing' if number == 'S' else 'Plur'}"


def impure(word: str) -> bool:
    w = word.lower()
    return w.startswith(("z", "x", "gn", "ps", "pn", "y")) or (w[0] == "s" and len(w) > 1 and w[1] not in VOWELS)


def definite(gender: str, number: str, following: str) -> str:
    vowel = following[0] in VOWELS
    if number == "S" and vowel:
        return "l'"
    if gender == "f":
        return "la" if number == "S" else "le"
    if vowel or impure(following):
        return "lo" if number == "S" else "gli"
    return "il" if number == "S" else "i"


def indefinite(gender: str, following: str) -> str:
    if gender == "f":
        return "un'" if following[0] in VOWELS else "una"
    return "uno" if impure(following) else "un"


def article(gender: str, number: str, following: str) -> Word:
    form = definite(gender, number, following)
    shape = "Definite=Def|Number=Sing|PronType=Art" if form == "l'" else None
    feats = shape or f"Definite=Def|{gender_number(gender, number)}|PronType=Art"
    return Word(form, "il", "DET", feats, rel="det", glue=form.endswith("'"))


def invariable(lemma: str, rel: str = "advmod", upos: str = "ADV", feats: str = "_") -> Word:
    return Word(lemma, lemma, upos, feats, rel=rel)


class Grammar:
    def __init__(self, lexicon: Lexicon, rng: random.Random) -> None:
        self.lexicon = lexicon
        self.rng = rng

    # Phrases

    def noun(self, kinds: str) -> Noun:
        kind = self.rng.choice(kinds)
        if kind == "P" and self.rng.random() < 0.35:
            return self.rng.choice(self.lexicon.names)
        return self.rng.choice(self.lexicon.nouns[kind])

    def phrase(self, noun: Noun, rel: str, number: str | None = None, bare: bool = False) -> Phrase:
        """A noun phrase with its determiner; `bare` forbids what would make it heavy."""
        rng = self.rng
        if noun.proper:
            head = Word(noun.lemma, noun.lemma, "PROPN", rel=rel)
            if not bare and noun.gender == "f" and rng.random() < 0.04:
                return Phrase([self._under(article("f", "S", noun.lemma), head), head], head, "S", "f")
            return Phrase([head], head, "S", noun.gender)
        number = number or ("P" if rng.random() < 0.3 else "S")
        gender = noun.gender
        if noun.plural.endswith("a") and number == "P":
            gender = "f"
        form = noun.lemma if number == "S" else noun.plural
        head = Word(form, noun.lemma, "NOUN", gender_number(gender, number), rel=rel)
        words = [head]
        before = form
        draw = rng.random()
        if not bare and rng.random() < 0.16:
            lemma = rng.choice(self.lexicon.adjectives)
            place = lemma in ("grande", "nuovo", "vecchio", "piccolo", "giovane") and rng.random() < 0.5
            a = Word(adjective(lemma, gender, number), lemma, "ADJ", "", rel="amod")
            a.feats = (
                gender_number(gender, number) if lemma.endswith("o") else gender_number(gender, number).split("|")[1]
            )
            if lemma.endswith("io") and number == "P" and gender == "m":
                a.form = lemma[:-1]
            self._under(a, head)
            if place:
                words.insert(0, a)
                before = a.form
            else:
                words.append(a)
        if draw < 0.62:
            words.insert(0, self._under(article(gender, number, before), head))
        elif draw < 0.80:
            if number == "S":
                det = indefinite(gender, before)
                feats = f"Definite=Ind|{gender_number(gender, number)}|PronType=Art"
                words.insert(0, self._under(Word(det, "uno", "DET", feats, rel="det", glue=det.endswith("'")), head))
            elif rng.random() < 0.5:
                det = {"il": "del", "i": "dei", "gli": "degli", "le": "delle"}[definite(gender, "P", before)]
                feats = f"{gender_number(gender, number)}|PronType=Ind"
                words.insert(0, self._under(Word(det, "di", "DET", feats, rel="det"), head))
            else:
                lemma = rng.choice(("molto", "alcuno", "tanto"))
                feats = f"{gender_number(gender, number)}|PronType=Ind"
                words.insert(
                    0, self._under(Word(adjective(lemma, gender, number), lemma, "DET", feats, rel="det"), head)
                )
        elif draw < 0.88:
            form = adjective("questo", gender, number)
            if number == "S" and before[0] in VOWELS:
                form = "quest'"
            feats = f"{gender_number(gender, number)}|PronType=Dem"
            this = Word(form, "questo", "DET", feats, rel="det", glue=form.endswith("'"))
            words.insert(0, self._under(this, head))
        elif draw < 0.95:
            lemma, forms = rng.choice(
                (
                    ("mio", {"mS": "mio", "fS": "mia", "mP": "miei", "fP": "mie"}),
                    ("suo", {"mS": "suo", "fS": "sua", "mP": "suoi", "fP": "sue"}),
                    ("nostro", {"mS": "nostro", "fS": "nostra", "mP": "nostri", "fP": "nostre"}),
                )
            )
            word = forms[gender + number]
            own = Word(word, lemma, "DET", f"{gender_number(gender, number)}|Poss=Yes|PronType=Prs", rel="det:poss")
            words.insert(0, self._under(own, head))
            words.insert(0, self._under(article(gender, number, word), head))
        elif number == "S":
            lemma = rng.choice(("ogni", "qualche"))
            words.insert(0, self._under(Word(lemma, lemma, "DET", "Number=Sing|PronType=Ind", rel="det"), head))
        else:
            lemma = rng.choice(("due", "tre", "quattro", "dieci"))
            words.insert(0, self._under(Word(lemma, lemma, "NUM", "NumType=Card", rel="nummod"), head))
        if not bare and rng.random() < 0.08:
            inner = self.phrase(self.noun("PPOML"), "nmod", bare=True)
            words += self.prepositional("di", inner, head, "nmod")
        return Phrase(words, head, number, gender)

    def prepositional(self, preposition: str, inner: Phrase, head: Word, rel: str) -> list[Word]:
        inner.head.rel = rel
        inner.head.head = head
        if preposition == "di" and inner.words[0].upos == "DET" and inner.words[0].lemma == "di":
            inner.words.pop(0)
        return [Word(preposition, preposition, "ADP", head=inner.head, rel="case"), *inner.words]

    def pronoun(self, person: str, rel: str) -> Phrase:
        form, feats = {
            "1S": ("io", "Number=Sing|Person=1"), "2S": ("tu", "Number=Sing|Person=2"),
            "1P": ("noi", "Number=Plur|Person=1"), "2P": ("voi", "Number=Plur|Person=2"),
            "3P": ("loro", "Number=Plur|Person=3"),
            "3S": self.rng.choice(
                (("lui", "Gender=Masc|Number=Sing|Person=3"), ("lei", "Gender=Fem|Number=Sing|Person=3"))
            ),
        }[person]  # fmt: skip
        head = Word(form, form, "PRON", feats + "|PronType=Prs", rel=rel)
        return Phrase([head], head, person[1], "f" if form == "lei" else self.rng.choice("mf"), person[0])

    @staticmethod
    def _under(word: Word, head: Word) -> Word:
        word.head = head
        return word

    # Verbs

    def tense(self, lemma: str, person: str) -> str:
        choices = ["Pres"] * 6 + ["Imp"] * 2 + ["Fut"] * 2 + ["Cnd"]
        if person[0] == "3" and lemma[-3:] in ("are", "ire") and lemma not in ("uscire", "morire", "aprire"):
            choices += ["Past"] * 2
        return self.rng.choice(choices)

    def simple(self, lemma: str, person: str, upos: str = "VERB", rel: str = "root", tense: str | None = None) -> Word:
        tense = tense or self.tense(lemma, person)
        return Word(conjugate(lemma, tense, person), lemma, upos, finite(tense, person), rel=rel)

    def auxiliary(self, lemma: str, person: str, head: Word, rel: str = "aux", tense: str | None = None) -> Word:
        tense = tense or self.rng.choice(("Pres", "Pres", "Pres", "Imp", "Fut", "Cnd"))
        return self._under(self.simple(lemma, person, "AUX", rel, tense), head)

    def past_participle(self, verb: Verb, gender: str, number: str) -> Word:
        form = agree(verb.participle, gender, number)
        return Word(form, verb.lemma, "VERB", f"{gender_number(gender, number)}|Tense=Past|VerbForm=Part")

    def verb_group(self, verb: Verb, person: str, gender: str, auxiliary: str = "avere") -> tuple[list[Word], Word]:
        """A finite group: simple, compound, modal or progressive; with a negation or an adverb now and then."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.52:
            head = self.simple(verb.lemma, person)
            words = [head]
        elif draw < 0.84:
            head = self.past_participle(verb, *(("m", "S") if auxiliary == "avere" else (gender, person[1])))
            words = [self.auxiliary(auxiliary, person, head), head]
            if rng.random() < 0.12:
                words.insert(1, self._under(invariable(rng.choice(("già", "sempre", "appena", "mai"))), head))
        elif draw < 0.94:
            head = Word(verb.lemma, verb.lemma, "VERB", "VerbForm=Inf")
            words = [self.auxiliary(rng.choice(("volere", "potere", "dovere")), person, head), head]
        else:
            stem = IMPERFECT_STEM.get(verb.lemma, verb.lemma[:-3])
            form = stem + ("ando" if verb.lemma.endswith("are") else "endo")
            head = Word(form, verb.lemma, "VERB", "VerbForm=Ger")
            words = [self.auxiliary("stare", person, head, tense=rng.choice(("Pres", "Imp"))), head]
        if rng.random() < 0.12:
            words.insert(0, self._under(invariable("non", feats="PronType=Neg"), head))
        return words, head

    def reflexive_clitic(self, person: str, head: Word) -> Word:
        form = CLITIC[person]
        number = {"S": "Sing", "P": "Plur"}[person[1]]
        feats = (
            f"Clitic=Yes|Person={person[0]}|PronType=Prs"
            if person[0] == "3"
            else (f"Clitic=Yes|Number={number}|Person={person[0]}|PronType=Prs")
        )
        return Word(form, form, "PRON", feats, head, "expl")

    # Sentences

    def finish(self, words: Sequence[Word], mark: str | None = None) -> Sentence:
        rng = self.rng
        words = list(words)
        head = next(w for w in words if w.rel == "root")
        if mark is None:
            mark = rng.choices((".", "", "!", "..."), (70, 22, 6, 2))[0]
        if mark:
            words[-1].glue = True
            words.append(Word(mark, mark, "PUNCT", head=head, rel="punct"))
        if rng.random() < 0.93:
            words[0].form = words[0].form[0].upper() + words[0].form[1:]
        ids = {id(word): i for i, word in enumerate(words, 1)}
        tokens = []
        for i, w in enumerate(words, 1):
            feats = {} if w.feats in ("_", "") else dict(pair.split("=") for pair in w.feats.split("|"))
            tokens.append(
                Token(i, w.form, w.lemma, w.upos, None, feats, ids[id(w.head)] if w.head else 0, w.rel,
                      misc="SpaceAfter=No" if w.glue else "_")
            )  # fmt: skip
        text = "".join(w.form + ("" if w.glue else " ") for w in words).strip()
        return Sentence(text, tuple(tokens))

    def adjunct(self, head: Word) -> list[Word]:
        draw = self.rng.random()
        if draw < 0.06:
            return [
                self._under(
                    invariable(
                        self.rng.choice(
                            (
                                "oggi",
                                "ieri",
                                "sempre",
                                "spesso",
                                "volentieri",
                                "domani",
                                "bene",
                                "lentamente",
                                "subito",
                                "qui",
                            )
                        )
                    ),
                    head,
                )
            ]
        if draw < 0.10:
            inner = self.phrase(self.noun("LB"), "obl", "S", bare=True)
            return self.prepositional("in", inner, head, "obl")
        return []

    def transitive(self) -> Sentence:
        """Subject, verb and object in any order that agreement or selection keeps readable."""
        rng = self.rng
        verb = rng.choice(self.lexicon.verbs)
        for _ in range(20):
            s, o = self.noun(verb.subjects), self.noun(verb.objects)
            if s.lemma != o.lemma:
                break
        decided = o.kind not in verb.subjects or s.kind not in verb.objects
        if decided and {s.kind, o.kind} <= set("PA"):
            decided = False
        subject = self.phrase(s, "nsubj")
        obj = self.phrase(o, "obj")
        if rng.random() < 0.06:
            subject = self.pronoun(rng.choice(("1S", "2S", "3S", "1P", "2P", "3P")), "nsubj")
            decided = True
        person = subject.person + subject.number
        order = self.order()
        if not decided and subject.number == obj.number:
            order = rng.choice(("SVO", "SVO", "SVO", "SVO", "SVO", "SOV", "VSO"))
        group, head = self.verb_group(verb, person, subject.gender)
        self._under(subject.head, head)
        self._under(obj.head, head)
        parts = {"S": subject.words, "V": group, "O": obj.words}
        words = [w for name in order for w in parts[name]]
        words = words + self.adjunct(head) if rng.random() < 0.7 else self.adjunct(head) + words
        return self.finish(words)

    def wide(self) -> Sentence:
        """Any order, with nouns of the package's list; only what acts and what is acted on tells the roles apart."""
        rng = self.rng
        verb, subjects, objects = rng.choice(self.lexicon.wide)
        subject = self.phrase(rng.choice(self.lexicon.classes[subjects]), "nsubj", bare=rng.random() < 0.7)
        obj = self.phrase(rng.choice(self.lexicon.classes[objects]), "obj", bare=rng.random() < 0.7)
        group, head = self.verb_group(verb, subject.person + subject.number, subject.gender)
        self._under(subject.head, head)
        self._under(obj.head, head)
        parts = {"S": subject.words, "V": group, "O": obj.words}
        return self.finish([w for name in self.order() for w in parts[name]] + self.adjunct(head))

    def order(self) -> str:
        """The unmarked order prevails, as in real texts, so that where nothing else is known it is expected."""
        return self.rng.choices(("SVO", "SOV", "VSO", "VOS", "OSV", "OVS"), (60, 8, 8, 7, 6, 11))[0]

    def dropped(self) -> Sentence:
        """No subject: verb and object, in either order, or a clitic object."""
        rng = self.rng
        verb = rng.choice([v for v in self.lexicon.verbs if "P" in v.subjects])
        person = rng.choice(PERSONS)
        group, head = self.verb_group(verb, person, rng.choice("mf"))
        obj = self.phrase(self.noun(verb.objects), "obj")
        self._under(obj.head, head)
        return self.finish([*group, *obj.words, *self.adjunct(head)] if rng.random() < 0.85 else [*obj.words, *group])

    def clitic_object(self) -> Sentence:
        """«Mi chiama Luca», «Ci ha salutato»: clitics of all persons that are no reflexives; datives too."""
        rng = self.rng
        verb = rng.choice(
            [v for v in self.lexicon.verbs if "P" in v.subjects and "P" in v.objects]
            + [
                v
                for v in self.lexicon.verbs
                if v.lemma in ("comprare", "regalare", "offrire", "spedire", "raccontare", "spiegare", "preparare")
            ]
        )
        dative = "P" not in verb.objects
        who = rng.choice(("1S", "2S", "1P", "2P", "3"))
        subject = self.phrase(self.noun("P"), "nsubj") if rng.random() < 0.6 else None
        person = (subject.person + subject.number) if subject else rng.choice([p for p in PERSONS if p != who])
        group, head = self.verb_group(verb, person, subject.gender if subject else "m")
        if who == "3":
            if dative:
                form, feats = rng.choice((("gli", "Gender=Masc|Number=Sing"), ("le", "Gender=Fem|Number=Sing")))
            else:
                form, feats = rng.choice(
                    (
                        ("lo", "Gender=Masc|Number=Sing"),
                        ("la", "Gender=Fem|Number=Sing"),
                        ("li", "Gender=Masc|Number=Plur"),
                        ("le", "Gender=Fem|Number=Plur"),
                    )
                )
            clitic = Word(
                form, form, "PRON", f"Clitic=Yes|{feats}|Person=3|PronType=Prs", head, "iobj" if dative else "obj"
            )
        else:
            clitic = self.reflexive_clitic(who, head)
            clitic.rel = "iobj" if dative else "obj"
        at = 1 if group[0].lemma == "non" else 0
        group.insert(at, clitic)
        words = list(group)
        if dative:
            obj = self.phrase(self.noun(verb.objects), "obj")
            self._under(obj.head, head)
            words += obj.words
        if subject:
            self._under(subject.head, head)
            words = [*subject.words, *words] if rng.random() < 0.6 else [*words, *subject.words]
        return self.finish([*words, *self.adjunct(head)])

    def reflexive(self) -> Sentence:
        rng = self.rng
        person = rng.choice(PERSONS)
        verb = rng.choice(self.lexicon.reflexive)
        if person[1] == "P" and rng.random() < 0.3:
            verb = rng.choice(self.lexicon.reciprocal)
        subject: Phrase | None = None
        if person[0] == "3" and rng.random() < 0.75:
            if person[1] == "P" and rng.random() < 0.35:
                first, second = (
                    self.phrase(self.noun("P"), "nsubj", "S", True),
                    self.phrase(self.noun("P"), "conj", "S", True),
                )
                self._under(second.head, first.head)
                link = Word("e", "e", "CCONJ", head=second.head, rel="cc")
                gender = "f" if first.gender == second.gender == "f" else "m"
                subject = Phrase([*first.words, link, *second.words], first.head, "P", gender)
            else:
                subject = self.phrase(self.noun("PPPA"), "nsubj", person[1])
                if subject.number != person[1]:
                    person = "3" + subject.number
        elif rng.random() < 0.2:
            subject = self.pronoun(person, "nsubj")
        gender = subject.gender if subject else rng.choice("mf")
        draw = rng.random()
        if draw < 0.5:
            head = self.simple(verb.lemma, person)
            clitic = self.reflexive_clitic(person, head)
            words = [clitic, head]
        elif draw < 0.8:
            head = self.past_participle(verb, gender, person[1])
            clitic = self.reflexive_clitic(person, head)
            words = [clitic, self.auxiliary("essere", person, head), head]
        else:
            head = Word(verb.lemma, verb.lemma, "VERB", "VerbForm=Inf")
            clitic = self.reflexive_clitic(person, head)
            modal = self.auxiliary(rng.choice(("volere", "potere", "dovere")), person, head)
            if rng.random() < 0.5:
                words = [clitic, modal, head]
            else:
                head.form = verb.lemma[:-1]
                head.glue = True
                words = [modal, head, clitic]
        if rng.random() < 0.12:
            words.insert(0, self._under(invariable("non", feats="PronType=Neg"), head))
        if (
            verb.lemma in ("lavare", "asciugare", "tagliare", "guardare", "truccare", "coprire", "ferire", "pettinare")
            and rng.random() < 0.5
        ):
            obj = self.phrase(rng.choice(self.lexicon.body), "obj", bare=True)
            self._under(obj.head, head)
            words += obj.words
        elif (
            verb.lemma
            in (
                "accorgere",
                "pentire",
                "vergognare",
                "lamentare",
                "ricordare",
                "dimenticare",
                "occupare",
                "preoccupare",
            )
            and rng.random() < 0.6
        ):
            lemma = rng.choice(self.lexicon.of)
            noun = next(n for kind in "MN" for n in self.lexicon.nouns[kind] if n.lemma == lemma)
            words += self.prepositional("di", self.phrase(noun, "obl", "S", bare=True), head, "obl")
        if subject:
            self._under(subject.head, head)
            words = [*subject.words, *words] if rng.random() < 0.75 else [*words, *subject.words]
        return self.finish([*words, *self.adjunct(head)])

    def passive(self) -> Sentence:
        rng = self.rng
        verb = rng.choice(self.lexicon.verbs)
        subject = self.phrase(self.noun(verb.objects), "nsubj:pass")
        person = "3" + subject.number
        head = self.past_participle(verb, subject.gender, subject.number)
        draw = rng.random()
        if draw < 0.4:
            words = [self.auxiliary("essere", person, head, "aux:pass"), head]
        elif draw < 0.62:
            been = Word(
                agree("stato", subject.gender, subject.number),
                "essere",
                "AUX",
                f"{gender_number(subject.gender, subject.number)}|Tense=Past|VerbForm=Part",
                head,
                "aux:pass",
            )
            words = [self.auxiliary("essere", person, head), been, head]
        elif draw < 0.82:
            words = [self.auxiliary("venire", person, head, "aux:pass"), head]
        elif draw < 0.92:
            words = [self.auxiliary("andare", person, head, "aux:pass"), head]
        else:
            be = Word("essere", "essere", "AUX", "VerbForm=Inf", head, "aux:pass")
            words = [self.auxiliary(rng.choice(("dovere", "potere")), person, head), be, head]
        if rng.random() < 0.1:
            words.insert(0, self._under(invariable("non", feats="PronType=Neg"), head))
        if draw < 0.82 and rng.random() < 0.6:
            agent = self.phrase(self.noun(verb.subjects), "obl:agent")
            words += self.prepositional("da", agent, head, "obl:agent")
        self._under(subject.head, head)
        words = [*subject.words, *words] if rng.random() < 0.8 else [*words, *subject.words]
        return self.finish([*words, *self.adjunct(head)])

    def si_passive(self) -> Sentence:
        """«Si vendono appartamenti»: expl:pass; «Qui si dorme bene»: expl:impers."""
        rng = self.rng
        if rng.random() < 0.4:
            verb = rng.choice(self.lexicon.unergative[:18])
            head = self.simple(verb.lemma, "3S", tense=rng.choice(("Pres", "Pres", "Imp", "Fut")))
            clitic = self.reflexive_clitic("3S", head)
            clitic.rel = "expl:impers"
            adverbs = [
                self._under(invariable(a), head) for a in rng.sample(("qui", "bene", "sempre", "spesso", "oggi"), 2)
            ]
            return self.finish([adverbs[0], clitic, head] if rng.random() < 0.5 else [clitic, head, *adverbs])
        verb = rng.choice([v for v in self.lexicon.verbs if v.subjects[0] == "P" and "P" not in v.objects])
        subject = self.phrase(self.noun(verb.objects), "nsubj:pass")
        head = self.simple(verb.lemma, "3" + subject.number)
        clitic = self.reflexive_clitic("3S", head)
        clitic.rel = "expl:pass"
        self._under(subject.head, head)
        words = [clitic, head, *subject.words] if rng.random() < 0.75 else [*subject.words, clitic, head]
        return self.finish([*words, *self.adjunct(head)])

    def intransitive(self) -> Sentence:
        rng = self.rng
        if rng.random() < 0.65:
            verb, auxiliary = rng.choice(self.lexicon.unaccusative), "essere"
        else:
            verb, auxiliary = rng.choice(self.lexicon.unergative), "avere"
        subject: Phrase | None = None
        if verb.subjects == "P" and rng.random() < 0.25:
            person, gender = rng.choice(PERSONS), rng.choice("mf")
        else:
            kinds = verb.subjects + ("T" if verb.lemma == "arrivare" else "")
            subject = self.phrase(self.noun(kinds), "nsubj")
            person, gender = subject.person + subject.number, subject.gender
        if auxiliary == "essere" and rng.random() < 0.45:
            head = self.past_participle(verb, gender, person[1])
            words = [self.auxiliary("essere", person, head), head]
        else:
            words, head = self.verb_group(verb, person, gender, auxiliary)
        if subject:
            self._under(subject.head, head)
            words = [*subject.words, *words] if rng.random() < 0.6 else [*words, *subject.words]
        return self.finish([*words, *self.adjunct(head)])

    def copular(self) -> Sentence:
        rng = self.rng
        subject = self.phrase(self.noun("PPAFTCVBUGMOR"), "nsubj")
        lemma = rng.choice(self.lexicon.adjectives)
        head = Word(
            adjective(lemma, subject.gender, subject.number),
            lemma,
            "ADJ",
            gender_number(subject.gender, subject.number),
        )
        if lemma.endswith("io") and subject.number == "P" and subject.gender == "m":
            head.form = lemma[:-1]
        if lemma.endswith("e"):
            head.feats = head.feats.split("|")[1]
        be = self.auxiliary("essere", "3" + subject.number, head, "cop")
        self._under(subject.head, head)
        words = [*subject.words, be, head] if rng.random() < 0.8 else [be, head, *subject.words]
        return self.finish(words)

    def question(self) -> Sentence:
        rng = self.rng
        draw = rng.random()
        if draw < 0.35:
            verb = rng.choice([v for v in self.lexicon.verbs if v.subjects[0] == "P" and "P" not in v.objects])
            group, head = self.verb_group(verb, "3S", "m")
            who = Word("chi", "chi", "PRON", "PronType=Int", head, "nsubj")
            obj = self.phrase(self.noun(verb.objects), "obj")
            self._under(obj.head, head)
            return self.finish([who, *group, *obj.words], "?")
        verb = rng.choice([v for v in self.lexicon.verbs if "P" in v.subjects and "P" not in v.objects])
        subject = self.phrase(self.noun("P"), "nsubj")
        group, head = self.verb_group(verb, "3" + subject.number, subject.gender)
        self._under(subject.head, head)
        if draw < 0.7:
            what = Word("cosa", "cosa", "PRON", "PronType=Int", head, "obj")
            return self.finish([what, *group, *subject.words], "?")
        where = self._under(invariable(rng.choice(("dove", "quando", "perché", "come"))), head)
        obj = self.phrase(self.noun(verb.objects), "obj")
        self._under(obj.head, head)
        return self.finish(
            [where, *group, *subject.words, *obj.words]
            if rng.random() < 0.5
            else [where, *group, *obj.words, *subject.words],
            "?",
        )

    def imperative(self) -> Sentence:
        rng = self.rng
        verb = rng.choice([v for v in self.lexicon.verbs if "P" in v.subjects and v.lemma[-3:] in ENDINGS])
        person = rng.choice(("2S", "2P", "1P"))
        form = conjugate(verb.lemma, "Pres", person)
        if person == "2S" and verb.lemma.endswith("are"):
            form = conjugate(verb.lemma, "Pres", "3S")
        number = "Sing" if person == "2S" else "Plur"
        head = Word(form, verb.lemma, "VERB", f"Mood=Imp|Number={number}|Person={person[0]}|Tense=Pres|VerbForm=Fin")
        words = [head]
        draw = rng.random()
        if draw < 0.6:
            obj = self.phrase(self.noun(verb.objects), "obj")
            self._under(obj.head, head)
            words += obj.words
        else:
            head.glue = True
            if draw < 0.8:
                reflexive = rng.choice(self.lexicon.reflexive)
                head.form = conjugate(reflexive.lemma, "Pres", person)
                if person == "2S" and reflexive.lemma.endswith("are"):
                    head.form = conjugate(reflexive.lemma, "Pres", "3S")
                head.lemma = reflexive.lemma
                words.append(self.reflexive_clitic(person, head))
            else:
                form, feats = rng.choice(
                    (
                        ("lo", "Gender=Masc|Number=Sing"),
                        ("la", "Gender=Fem|Number=Sing"),
                        ("li", "Gender=Masc|Number=Plur"),
                        ("le", "Gender=Fem|Number=Plur"),
                    )
                )
                words.append(Word(form, form, "PRON", f"Clitic=Yes|{feats}|Person=3|PronType=Prs", head, "obj"))
        return self.finish(words, rng.choice(("!", ".", "")))

    def dislocation(self) -> Sentence:
        """«La mela la mangia Luca»; «L'ha mangiata Luca, la mela»."""
        rng = self.rng
        verb = rng.choice([v for v in self.lexicon.verbs if v.subjects[0] in "PN" and "P" not in v.objects])
        noun = self.noun(verb.objects)
        topic = self.phrase(noun, "dislocated", bare=True)
        while topic.words[0].form not in ("il", "la", "lo", "l'", "i", "gli", "le", "questo", "questa"):
            topic = self.phrase(noun, "dislocated", bare=True)
        clitics = {"mS": "lo", "fS": "la", "mP": "li", "fP": "le"}
        subject = self.phrase(self.noun(verb.subjects), "nsubj") if rng.random() < 0.7 else None
        person = ("3" + subject.number) if subject else rng.choice(PERSONS)
        form = clitics[topic.gender + topic.number]
        feats = f"Clitic=Yes|{gender_number(topic.gender, topic.number)}|Person=3|PronType=Prs"
        if rng.random() < 0.5:
            head = self.simple(verb.lemma, person)
            group = [Word(form, form, "PRON", feats, head, "obj"), head]
        else:
            head = self.past_participle(verb, topic.gender, topic.number)
            auxiliary = self.auxiliary("avere", person, head, tense="Pres")
            clitic = Word(form, form, "PRON", feats, head, "obj")
            if topic.number == "S" and auxiliary.form[0] in "ah":
                clitic = Word(
                    "l'", "lo", "PRON", "Clitic=Yes|Number=Sing|Person=3|PronType=Prs", head, "obj", glue=True
                )
            group = [clitic, auxiliary, head]
        self._under(topic.head, head)
        before: list[Word] = []
        after: list[Word] = []
        if subject:
            self._under(subject.head, head)
            (after if rng.random() < 0.7 else before).extend(subject.words)
        comma = Word(",", ",", "PUNCT", head=topic.head, rel="punct")
        if rng.random() < 0.7:
            if rng.random() < 0.5:
                topic.words[-1].glue = True
                return self.finish([*topic.words, comma, *before, *group, *after])
            return self.finish([*topic.words, *before, *group, *after])
        last = [*before, *group, *after]
        last[-1].glue = True
        return self.finish([*last, comma, *topic.words])

    def ditransitive(self) -> Sentence:
        rng = self.rng
        names = (
            "regalare",
            "offrire",
            "vendere",
            "spedire",
            "consegnare",
            "raccontare",
            "spiegare",
            "presentare",
            "servire",
        )
        verb = rng.choice([v for v in self.lexicon.verbs if v.lemma in names])
        subject = self.phrase(self.noun("P"), "nsubj", bare=True)
        group, head = self.verb_group(verb, "3" + subject.number, subject.gender)
        obj = self.phrase(self.noun(verb.objects), "obj")
        to = self.prepositional("a", self.phrase(self.noun("P"), "obl", bare=True), head, "obl")
        self._under(subject.head, head)
        self._under(obj.head, head)
        order = rng.choice((
            [*subject.words, *group, *obj.words, *to], [*subject.words, *group, *to, *obj.words],
            [*to, *subject.words, *group, *obj.words], [*obj.words, *group, *subject.words, *to],
        ))  # fmt: skip
        return self.finish(order)


PATTERNS: tuple[tuple[str, int], ...] = (
    ("transitive", 32), ("wide", 26), ("dropped", 6), ("clitic_object", 8), ("reflexive", 14), ("passive", 10),
    ("si_passive", 5),
    ("intransitive", 10), ("copular", 3), ("question", 4), ("imperative", 3), ("dislocation", 4), ("ditransitive", 3),
)  # fmt: skip


def sentences(count: int, seed: int) -> list[Sentence]:
    """`count` different sentences; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311
    grammar = Grammar(read_lexicon(Path(__file__).with_name("lexicon_grammar.txt")), rng)
    names, weights = zip(*PATTERNS, strict=True)
    found: dict[str, Sentence] = {}
    while len(found) < count:
        make: Callable[[], Sentence] = getattr(grammar, rng.choices(names, weights)[0])
        sentence = make()
        found.setdefault(sentence.text, sentence)
    return list(found.values())


def main() -> None:
    for i, sentence in enumerate(sentences(int(sys.argv[1]), int(sys.argv[2])), 1):
        block = Sentence(sentence.text, sentence.tokens, comments=(f"# sent_id = own-{i}",))
        sys.stdout.write(to_conllu(block))


if __name__ == "__main__":
    main()
