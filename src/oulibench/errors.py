"""Errors that a person can act on. Everything the package raises on purpose derives from `OuLiBenchError`."""


class OuLiBenchError(Exception):
    """Base of the package's own errors; its message says what is wrong and what to do."""


class TextError(OuLiBenchError, ValueError):
    """A text that cannot be judged at all: not a string, too long, or holding code points that are no text."""


class TargetError(OuLiBenchError, ValueError):
    """A target that does not fit its task."""


class PolicyError(OuLiBenchError, ValueError):
    """An unknown policy, or a value that it does not have."""


class UnknownTaskError(OuLiBenchError, KeyError):
    """A task name that nobody registered."""

    def __str__(self) -> str:  # KeyError would print the repr of its argument
        return str(self.args[0])


class MissingExtraError(OuLiBenchError, ImportError):
    """An optional part of the package is not installed."""


class DataError(OuLiBenchError, ValueError):
    """A file (the user's or the package's own) that does not hold what it should; says where."""
