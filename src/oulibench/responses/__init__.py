"""From a model's raw response to the items that are checked: one reading, every step recorded."""

from oulibench.responses.reading import READER_VERSION, Item, Reading, Status, Unit, read_response

__all__ = ["READER_VERSION", "Item", "Reading", "Status", "Unit", "read_response"]
