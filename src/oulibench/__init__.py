"""OuLiBench: how well do language models write Italian under formal constraints?"""

from oulibench.version import __version__

__all__ = ["__version__"]
