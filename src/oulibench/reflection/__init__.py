"""What a model says about its own texts: the question on a text, and the reading of the answer.

Asking is `oulibench.engines.reflect`, the figures are `oulibench.results.reflection`.
"""

from oulibench.reflection.claims import read_claim
from oulibench.reflection.questions import Property, Value, property_of, question_on, reflects

__all__ = ["Property", "Value", "property_of", "question_on", "read_claim", "reflects"]
