"""OuLiBench: how well do language models write Italian under formal constraints?

    >>> import oulibench
    >>> oulibench.check("lipogram", "Oggi vado in montagna", "e").passed
    True

`check` and `score` judge texts, `parse` and `profile` analyse them. What is behind a name is loaded when it is first
used, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING, Any

from oulibench.version import __version__

if TYPE_CHECKING:
    from oulibench.scoring import check, score
    from oulibench.syntax import parse, profile
    from oulibench.text import Word
    from oulibench.verdict import Verdict

__all__ = ["Verdict", "Word", "__version__", "check", "parse", "profile", "score"]

_WHERE = {
    "check": "oulibench.scoring",
    "score": "oulibench.scoring",
    "parse": "oulibench.syntax",
    "profile": "oulibench.syntax",
    "Verdict": "oulibench.verdict",
    "Word": "oulibench.text",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_WHERE[name]), name)
    return value
