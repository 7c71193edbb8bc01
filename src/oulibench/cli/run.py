"""`oulibench run`: from models to the table of success rates."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oulibench.cli import EXIT_FAILED, EXIT_OK
from oulibench.cli.options import add_policy_options, policy_of
from oulibench.constraints.base import WORDINGS
from oulibench.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from oulibench.cli.options import Subparsers
    from oulibench.engines.export import Exported
    from oulibench.engines.run import Plan
    from oulibench.engines.settings import Settings
    from oulibench.results.runs import Run
    from oulibench.suite import Request

_DESCRIPTION = """\
Ask models for texts under constraints, check what they write, print the table. Answers are stored as they come; run the
same command again and it goes on with what is missing. Keys of providers are read from the environment.
"""
_EXAMPLE = """\
examples:
  $ oulibench run                                         # the embedded model, the suite quick
  $ oulibench run --model gpt-4o-mini --suite paper --dry-run
  $ oulibench run --model openai/gpt-4o-mini --model claude-sonnet-4 --suite paper --shots 0 5 --out runs/closed
  $ oulibench run --model openai-api/lab/my-model --model-base-url http://localhost:8000/v1 --tasks lipogram
  $ oulibench run --config runs/closed/run.json --out runs/again
  $ oulibench run --model gpt-4o-mini --reflect --out runs/reflected            # and what it says of its own texts
  $ oulibench run --model gpt-4o-mini --wording explicit terse technical --out runs/wordings

exit code: 0 all answered and scored · 1 something failed or is missing · 2 a call that makes no sense ·
130 or 143 stopped by Ctrl-C or SIGTERM: what was answered is stored, the same command goes on
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "run",
        help="ask models, score their answers, print the table",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what is asked")
    what.add_argument("--suite", metavar="NAME", help="quick (default), paper or single")
    what.add_argument("--tasks", nargs="+", metavar="TASK", help="(default: all)")
    what.add_argument(
        "--shots", nargs="+", type=int, metavar="K", help="numbers of demonstrations (default: the suite's)"
    )
    what.add_argument(
        "--demonstrations",
        metavar="FILE",
        help="demonstrations to show instead of the built-in ones (oulibench mine finds some)",
    )
    what.add_argument(
        "--wording",
        nargs="+",
        choices=WORDINGS,
        help="how prompts are worded (default: explicit); several make a study of wordings",
    )
    what.add_argument("--n", type=int, metavar="N", help="texts asked for in one prompt (default: the suite's)")
    what.add_argument("--limit", type=int, metavar="N", help="at most so many targets per task")
    what.add_argument("--epochs", type=int, metavar="N", help="how often each prompt is asked (default: the suite's)")
    what.add_argument(
        "--system", action=argparse.BooleanOptionalAction, default=None, help="put a system message first (default: no)"
    )
    who = parser.add_argument_group("who is asked")
    who.add_argument(
        "--model",
        action="append",
        dest="models",
        metavar="M",
        help="a short name (gpt-4o-mini), an Inspect AI name (provider/model) or local/FILE.gguf; may be repeated "
        "(default: the embedded model)",
    )
    who.add_argument("--model-base-url", metavar="URL", help="where the model's server is")
    who.add_argument(
        "--model-arg", action="append", metavar="KEY=VALUE", help="argument of the provider; may be repeated"
    )
    how = parser.add_argument_group("how")
    how.add_argument("--temperature", type=float, metavar="T", help="(default: the provider's)")
    how.add_argument("--top-p", type=float, metavar="P", help="(default: the provider's)")
    how.add_argument("--seed", type=_seed, metavar="S", help="a number, or none to send no seed (default: 0)")
    how.add_argument("--max-tokens", type=int, metavar="N", help="limit of an answer (default: sized to what is asked)")
    how.add_argument("--max-connections", type=int, metavar="N", help="calls under way at a time")
    how.add_argument(
        "--max-retries", type=int, metavar="N", help="tries after a rate limit or server error (default: 7)"
    )
    how.add_argument("--timeout", type=int, metavar="S", help="seconds after which a try is given up (default: none)")
    after = parser.add_argument_group("what is asked afterwards")
    after.add_argument(
        "--reflect",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="ask the models about their own texts (how many words, which voice …; default: no)",
    )
    after.add_argument("--reflect-items", type=int, metavar="N", help="at most so many texts per answer (default: 5)")
    after.add_argument(
        "--reflect-in",
        choices=("same", "separate"),
        help="in the conversation of the answer, or one of its own (default)",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="the run's folder (default: runs/SUITE-MODEL)")
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="settings of an earlier run; options go before them"
    )
    parser.add_argument("--dry-run", action="store_true", help="show prompts, calls and tokens; ask nobody")
    add_policy_options(parser)


