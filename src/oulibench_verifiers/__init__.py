"""OuLiBench under a name that verifiers can load: `vf-eval oulibench-verifiers`.

verifiers finds a taskset by the name of a top-level module and what its `__all__` holds; everything else is in
`oulibench.rewards.verifiers`.
"""

from oulibench.rewards.verifiers import OneAnswerHarness, OuLiBenchEnv, OuLiBenchTaskset

__all__ = ["OneAnswerHarness", "OuLiBenchEnv", "OuLiBenchTaskset"]
