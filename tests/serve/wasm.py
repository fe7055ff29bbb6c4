"""The page without a server, as tools/wasm.sh builds it; made again when a source of it is newer."""

import fcntl
import glob
import os
import subprocess

import browser

ROOT = os.environ["TWINSIFT_ROOT"]
BUILT = os.path.join(ROOT, "build", "wasm", "site")


def build():
    """Skips the test, by name, where the compiler cannot be had."""
    if os.environ.get("TWINSIFT_SANITIZED"):
        browser.skip("the module is the same in all builds")
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    with open(os.path.join(ROOT, "build", "wasm.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two tests that run side by side want it
        build_where_old()


def build_where_old():
    patterns = ["src/*/*", "include/*/*", "serve/*", "serve/*/*", "cli/support/*", "tools/wasm.sh"]
    sources = [path for pattern in patterns for path in glob.glob(os.path.join(ROOT, pattern)) if os.path.isfile(path)]
    module = os.path.join(BUILT, "twinsift.wasm")
    if os.path.exists(module) and os.path.getmtime(module) > max(map(os.path.getmtime, sources)):
        return
    if subprocess.run(["bash", "-c", ". tools/python.bash && make_venv zig ziglang && tools/sources.sh build/sources"],
                      cwd=ROOT, check=False).returncode != 0:
        browser.skip("zig, or the sources of libraries, cannot be had")
    subprocess.run(["tools/wasm.sh"], cwd=ROOT, check=True)
