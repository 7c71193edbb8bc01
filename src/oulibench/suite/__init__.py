"""What is asked: suites of tasks, targets, demonstrations and wordings, and the requests that they make."""

from oulibench.suite.demonstrations import Demonstration, demonstrations
from oulibench.suite.requests import Request, build_requests, fingerprint, token_limit
from oulibench.suite.suites import Suite, load_suite, suite_names

__all__ = [
    "Demonstration",
    "Request",
    "Suite",
    "build_requests",
    "demonstrations",
    "fingerprint",
    "load_suite",
    "suite_names",
    "token_limit",
]
