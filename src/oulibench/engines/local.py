"""Models in this process: `local/smollm2` (the embedded one) and `local/PATH.gguf`; see `oulibench.engines.gguf`."""

from __future__ import annotations

from functools import partial
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

from oulibench.engines.gguf import CONTEXT, default_threads, model_path, start_server
from oulibench.errors import DataError

TEMPERATURE: Final = 0.8
SEED: Final = 0
"""Temperature and seed where none are given: stated here, so that a new llama.cpp cannot change them."""


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


_servers: dict[tuple[Path, int, int], Any] = {}
_loading = Lock()


def _server(path: Path, threads: int, context: int) -> Any:
    """The server of a model file, started on first use."""
    with _loading:
        key = (path, threads, context)
        if key not in _servers:
            _servers[key] = start_server(path, threads, context)
        return _servers[key]


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
