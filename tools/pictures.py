"""pictures.py: draws the pictures of README, docs/show.svg, docs/report.png and docs/page.png, from samples/, by the program in
build/release (or $TWINSIFT) and Debian's Chromium."""

import html
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["TWINSIFT_ROOT"] = ROOT
os.environ.setdefault("TWINSIFT", os.path.join(ROOT, "build", "release", "twinsift"))
sys.path.insert(0, os.path.join(ROOT, "tests", "serve"))
import browser  # noqa: E402

browser.enter()
from frame import PROGRAM, Server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

DOCS = os.path.join(ROOT, "docs")
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "9": None, "1": None}


def styled(codes):
    style = "".join(f"fill:{COLOURS[code]};" for code in codes if COLOURS.get(code))
    return style + ("text-decoration:line-through;" if "9" in codes else "") + ("font-weight:bold;" if "1" in codes else "")


def line_of(text, x, y):
    """A line of a terminal: each run of one style at its column, so that fonts of other widths do no harm."""
    out, column, style = [], 0, ""
    for part in re.split(r"(\x1b\[[\d;]*m)", text):
        if part.startswith("\x1b"):
            style = styled(part[2:-1].split(";"))
            continue
        if part.strip():
            out.append(f'<text x="{x + 8.4 * column:.1f}" y="{y}" textLength="{8.4 * len(part):.1f}"{f" style={chr(34)}{style}{chr(34)}" if style else ""}>'
                       f"{html.escape(part, quote=False).replace(' ', chr(160))}</text>")
        column += len(part)
    return "".join(out)


def show():
    command = "twinsift show --context 4 news/lighthouse.txt old-site/lighthouse.txt samples/articles"
    said = subprocess.run([PROGRAM, *command.split()[1:], "--width", "88", "--color", "always"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = ["$ " + command, ""] + said.rstrip().split("\n")
    height = 20 * len(lines) + 32
    body = "\n".join(line_of(line, 20, 34 + 20 * i) for i, line in enumerate(lines))
    with open(os.path.join(DOCS, "show.svg"), "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" width="780" height="{height}" role="img">\n'
                   f"<title>{html.escape(command)}</title>\n"
                   f'<rect width="780" height="{height}" rx="8" fill="#161b22"/>\n'
                   '<g font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="14" fill="#e6edf3" xml:space="preserve">\n' + body + "\n</g>\n</svg>\n")


def shoot(chrome, address, name, width, height, prepare):
    page = chrome.new_context(viewport={"width": width, "height": height}, color_scheme="light").new_page()
    page.goto(address)
    prepare(page)
    page.wait_for_timeout(700)
    page.screenshot(path=os.path.join(DOCS, name))
    page.close()


def plots(page):
    page.locator("h2:has-text('Similarities')").evaluate("element => element.scrollIntoView()")


def prize(page):
    page.select_option("select[aria-label='An example']", "A prize")
    page.wait_for_selector(".verdict")


show()
with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
    os.chdir(folder)
    os.symlink(os.path.join(ROOT, "samples"), "samples")
    subprocess.run([PROGRAM, "dedup", "--quiet", "--dry-run", "--report", "report.html", "samples/articles"], check=True)
    with Server("--demo") as server:
        chrome = playwright.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS)
        shoot(chrome, f"file://{folder}/report.html", "report.png", 960, 1000, plots)
        shoot(chrome, server.link, "page.png", 960, 900, prize)
        chrome.close()
