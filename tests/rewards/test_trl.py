"""The reward functions as a trainer calls them; no trainer needed."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oulibench.errors import DataError, TargetError, UnknownTaskError
from oulibench.rewards import Gates
from oulibench.rewards.trl import answer_text, constraint_reward, make_reward, prompt_text

UNGATED = make_reward(gates=None)
SENTENCE = "Il mare è bello"  # 4 words, 12 letters; 3 of the words hold an e


def call(function: Any, completions: list[Any], **columns: list[Any]) -> list[float | None]:
    """As TRL does: with what it gives to all reward functions, and the data set's columns."""
    result: list[float | None] = function(
        prompts=["Scrivi."] * len(completions),
        completions=completions,
        completion_ids=[[1, 2]] * len(completions),
        trainer_state=object(),
        log_extra=print,
        log_metric=print,
        id=["x"] * len(completions),
        **columns,
    )
    return result


@pytest.mark.parametrize(
    "completion",
    [
        SENTENCE,
        [{"role": "assistant", "content": SENTENCE}],
        [{"content": SENTENCE}],
        [{"role": "assistant", "content": [{"type": "text", "text": SENTENCE}]}],
        [{"role": "assistant", "content": [{"type": "text", "text": "Il mare "}, {"type": "text", "text": "è bello"}]}],
        [
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Ehm."}, {"type": "text", "text": SENTENCE}],
            }
        ],
        [{"role": "assistant", "content": "", "reasoning_content": "Ehm."}, {"role": "assistant", "content": SENTENCE}],
        [
            {"role": "assistant", "content": "Cerco.", "tool_calls": [{"function": {"name": "dizionario"}}]},
            {"role": "tool", "name": "dizionario", "content": "Nulla."},
            {"role": "assistant", "content": SENTENCE},
        ],
        f"<think>Quattro parole, dunque.</think>\n{SENTENCE}",
        [{"role": "assistant", "content": f"<think>Quattro parole, dunque.</think>\n{SENTENCE}"}],
    ],
)
def test_every_form_of_a_completion_is_read(completion: Any) -> None:
    """4 words where 5 were asked for: 4/5. With n and without."""
    assert call(UNGATED, [completion], task=["word_length"], target=["5"], n=[1]) == [0.8]
    assert call(UNGATED, [completion], task=["word_length"], target=[5]) == [0.8]


@pytest.mark.parametrize(
    "completion", ["", [], [{"role": "assistant", "content": None}], [{"role": "tool", "content": SENTENCE}]]
)
def test_an_empty_completion_earns_nothing(completion: Any) -> None:
    assert call(UNGATED, [completion], task=["word_length"], target=["4"], n=[1]) == [0.0]


def test_reasoning_that_the_prompt_opened_is_no_answer() -> None:
    """A completion that begins within the reasoning and is cut off there holds no tag at all."""
    columns: dict[str, list[Any]] = {"task": ["word_length"] * 3, "target": ["4"] * 3, "n": [1] * 3}
    answers = ["Servono quattro parole", f"Quattro parole.</think>{SENTENCE}", f"<think>Ehm.</think>{SENTENCE}"]
    assert call(make_reward(gates=None, reasoning=True), answers, **columns) == [0.0, 1.0, 1.0]
    assert call(UNGATED, answers, **columns) == [0.75, 1.0, 1.0]


def test_rows_of_other_tasks_have_no_reward() -> None:
    columns: dict[str, list[Any]] = {
        "task": ["lipogram", "word_length", None, "gsm8k"],
        "target": ["e", "4", None, "42"],
        "n": [1] * 4,
    }
    answers = [SENTENCE] * 4
    # 3 of 4 words hold an e: (1 - 3/4) / (1 + 3)
    assert call(UNGATED, answers, **columns) == [0.0625, 1.0, None, None]
    assert call(make_reward("lipogram", gates=None), answers, **columns) == [0.0625, None, None, None]
    assert call(make_reward("lipogram", gates=None, strict=True), answers, **columns) == [0.0, None, None, None]
    assert call(make_reward("word_length", gates=None, strict=True), answers, **columns) == [None, 1.0, None, None]


def test_one_task_needs_no_column() -> None:
    assert call(make_reward("word_length", gates=None), [SENTENCE, "Il mare"], target=["4", "4"]) == [1.0, 0.5]
    assert call(make_reward("palindrome", gates=None), ["I topi non avevano nipoti."]) == [1.0]  # neither target nor n
    with pytest.raises(DataError, match='no column "task"'):
        call(constraint_reward, [SENTENCE], target=["4"])


def test_gates_close_on_the_cheapest_answers() -> None:
    columns: dict[str, list[Any]] = {"task": ["lipogram"], "target": ["e"], "n": [1]}
    assert call(UNGATED, ["No."], **columns) == [1.0]
    assert call(constraint_reward, ["No."], **columns) == [0.0]
    assert call(make_reward(gates=Gates(min_words=1)), ["No."], **columns) == [1.0]