_NO_SEED = "none"


def _seed(text: str) -> int | str:
    return _NO_SEED if text.lower() == _NO_SEED else int(text)


_SETTINGS = (
    "suite", "tasks", "shots", "wording", "n", "limit", "epochs", "system", "demonstrations", "models",
    "model_base_url", "temperature", "top_p", "seed", "max_tokens", "max_connections", "max_retries", "timeout",
    "reflect", "reflect_items", "reflect_in",
)  # fmt: skip


def settings_of(args: argparse.Namespace) -> Settings:
    """The settings of the call: options, then the config file, then the defaults."""
    from oulibench.engines.settings import make_settings, read_config

    given: dict[str, Any] = read_config(args.config) if args.config else {}
    given |= {key: value for key in _SETTINGS if (value := getattr(args, key)) is not None}
    if given.get("seed") == _NO_SEED:
        given["seed"] = None
    if policy := policy_of(args):
        given["policy"] = {**given.get("policy", {}), **policy}
    if args.model_arg:
        given["model_args"] = {**given.get("model_args", {}), **_model_args(args.model_arg)}
    return make_settings(given)


def _model_args(pairs: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise DataError(f"--model-arg is KEY=VALUE such as device=cpu, not {pair!r}.")
        try:
            arguments[key] = json.loads(value)
        except ValueError:
            arguments[key] = value
    return arguments


def main(args: argparse.Namespace) -> int:
    settings = settings_of(args)
    requests = settings.requests()
    if args.dry_run:
        _show_plan(settings, requests)
        return EXIT_OK
    try:
        import inspect_ai  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("Asking models needs Inspect AI: pip install 'oulibench[run]'") from error
    from oulibench.engines.run import carry_out, plan_run

    plan = plan_run(settings, requests, args.out or _default_folder(settings))
    print(f"{plan.calls:,} calls to {', '.join(settings.models)}; answers go to {plan.folder}", file=sys.stderr)
    if args.config:
        _compare_with(args.config, plan)
    with _stopped_like_ctrl_c() as terminated:
        try:
            carry_out(plan)
            return _store_and_report(plan)
        except KeyboardInterrupt:
            print("\nstopped; run the same command again to go on", file=sys.stderr)
            code = _store_and_report(plan, reflect=False)
            if code == EXIT_OK and not plan.settings.reflect:
                return code  # it came with the last answer
            return 128 + (terminated[0] if terminated else signal.SIGINT)


@contextmanager
def _stopped_like_ctrl_c() -> Iterator[list[int]]:
    """Let SIGTERM, by which job schedulers end what they run, stop a run as Ctrl-C does; yields the signals received.

    Only the first one counts: a scheduler may send several, and storing what was answered is not to be stopped.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # signals come to the main thread alone
        yield received
        return

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            signal.raise_signal(signal.SIGINT)  # whoever handles Ctrl-C at this moment, such as an event loop

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, stop)}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a script that starts a command with & has it ignore Ctrl-C
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _default_folder(settings: Settings) -> Path:
    model = settings.models[0].rsplit("/", 1)[-1].removesuffix(".gguf")
    others = f"-and-{len(settings.models) - 1}-more" if len(settings.models) > 1 else ""
    return Path("runs") / f"{settings.suite}-{model}{others}"


def _compare_with(config: Path, plan: Plan) -> None:
    """Say so where the prompts are no longer those of the run that is repeated."""
    from oulibench.engines.settings import differences, read_config

    old = read_config(config)
    if "sha256" in old and old["sha256"] != plan.record["sha256"] and len(differences(old, plan.record)) == 1:
        for line in differences(old, plan.record):
            print(f"note: not the same as in {config}: {line}", file=sys.stderr)


def _store_and_report(plan: Plan, reflect: bool = True) -> int:
    """Logs → answers → items → (questions on them) → table; returns the exit code."""
    from oulibench.cli.report import refresh, report_table
    from oulibench.engines.export import export_responses
    from oulibench.engines.run import LOGS
    from oulibench.results.runs import RESPONSES, open_run

    exported = export_responses(plan.folder / LOGS, plan.folder / RESPONSES, plan.settings.models, plan.requests)
    run = open_run(plan.folder)
    failed = refresh(run, argparse.Namespace(keep_items=False, jobs=None))
    if reflect and plan.settings.reflect:
        failed |= _reflect(plan, run)
    failed |= report_table(run)
    _say(exported, plan)
    return EXIT_FAILED if failed or exported.failed or exported.missing else EXIT_OK


def _reflect(plan: Plan, run: Run) -> bool:
    """Ask the models about their own texts; returns whether something failed or is missing."""
    from oulibench.engines.reflect import reflect, say

    print("asking the models about their own texts", file=sys.stderr)
    reflected = reflect(plan, run)
    say(reflected)
    return reflected.failed > 0 or reflected.missing > 0


def _say(exported: Exported, plan: Plan) -> None:
    """The totals of the calls, on standard error; what to do where some are missing."""
    total = exported.answered + exported.failed + exported.missing
    line = f"{total:,} calls = answered {exported.answered:,} + failed {exported.failed:,}"
    if exported.missing:
        line += f" + not made {exported.missing:,}"
    print(line, file=sys.stderr)
    if total != plan.calls:
        print(f"THIS DOES NOT ADD UP: {plan.calls:,} calls were planned", file=sys.stderr)
    if exported.truncated:
        print(
            f"{exported.truncated:,} answers were cut off by the token limit; --max-tokens raises it", file=sys.stderr
        )
    for error in exported.errors:
        print(f"  {error}", file=sys.stderr)
    if exported.failed or exported.missing:
        print("run the same command again to make the calls that failed or are missing", file=sys.stderr)


def _show_plan(settings: Settings, requests: Sequence[Request]) -> None:
    """Prompts, calls and tokens."""
    from oulibench.suite import fingerprint, token_limit
    from oulibench.suite.requests import estimate

    for request in requests:
        times = f", {request.epochs} times" if request.epochs > 1 else ""
        print(f"--- {request.id}  (n {request.n}, at most {token_limit(request):,} tokens{times})")
        if request.system:
            print(f"[system] {request.system}")
        print(f"{request.prompt}\n")
    each = estimate(requests)
    models = len(settings.models)
    print(f"models    {', '.join(settings.models)}")
    print(f"suite     {settings.suite}, sha256 {fingerprint(requests)}")
    print(f"dataset   {', '.join(f'{key} {value}' for key, value in settings.dataset().items())}")
    print(f"prompts   {len(requests):,}")
    print(f"calls     {each.calls * models:,}" + (f" ({each.calls:,} to each model)" if models > 1 else ""))
    print(f"tokens    about {each.input_tokens * models:,} in, {each.output_tokens * models:,} out (reasoning apart)")
    if settings.reflect:
        texts = sum(min(request.n, settings.reflect_items) * request.epochs for request in requests)
        print(f"questions about {texts * models:,} afterwards, on the models' own texts, a few tokens each")
    print("nobody was asked")
