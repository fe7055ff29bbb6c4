"""What the tests share."""
import os
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))  # corpus.py

import corpus  # noqa: E402


@pytest.fixture(scope="session")
def texts():
    return corpus.corpus(300)


@pytest.fixture(scope="session")
def truth(texts):
    return corpus.true_pairs(texts, 0.7)


@pytest.fixture(scope="session")
def program():
    """The program twinsift, which must give the same answers."""
    path = os.environ.get("TWINSIFT") or shutil.which("twinsift")
    if not path:
        pytest.skip("the program twinsift is not there ($TWINSIFT)")
    return path


@pytest.fixture
def python(tmp_path):
    """Runs a script in a process of its own, and returns that."""

    def run(script, *arguments, timeout=60, **keywords):
        command = [sys.executable, "-X", "faulthandler", "-c", script, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout, cwd=tmp_path, check=False, **keywords
        )

    return run
