"""Work on a Ray cluster: what reads, what scores and what mines is the same as on one machine.

Files are read by tasks on the cluster (which must see them), what they read is worked on by actors, and the results
come back in order. Ray Data streams: readers wait when workers are behind, so memory is bounded.

Each actor works through a process of its own, as the local engine does: what kills that process is found and is lost
alone, whereas Ray would try it again for ever. An actor or a node that dies otherwise is replaced by Ray, and what it
had in hand is done again.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from oulibench.errors import DataError, MissingExtraError, OuLiBenchError
from oulibench.version import __version__

if TYPE_CHECKING:
    from oulibench.files import Engine
    from oulibench.parallel import Work

S = TypeVar("S")
U = TypeVar("U")
R = TypeVar("R")

_BLOCK_BYTES: Final = 2_000_000  # what a task hands on at once: enough work for a second or so
_STORE_BYTES: Final = 400_000_000  # the object store of a cluster that we start
_CONNECT_SECONDS: Final = 5
_COLUMN: Final = "item"


def ray_engine(address: str = "local", workers: int | None = None) -> Engine:
    """A Ray cluster as an engine for `oulibench.files.score_shards`."""
    return partial(map_sources, address=address, workers=workers)


def map_sources(
    sources: Sequence[S],
    read: Callable[[S], Iterator[U]],
    work: Work[U, R],
    *,
    address: str = "local",
    workers: int | None = None,
) -> Iterator[R]:
    """`work` on each unit that is read out of `sources`, in order.

    Args:
        sources: what is read, such as files.
        read: the units of a source.
        work: what is done to a unit.
        address: the cluster: `HOST:PORT`, `auto` for the one this machine belongs to, or `local` for one that is
            started here and ends with the work.
        workers: how many units are worked on at once; by default, one per CPU of the cluster.

    Raises:
        MissingExtraError: Ray is not installed.
        DataError: there is no such cluster, it is too small, or it fails.
        OuLiBenchError: what reading or working raised.
    """
    with _cluster(address, workers) as ray:
        size = workers or max(1, int(ray.cluster_resources().get("CPU", 0)))
        try:
            for batch in _dataset(sources, read, work, size).iter_batches(batch_size=None, batch_format="pyarrow"):
                for item in batch.column(_COLUMN):
                    result = pickle.loads(item.as_buffer())  # noqa: S301  # what our own actors wrote
                    if isinstance(result, OuLiBenchError):
                        raise result
                    yield result
        except ray.exceptions.RayError as error:
            raise DataError(f"The Ray cluster failed: {_first_lines(error)}") from error


def _dataset(sources: Sequence[S], read: Callable[[S], Iterator[U]], work: Work[U, R], size: int) -> Any:
    from ray.data import ActorPoolStrategy, DataContext, TaskPoolStrategy, from_items

    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    context.target_max_block_size = _BLOCK_BYTES
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module=r"ray\.data\b")  # that one file gives one reader, and of its own settings
    rows = [{_COLUMN: pickle.dumps(source)} for source in sources]
    return (
        from_items(rows, override_num_blocks=len(rows))
        .map_batches(
            partial(_read, read),
            batch_size=1,
            batch_format="pyarrow",
            compute=TaskPoolStrategy(max(2, size // 8)),  # reading is many times faster than checking
            num_cpus=0,  # or readers and workers would wait for each other's CPUs
        )
        .map_batches(
            _Worker,
            fn_constructor_args=(work, __version__),
            batch_size=1,
            batch_format="pyarrow",
            compute=ActorPoolStrategy(size=size),
            num_cpus=1,
        )
    )


def _read(read: Callable[[Any], Iterator[Any]], batch: Any) -> Iterator[Any]:
    for item in batch.column(_COLUMN):
        try:
            for unit in read(pickle.loads(item.as_buffer())):  # noqa: S301  # what `_dataset` wrote
                yield _batch(unit)
        except OuLiBenchError as error:
            yield _batch(error)


class _Worker:
    """An actor."""

    def __init__(self, work: Work[Any, Any], version: str) -> None:
        from oulibench.parallel import Apart

        if version != __version__:
            raise DataError(f"A worker has oulibench {__version__}, this machine {version}; install the same on both.")
        # Or the process beneath this one would import Ray, too: it imports what the main module is.
        vars(sys.modules["__main__"]).pop("__file__", None)
        self._work = Apart(work)

    def __call__(self, batch: Any) -> Any:
        return _batch(*(self._result(pickle.loads(item.as_buffer())) for item in batch.column(_COLUMN)))  # noqa: S301

    def _result(self, unit: Any) -> Any:
        if isinstance(unit, OuLiBenchError):
            return unit
        try:
            return self._work(unit)
        except OuLiBenchError as error:
            return error


def _batch(*results: Any) -> Any:
    import pyarrow as pa

    return pa.table({_COLUMN: pa.array([pickle.dumps(result) for result in results], pa.large_binary())})


@contextmanager
def _cluster(address: str, workers: int | None) -> Iterator[Any]:
    """Ray, connected; a cluster that is started here ends here."""
    if address.startswith("ray://"):
        raise DataError(
            f"{address}: Ray Data does not run through Ray's client. Call the command on a machine of the cluster, "
            "with --address auto, or hand it in as a job (ray job submit)."
        )
    if address not in ("local", "auto"):
        _expect_listener(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it tells of its retries, which are none of the reader's
    try:
        ray: Any = import_module("ray")  # its functions have no types
        import_module("ray.data")
    except ImportError as error:
        raise MissingExtraError("--engine ray needs Ray: pip install 'oulibench[ray]'.") from error
    if address == "auto" and (remembered := _remembered_address()):
        _expect_listener(remembered)
    if ray.is_initialized():  # by the program that calls us: it is theirs to end
        yield ray
        return
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address == "local":
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        options |= {
            "num_cpus": workers or cpus,
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }
    try:
        ray.init(address=address, **options)
        there = int(ray.cluster_resources().get("CPU", 0))
    except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        hint = "" if "RAY_AUTH_MODE" in os.environ else " (If it asks for a token, set RAY_AUTH_MODE=token.)"
        raise DataError(f"No Ray cluster at {address!r}: {_first_lines(error)}{hint}") from error
    try:
        if there < (workers or 1):
            raise DataError(f"The cluster has {there} CPUs, too few for {workers or 1} workers.")
        yield ray
    finally:
        ray.shutdown()


def _remembered_address() -> str | None:
    """Where `auto` leads, if Ray says: to the last cluster that this machine joined, which may have gone since."""
    from ray._private import services

    find = getattr(services, "get_ray_address_from_environment", None)  # no part of Ray's public interface
    found = find("auto", None) if find else None
    return found if isinstance(found, str) and ":" in found else None


def _expect_listener(address: str) -> None:
    """Ray itself tries an address where nothing listens for minutes, and then ends the process."""
    host, _, port = address.rpartition(":")
    try:
        number = int(port)
        socket.create_connection((host.strip("[]"), number), timeout=_CONNECT_SECONDS).close()
    except ValueError:
        raise DataError(f"{address!r} is no address of a Ray cluster: say HOST:PORT, auto or local.") from None
    except OSError as error:
        raise DataError(
            f"No Ray cluster at {address!r}: {error.strerror or error}. Is it running, and can this machine reach it?"
        ) from error


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:1] + lines[-1:] if len(lines) > 1 else lines)[:500]
