"""The benchmark as tasks of lm-evaluation-harness (`lm_eval`): a thin layer over the suite, the reader and the checks.

`tasks/` holds what `lm_eval --include_path` is given, made by `generate`; `harness` is the class behind every task,
`answers` what becomes of an answer. Only `harness` needs `lm_eval` itself.
"""

from pathlib import Path


def tasks_folder() -> Path:
    """The folder to give to `lm_eval --include_path`."""
    return Path(__file__).with_name("tasks")
