"""The taskset without verifiers; with it: tests/integrations/test_verifiers.py."""

from __future__ import annotations

import subprocess
import sys


def test_a_missing_package_is_named_with_its_extra() -> None:
    code = "import sys; sys.modules['verifiers'] = None; import oulibench.rewards.verifiers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "MissingExtraError: The taskset needs verifiers: pip install 'oulibench[verifiers]'" in done.stderr
