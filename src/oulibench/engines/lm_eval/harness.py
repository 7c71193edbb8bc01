"""The class behind every task that lm-evaluation-harness is given."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import datasets  # type: ignore[import-not-found,import-untyped,unused-ignore]
from lm_eval.api.task import ConfigurableTask  # type: ignore[import-not-found,import-untyped,unused-ignore]

from oulibench.constraints import get_constraint
from oulibench.constraints.base import Wording
from oulibench.errors import DataError
from oulibench.responses import READER_VERSION
from oulibench.suite import Request, build_requests, fingerprint, load_suite, token_limit
from oulibench.suite.dataset import checksum
from oulibench.version import __version__

_log = logging.getLogger("lm_eval.oulibench")  # below lm_eval's own logger, whose handlers and level it shares

_TOKEN_LIMITS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens", "max_length")
_FEATURES: Final = {
    **dict.fromkeys(("id", "task", "family", "target", "wording", "suite", "prompt"), datasets.Value("string")),
    **dict.fromkeys(("difficulty", "n", "shots", "token_limit"), datasets.Value("int64")),
    "demonstrations": datasets.Sequence(datasets.Value("string")),
}


_TYPES: Final = {"task": (str,), "suite": (str,), "wording": (str,), "n": (int, type(None)), "reasons": (bool,)}


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked: `dataset_kwargs` of a task's YAML file, then the key `oulibench` of the harness's `--metadata`.

    Attributes:
        task: the benchmark's task.
        suite: which targets, and the default of `n`.
        wording: how the prompts are worded.
        n: texts asked for in one prompt.
        reasons: whether the model reasons before it answers, so that its answers may be longer.
    """

    task: str
    suite: str = "paper"
    wording: Wording = "explicit"
    n: int | None = None
    reasons: bool = False

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Options:
        """The options in a task's configuration.

        Raises:
            DataError: an unknown option, or a value of another type.
        """
        given: dict[str, Any] = {}
        for where, found in (
            ("dataset_kwargs", config.get("dataset_kwargs")),
            ("metadata: oulibench", (config.get("metadata") or {}).get("oulibench")),
        ):
            if not isinstance(found, Mapping | None):
                raise DataError(f"{where} must be a mapping of options, not {found!r}.")
            given |= found or {}
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(given) - known):
            raise DataError(f"OuLiBench's tasks have no option {', '.join(unknown)}; they have {', '.join(known)}.")
        if "task" not in given:
            raise DataError("dataset_kwargs must name the benchmark's task, such as {task: lipogram}.")
        for name, value in given.items():
            if type(value) not in _TYPES[name]:
                raise DataError(f"The option {name} of OuLiBench's tasks cannot be {value!r}.")
        return cls(**given)

    def requests(self, shots: int) -> list[Request]:
        """The requests, one a document, by target.

        Raises:
            OuLiBenchError, ValueError: there is no such task or suite, or there are fewer demonstrations.
        """
        return build_requests(load_suite(self.suite), [self.task], [shots], self.wording, self.n)


class OuLiBenchTask(ConfigurableTask):  # type: ignore[misc,unused-ignore]
    """One task of the benchmark with one number of demonstrations.

    `num_fewshot` is the number of frozen demonstrations in the prompt. The harness itself samples none: it is given
    finished prompts. Where the configuration states the number, `--num_fewshot` does not change it.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        given = {key: value for key, value in config.items() if key != "class"}
        self._options = Options.of(given)
        self._fixed_shots: int | None = given.get("num_fewshot")
        if self._fixed_shots and not get_constraint(self._options.task).few_shot:
            raise DataError(f"The task {self._options.task} has no demonstrations: num_fewshot is 0.")
        self._requests = self._options.requests(self._fixed_shots or 0)
        given["metadata"] = {**(given.get("metadata") or {}), **self._described()}
        # Where nothing is said, the harness would stop at the first blank line.
        given["generation_kwargs"] = {"until": [], **(given.get("generation_kwargs") or {})}
        super().__init__(config=given)

    def _described(self) -> dict[str, Any]:
        """What the harness is to keep with the results: two figures with one `version` are comparable."""
        asked = fingerprint(self._requests)
        signature = f"{get_constraint(self._options.task).signature()}|reader:{READER_VERSION}"
        digest = hashlib.sha256(f"{asked}|{signature}".encode()).hexdigest()
        first = self._requests[0]
        return {
            "version": f"{__version__}+{digest[:8]}",
            "oulibench": {
                "task": first.task,
                "suite": first.suite,
                "shots": first.shots,
                "wording": first.wording,
                "n": first.n,
                "reasons": self._options.reasons,
                "sha256": asked,
                "dataset": checksum(),
                "signature": signature,
            },
        }

    def download(self, dataset_kwargs: object = None, **kwargs: object) -> None:
        """Nothing is downloaded: the documents are the requests."""
        docs = [
            {
                **{key: value for key, value in request.fields().items() if key in _FEATURES},
                "target": None if request.target is None else str(request.target),
                "prompt": request.prompt,
                "token_limit": token_limit(request, self._options.reasons),
            }
            for request in self._requests
        ]
        self.dataset = {"test": datasets.Dataset.from_list(docs, features=datasets.Features(_FEATURES))}

    def set_config(self, key: str, value: Any, update: bool = False) -> None:
        """As the harness's; a new number of demonstrations makes new prompts."""
        if key == "num_fewshot":
            value = self._ask_with(value)
        super().set_config(key, value, update)

    def _ask_with(self, shots: int) -> int:
        """Build the prompts anew; returns how many demonstrations they have."""
        name = self.config.task
        if self._fixed_shots is not None:
            if shots != self._fixed_shots:
                _log.warning("%s keeps its %s demonstrations: its configuration states them.", name, self._fixed_shots)
            return self._fixed_shots
        self._requests = self._options.requests(shots)
        if shots and not self._requests[0].shots:
            _log.warning("%s is asked without demonstrations: there are none.", name)
        self.config.metadata |= self._described()
        self.VERSION = self.config.metadata["version"]
        self.download()
        self.task_docs = self.eval_docs
        return self._requests[0].shots

    def fewshot_docs(self) -> None:
        """None: without them the harness makes no sampler."""

    def fewshot_context(self, doc: Mapping[str, Any], num_fewshot: int, **kwargs: Any) -> Any:
        """The prompt alone; the demonstrations are in it."""
        return super().fewshot_context(doc, num_fewshot=0, **kwargs)

    def construct_requests(self, doc: Mapping[str, Any], ctx: Any, **kwargs: Any) -> Any:
        """The request with its own token limit, unless `--gen_kwargs` sets one for all."""
        instance = super().construct_requests(doc, ctx, **kwargs)
        generation = instance.arguments[1]
        if not any(name in generation for name in _TOKEN_LIMITS):
            generation["max_gen_toks"] = doc["token_limit"]
        return instance

    def build_all_requests(self, **kwargs: Any) -> None:
        """As the harness's, never from its cache: that knows tasks by name alone, whatever is asked."""
        super().build_all_requests(**{**kwargs, "cache_requests": False})