def test_the_prompt_given_back_is_no_answer() -> None:
    """Prompts are messages here, and the copying gate reads what is in them."""
    prompt = [{"role": "user", "content": "Scrivi una frase in italiano con dieci parole."}]
    given = {"prompts": [prompt], "completions": ["Scrivi una frase in italiano con dieci parole."]}
    asked = {"task": ["word_length"], "target": ["8"], "n": [1]}
    assert UNGATED(**given, **asked) == [1.0]  # type: ignore[arg-type]
    assert constraint_reward(**given, **asked) == [0.0]  # type: ignore[arg-type]


def test_several_texts_are_averaged_over_those_asked_for() -> None:
    answer = "1. Il mare è bello\n2. Il mare"
    # 4 words of 4, 2 of 4, and one that is missing
    assert call(UNGATED, [answer], task=["word_length"], target=["4"], n=[3]) == [pytest.approx(0.5)]


def test_policies_reach_the_verdict_with_the_nulls_of_a_column() -> None:
    """«L'amico» has two orthographic words and one graphic."""
    columns: dict[str, list[Any]] = {"task": ["word_length"] * 2, "target": ["1"] * 2, "n": [1] * 2}
    policies = [{"words": "graphic", "acrostic": None}, None]
    assert call(UNGATED, ["L'amico"] * 2, policy=policies, **columns) == [1.0, 0.5]
    assert call(make_reward(gates=None, policy={"words": "graphic"}), ["L'amico"] * 2, **columns) == [1.0, 1.0]


def test_rows_that_are_set_up_wrongly_say_so() -> None:
    with pytest.raises(TargetError, match="Row 1"):
        call(UNGATED, [SENTENCE] * 2, task=["lipogram"] * 2, target=["e", "two letters"], n=[1, 1])
    with pytest.raises(DataError, match='"n" is the number'):
        call(UNGATED, [SENTENCE], task=["lipogram"], target=["e"], n=[0])
    with pytest.raises(UnknownTaskError, match="lipogramm"):
        make_reward("lipogramm")
    with pytest.raises(ValueError, match="zip"):
        call(UNGATED, [SENTENCE] * 2, task=["lipogram"], target=["e"], n=[1])


@settings(max_examples=100, deadline=None)
@given(
    st.recursive(
        st.text(st.characters(), max_size=40) | st.none(),
        lambda texts: st.lists(st.fixed_dictionaries({"type": st.sampled_from(["text", "image"]), "text": texts})),
        max_leaves=4,
    ),
    st.sampled_from(["lipogram", "word_length", "palindrome", "acrostic", "word_anagram"]),
    st.sampled_from([None, 1, 3]),
)
def test_no_completion_stops_the_training(content: Any, task: str, n: int | None) -> None:
    """Whatever a model writes, in whatever parts: a number from 0 to 1, the same as text and as message."""
    target = {"lipogram": "e", "word_length": "4", "palindrome": None, "acrostic": "sole", "word_anagram": "rosa"}[task]
    message = [{"role": "assistant", "content": content}]
    columns: dict[str, list[Any]] = {"task": [task] * 2, "target": [target] * 2, "n": [n] * 2}
    first, second = call(constraint_reward, [message, answer_text(message)], **columns)
    assert first == second
    assert first is not None and 0 <= first <= 1


def test_names_tell_what_was_chosen() -> None:
    """TRL's logs are keyed by name."""
    made = [constraint_reward, make_reward("lipogram"), make_reward("voice", strict=True, gates=None)]
    assert [f.__name__ for f in made] == ["constraint_reward", "lipogram_reward", "voice_reward_strict_ungated"]
    assert make_reward(name="italian").__name__ == "italian"


def test_reward_functions_can_be_pickled() -> None:
    """TRL hands them to processes of its own."""
    function = make_reward("word_length", gates=None)
    copy = pickle.loads(pickle.dumps(function))  # noqa: S301  # what was written in the line before
    assert call(copy, [SENTENCE], task=["word_length"], target=["5"], n=[1]) == [0.8]
    assert copy.__name__ == function.__name__


def test_texts_of_messages() -> None:
    assert answer_text([{"role": "assistant", "content": "Uno."}, {"role": "tool", "content": "Due."}]) == "Uno."
    assert prompt_text([{"role": "system", "content": "Uno."}, {"role": "user", "content": [{"text": "Due."}]}]) == (
        "Uno.\nDue."
    )
    assert prompt_text("Uno.") == "Uno."


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import json, sys; import oulibench.rewards.trl; "
        "print(json.dumps(sorted({'trl', 'torch', 'transformers', 'datasets', 'inspect_ai'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
