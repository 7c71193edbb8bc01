"""Names of models and of servers."""

from __future__ import annotations

import pytest

from oulibench.engines.models import clean_base_url, is_reasoning, presets, resolve_model
from oulibench.errors import DataError


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/models/chat/completions", "https://host/models"),
        ("https://host/models", "https://host/models"),
        ("https://host/completions-lab/v1/", "https://host/completions-lab/v1"),
        ("http://localhost:8000/v1/completions/", "http://localhost:8000/v1"),
        ("https://chat.host/v1", "https://chat.host/v1"),
        ("https://host/snoitelpmoc", "https://host/snoitelpmoc"),
    ],
)
def test_an_endpoint_goes_as_a_suffix_and_nothing_else(given: str, base: str) -> None:
    assert clean_base_url(given) == base


def test_short_names() -> None:
    assert resolve_model("gpt-4o-mini") == "openai/gpt-4o-mini-2024-07-18"
    assert resolve_model("Minerva-7B") == "hf/sapienzanlp/Minerva-7B-instruct-v1.0"
    assert resolve_model("ollama/llama3") == "ollama/llama3"
    assert resolve_model("local//models/a.gguf") == "local//models/a.gguf"
    for name in ("gpt4", "", "/"):
        with pytest.raises(DataError, match="There is no model"):
            resolve_model(name)


def test_the_papers_eight_models_have_short_names() -> None:
    assert len(presets()) == 9  # and the embedded one
    assert is_reasoning(resolve_model("deepseek-r1"))
    assert not is_reasoning(resolve_model("gpt-4o-mini"))
