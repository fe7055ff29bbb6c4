"""What is written down is true: docstrings, README, stubs, types, the version."""
import doctest
import importlib.metadata
import importlib.util
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

import twinsift

ROOT = pathlib.Path(__file__).parent.parent


def test_the_examples_in_docstrings_run():
    results = doctest.testmod(twinsift)
    assert results.failed == 0 and results.attempted >= 25


def test_everything_public_is_documented():
    for name in twinsift.__all__:
        thing = getattr(twinsift, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_example_of_the_readme_runs():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
    names = {}
    exec(code, names)
    assert names["unique"] == [names["texts"][0], names["texts"][2]]


def test_the_version_is_that_of_the_library_and_of_the_package():
    assert twinsift.__version__ == re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE).group(1)
    try:
        assert importlib.metadata.version("twinsift") == twinsift.__version__
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")


def test_the_stubs_agree_with_the_module(tmp_path):
    pytest.importorskip("mypy")
    # Buffers of extension modules have no __buffer__ before 3.12.
    allowed = ["twinsift._core.Array.__buffer__"] if sys.version_info < (3, 12) else []
    if not importlib.util.find_spec("pyspark"):
        allowed.append(r"twinsift\.spark.*")
    (tmp_path / "allowed").write_text("\n".join(allowed))
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "twinsift", "--allowlist", tmp_path / "allowed", "--ignore-unused-allowlist",
         "--mypy-config-file", tmp_path / "mypy.ini"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed(tmp_path):
    pytest.importorskip("mypy")
    folder = pathlib.Path(twinsift.__file__).parent
    assert (folder / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", tmp_path, "-p", "twinsift"],
        capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(folder.parent)} if "site-packages" not in str(folder) else None,
    )
    assert done.returncode == 0, done.stdout


def test_nothing_else_is_needed(python):
    done = python(
        "import sys, twinsift; bad = {'numpy', 'pyarrow', 'tqdm', 'pandas'} & set(sys.modules); assert not bad, bad"
    )
    assert done.returncode == 0, done.stderr
