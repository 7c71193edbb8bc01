"""Names of models: short names of well-known ones, base URLs, and which of them reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from oulibench.errors import DataError

EMBEDDED: Final = "local/smollm2"


@dataclass(frozen=True, slots=True)
class Preset:
    """A model with a short name.

    Attributes:
        model: its name for Inspect AI, provider/model.
        needs: what must be installed or set for it.
        note: what to know before comparing with published figures.
        reasoning: its output holds reasoning.
    """

    name: str
    model: str
    needs: str
    note: str
    reasoning: bool = False


@cache
def presets() -> dict[str, Preset]:
    """The presets of data/models.toml, by short name."""
    text = files("oulibench").joinpath("data", "models.toml").read_text(encoding="utf-8")
    return {name: Preset(name=name, **entry) for name, entry in tomllib.loads(text)["models"].items()}


def resolve_model(name: str) -> str:
    """The Inspect AI name of a model that is given by short name or in full.

    Raises:
        DataError: it is neither; the message names the short names.
    """
    if preset := presets().get(name.lower()):
        return preset.model
    if "/" not in name.strip("/"):
        raise DataError(
            f"There is no model {name!r}. Give a short name ({', '.join(presets())}) or an Inspect AI name such as "
            "openai/gpt-4o-mini, hf/ORGANISATION/MODEL, ollama/MODEL, or local/FILE.gguf."
        )
    return name


def is_reasoning(model: str) -> bool:
    """Whether the presets know that a model (by its Inspect AI name) reasons."""
    return any(preset.reasoning for preset in presets().values() if preset.model == model)


_ENDPOINTS: Final = ("/chat/completions", "/completions", "/responses", "/messages")


def clean_base_url(url: str) -> str:
    """The base URL of a server, less the endpoint that people paste with it; only a whole suffix goes.

    Raises:
        DataError: it is no http(s) URL.
    """
    url = url.strip()
    if not url.lower().startswith(("http://", "https://")):
        raise DataError(f"A base URL begins with http:// or https://, not {url!r}.")
    base = url.rstrip("/")
    for endpoint in _ENDPOINTS:
        base = base.removesuffix(endpoint)
    return base.rstrip("/")
