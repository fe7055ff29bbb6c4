"""The page "See how it works" without a server, in a real browser: a folder of files, which tools/wasm.sh makes, served as
files are. It shows what the server's page shows, asks nothing of anybody, and hostile texts stay texts."""

import functools
import http.server
import os
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

if os.environ.get("TWINSIFT_SANITIZED"):
    browser.skip("the page is the same in all builds")
browser.enter()
import wasm  # noqa: E402
from frame import ROOT, Server, check, end, skip_without_server  # noqa: E402

skip_without_server()
wasm.build()
from playwright.sync_api import sync_playwright  # noqa: E402

CHROMIUM = browser.chromium()
SHOTS = os.path.join(ROOT, "build", "screenshots")
os.makedirs(SHOTS, exist_ok=True)
ATTACKS = ["<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>", "\u202eabc\u200b"]
PARTS = ["#steps", "#curve", "#bloom", "#edit"]


class Files(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html", ".css": "text/css", ".svg": "image/svg+xml"}
    asked = []

    def log_message(self, format, *values):
        Files.asked.append(self.path)


def settled(page):
    page.wait_for_timeout(400)
    for _ in range(1200):
        if page.locator("[aria-busy]").count() == 0 and page.locator("#steps .slot").count():
            return
        page.wait_for_timeout(50)
    check(False, "waited in vain")


def fill(page, first, second, words, left):
    page.fill("#first", first)
    page.fill("#second", second)
    page.fill("#added", words)
    page.fill("#left", left)
    settled(page)


def same_as_server(page, other):
    for texts in (None, ("Ein Satz \u00fcber Z\u00fcge.", "Ein Satz \u00fcber die Z\u00fcge.", "one\ntwo", "kitten"),
                  ("\u65e5\u672c\u8a9e\u306e\u6587\u7ae0", "\u65e5\u672c\u8a9e\u306e\u9577\u3044\u6587\u7ae0", "\u00e9", "\U0001F468\u200d\U0001F469")):
        for each in page, other:
            if texts:
                fill(each, *texts)
            settled(each)
        for part in PARTS:
            check(page.inner_html(part) == other.inner_html(part), f"{part} is as the server's, with {texts}")


def hostile(page):
    for attack in ATTACKS:
        fill(page, attack, attack + " more", attack, attack)
        check(page.evaluate("window.hit === undefined"), f"{attack}: something ran")
        check(page.locator("main script, main img, main iframe").count() == 0, f"{attack}: markup became elements")
    check("U+202E" in page.inner_text("main"), "what cannot be seen is shown by its number")


def look(chrome, address):
    from axe_playwright_python.sync_playwright import Axe
    for scheme in "light", "dark":
        for width in 1280, 390:
            context = chrome.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
            page = context.new_page()
            page.goto(address)
            settled(page)
            page.screenshot(path=os.path.join(SHOTS, f"wasm-{scheme}-{width}.png"), full_page=True)
            check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"it fits {width}")
            for one in Axe().run(page).response["violations"]:
                check(one["impact"] not in ("serious", "critical"), f"axe, {scheme} {width}: {one['id']}: {one['nodes'][0]['html'][:160]}")
            context.close()


files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=wasm.BUILT))
threading.Thread(target=files.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{files.server_port}/index.html"
with Server("--demo") as server, sync_playwright() as playwright:
    chrome = playwright.chromium.launch(executable_path=CHROMIUM, args=browser.FLAGS)
    page, other = chrome.new_page(), chrome.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if urllib.parse.urlsplit(request.url).netloc == f"127.0.0.1:{files.server_port}"
            else problems.append("asked of " + request.url))
    page.goto(address)
    other.goto(server.link)
    other.click('nav a[href="#method"]')
    settled(page)
    loaded = len(Files.asked)
    same_as_server(page, other)
    hostile(page)
    check(len(Files.asked) == loaded, f"once it is loaded nothing is asked: {Files.asked[loaded:]}")
    check(not problems, f"the console is silent, and no other host is asked: {problems[:5]}")
    look(chrome, address)
    chrome.close()
files.shutdown()
end()
