"""Verdicts as rewards for training: one core, thin adapters for trainers."""

from oulibench.rewards.core import Explanation, explain, explain_row, reward, score_completions
from oulibench.rewards.gates import DEFAULT_GATES, Gates

__all__ = ["DEFAULT_GATES", "Explanation", "Gates", "explain", "explain_row", "reward", "score_completions"]
