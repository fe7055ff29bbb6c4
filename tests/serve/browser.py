"""A browser for tests: Debian's Chromium, driven by Playwright from an environment below the build folder."""

import os
import shutil
import subprocess
import sys

ROOT = os.environ["TWINSIFT_ROOT"]
FOLDER = os.path.join(ROOT, "build", "python", "browser")
PYTHON = os.path.join(FOLDER, "bin", "python")
PACKAGES = ["playwright==1.65.*", "axe-playwright-python"]
FLAGS = ("--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync").split()


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def enter():
    """Runs this script again in the environment, which is made if need be; skips where it cannot be had."""
    if os.path.realpath(sys.prefix) == os.path.realpath(FOLDER):
        return
    made = subprocess.run(["bash", "-c", 'set -e; . tools/python.bash; make_venv browser "$@"', "bash", *PACKAGES],
                          cwd=ROOT, check=False)
    if made.returncode != 0:
        skip("Playwright could not be installed")
    os.execv(PYTHON, [PYTHON, *sys.argv])


def chromium():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    return path or skip("Chromium is not installed")
