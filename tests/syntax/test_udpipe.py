"""UDPipe models as parsers, with a model trained on the spot on a few trees."""

from pathlib import Path

import pytest

from oulibench import check, parse
from oulibench.errors import DataError, PolicyError
from oulibench.syntax.parser import get_parser
from oulibench.syntax.tree import to_conllu

udpipe = pytest.importorskip("ufal.udpipe", reason="the extra udpipe is not installed")

TREES = Path(__file__).parents[1] / "golden/profile_trees.conllu"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText(TREES.read_text("utf-8"))
    trees, error = udpipe.Sentences(), udpipe.ProcessingError()
    sentence = udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        trees.push_back(sentence)  # a copy
    assert not error.occurred()
    trained = udpipe.Trainer.train(
        "morphodita_parsito",
        trees,
        udpipe.Sentences(),
        "epochs=1;batch_size=5;seed=1;dimension=16",
        "models=1;iterations=1",
        "iterations=1;embedding_form=10;hidden_layer=20;transition_system=projective;transition_oracle=static;"
        "structured_interval=0",
        error,
    )
    assert not error.occurred(), error.message
    path = tmp_path_factory.mktemp("udpipe") / "tiny.udpipe"
    path.write_bytes(trained)
    return path


def test_it_parses_under_its_path(model: Path) -> None:
    sentences = parse("Il gatto dorme.", parser=f"udpipe:{model}")
    assert "".join(t.form for s in sentences for t in s) == "Ilgattodorme."
    assert all(to_conllu(s) for s in sentences)
    assert parse("...", parser=f"udpipe:{model}") == []


def test_one_sentence_stays_one(model: Path) -> None:
    (sentence,) = get_parser(f"udpipe:{model}").parse_sentences(["Il gatto dorme. Il cane mangia."])
    assert sum(t.head == 0 for t in sentence) == 1
    assert len(sentence) >= 6


def test_it_stands_in_the_signature(model: Path) -> None:
    signature = check("voice", "Il gatto dorme.", "active", parser=f"udpipe:{model}").signature
    assert "parser:udpipe-tiny+" in signature


def test_a_model_that_is_none_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.udpipe"
    broken.write_bytes(b"no model")
    with pytest.raises(DataError, match=r"broken\.udpipe is no UDPipe model"):
        parse("Il gatto dorme.", parser=f"udpipe:{broken}")
    with pytest.raises(DataError, match="There is no UDPipe model"):
        get_parser(f"udpipe:{tmp_path / 'missing.udpipe'}")


@pytest.mark.parametrize("name", ["spacy", "udpipe", ""])
def test_an_unknown_parser_names_the_known_ones(name: str) -> None:
    with pytest.raises(PolicyError, match=r"bundled.*udpipe:MODEL_FILE"):
        get_parser(name)
