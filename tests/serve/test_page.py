"""The page in a real browser: every feature, hostile content in every view, the keyboard, two widths, light and dark.

No error reaches the console, nothing is asked of another host, and axe-core finds nothing serious. Screenshots are in
build/screenshots."""

import json
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

if os.environ.get("TWINSIFT_SANITIZED"):
    browser.skip("the page is the same in all builds")
browser.enter()
from frame import JSON, LINES, MAIL, ROOT, SAMPLES, Server, check, end, program, sample, skip_without_server  # noqa: E402

skip_without_server()
from playwright.sync_api import sync_playwright  # noqa: E402

CHROMIUM = browser.chromium()
SHOTS = os.path.join(ROOT, "build", "screenshots")
os.makedirs(SHOTS, exist_ok=True)

# Each would run, load, navigate or change what is around it if it were taken for markup.
ATTACKS = [
    "<script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "\"><svg onload=window.hit=1>",
    "<iframe src=javascript:parent.hit=1></iframe>", "javascript:window.hit=1", "<a href=javascript:hit=1 id=trap>x</a>",
    "<style>*{display:none}</style>", "<base href=http://evil.example/>", "<meta http-equiv=refresh content=0;url=http://evil.example>",
    "'-window.hit-'", "${window.hit=1}", "{{constructor.constructor('hit=1')()}}", "<math><mtext><img src=http://evil.example/x>",
    "</textarea><script>window.hit=1</script>", "<form id=x action=http://evil.example><input name=attributes>",
    "&lt;script&gt;hit=1&lt;/script&gt;", "__proto__", "constructor",
]
UNSEEN = {"\u202e": "U+202E", "\u200b": "U+200B", "\u2066": "U+2066", "\u00ad": "U+00AD", "\ufeff": "U+FEFF"}


def is_clean(page, where):
    check(page.evaluate("window.hit === undefined"), f"{where}: something ran")
    check(page.evaluate("document.querySelectorAll('main script, main img, main iframe, main base, main style, main form').length") == 0,
          f"{where}: markup of strangers became elements")
    check(page.evaluate("getComputedStyle(document.body).display") != "none", f"{where}: a style of strangers holds")


def settled(page):
    page.wait_for_timeout(150)
    until(page, lambda: page.locator("[aria-busy]").count() == 0)


def until(page, condition):
    """The page's policy forbids the browser to evaluate what Playwright would wait for."""
    for _ in range(1200):
        if condition():
            return
        page.wait_for_timeout(50)
    check(False, "waited in vain")


def open_view(page, name):
    page.click(f'nav a[href="#{name}"]')
    settled(page)


def try_messages(page, server):
    open_view(page, "mail")
    page.select_option("select[aria-label='An example']", "A prize")
    page.wait_for_selector(".verdict")
    settled(page)
    check("spam" in page.inner_text(".verdict"), "the prize is spam")
    check(page.locator(".evidence .bar").count() >= 3, "there are bars")
    before = server.get("/v1/mail").json["messages"]
    page.click("button:text-is('Spam')")
    page.wait_for_selector("[role=status]:has-text('Learnt as')")
    check(server.get("/v1/mail").json["messages"] == before + 1, "the button learns")
    page.click("button:text-is('Undo')")
    page.wait_for_selector("[role=status]:has-text('Forgotten')")
    check(server.get("/v1/mail").json["messages"] == before, "undo forgets")
    page.click("button:text-is('Not spam')")
    page.wait_for_selector("[role=status]:has-text('Corrected to ham')")
    check("good" in page.inner_text(".verdict"), "a correction turns the verdict")
    page.click("button:text-is('Spam')")
    page.wait_for_selector("[role=status]:has-text('Corrected to spam')")
    page.fill("#message", page.input_value("#message") + " and more")
    page.click("button:text-is('Undo')")
    page.wait_for_selector("[role=status]:has-text('Learnt as ham again')")
    check(server.get("/v1/mail").json["messages"] == before + 1, "undo learns again what was learnt before")
    page.select_option("select[aria-label='An example']", "A parcel")
    page.select_option("select[aria-label='An example']", "A prize")
    until(page, lambda: "good" in page.inner_text(".verdict"))
    page.fill("#message", "Subject: plain\n\nonly a few words")
    page.keyboard.press("Control+Enter")
    settled(page)
    page.fill("[aria-label='Another label']", "club")
    page.click("button:text-is('Learn under this label')")
    page.wait_for_selector("[role=status]:has-text('club')")
    page.fill("#message", sample("mail", "ham", "01-rowing-club.eml").decode().replace("blue boat", "green boat"))
    page.click("button:text-is('Check')")
    page.wait_for_selector(".beside del:has-text('blue')")
    check("green" in page.inner_text(".beside ins"), "the differences are marked")
    page.set_input_files("input[type=file]", os.path.join(SAMPLES, "mail", "friend.eml"))
    settled(page)
    check("Subject" in page.input_value("#message"), "a file is read")


def attack_mail(page, server):
    for i, attack in enumerate(ATTACKS):
        message = (f"From: \"{attack}\" <a{i}@x.example>\nSubject: {attack}\nMessage-ID: <x{i}@x>\nX-Mailer: {attack}\n\n"
                   f"{attack} {''.join(UNSEEN)} {attack} some words that are always here {i}\n")
        server.post("/v1/mail/learn?label=spam", message.encode(), MAIL, token=True)
        page.fill("#message", message)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".verdict")
        settled(page)
        is_clean(page, f"mail, {attack}")
    text = page.inner_text("main")
    check(all(name in text for name in UNSEEN.values()), "what cannot be seen is shown by its number")


def find(page):
    open_view(page, "find")
    page.select_option("#index", "articles")
    page.fill("input[list=documents]", "news/lighthouse.txt")
    page.press("input[list=documents]", "Enter")
    page.wait_for_selector("#matches tbody tr:nth-child(3)")
    page.click("#matches tbody tr:nth-child(2) button")
    page.wait_for_selector(".beside del")
    settled(page)
    check("old-site/lighthouse.txt" in page.inner_text("#matches"), "its near-duplicates")
    check("Its group" in page.inner_text("#matches"), "its group")
    page.set_input_files("#files", os.path.join(SAMPLES, "articles.jsonl"))
    page.wait_for_selector("#pairs table")
    told = len(program("pairs", os.path.join(SAMPLES, "articles.jsonl")).splitlines())
    check(page.inner_text("#pairs h3").startswith(f"{told} pairs"), f"{told} pairs of a file: {page.inner_text('#pairs h3')}")
    column = "#pairs tbody td:nth-child(3)"
    first = page.locator(column).all_inner_texts()
    page.click("#pairs th:nth-child(3) button")
    check(page.locator(column).all_inner_texts() == sorted(first) and first != sorted(first), "the table can be sorted")
    check(page.inner_text("#pairs .command") == "twinsift pairs --threshold 0.8 articles.jsonl", "the command that does the same")
    page.set_input_files("#folder", os.path.join(SAMPLES, "articles"))
    until(page, lambda: "of 36 documents" in page.inner_text("#pairs"))
    told = [line.split("\t") for line in program("pairs", os.path.join(SAMPLES, "articles")).splitlines()]
    got = [row.split("\t") for row in page.locator("#pairs tbody tr").all_inner_texts()]
    check(sorted(got) == sorted(told), f"the pairs of a folder are the command's: {got[:3]} {told[:3]}")
    check(page.inner_text("#pairs .command") == "twinsift pairs --threshold 0.8 articles", "and for a folder")
    text = sample("articles", "news", "lighthouse.txt").decode()
    page.set_input_files("#files", [{"name": name, "mimeType": "text/plain", "buffer": body.encode()} for name, body in {
        "a.txt": text, "it's b.md": text + " b", "c.csv": f"id,text\n1,{text}\n", "d.bin": "a\0b", "e.jsonl":
        json.dumps({"text": text + " e"}) + "\nbad\n" + json.dumps({"id": "a.txt", "text": text}) + "\n"}.items()])
    until(page, lambda: "of 3 documents" in page.inner_text("#pairs"))
    check("Left out, as not a document or only for the command line: c.csv, d.bin, e.jsonl:2, e.jsonl:3." in page.inner_text("#pairs"),
          f"what is left out is named: {page.inner_text('#pairs')[:300]}")
    check("e.jsonl:1" in page.inner_text("#pairs tbody"), "a line without an id has its place")
    check(page.inner_text("#pairs .command") == "twinsift pairs --threshold 0.8 a.txt 'it'\\''s b.md' c.csv d.bin e.jsonl", "files are named, and quoted")
    page.locator("#find-folder").evaluate("""(box) => {
        const dropped = new DataTransfer();
        dropped.items.add(new File(['{"id":1,"text":"a text that is dropped on the page"}\\n{"id":2,"text":"A text that is dropped on the page"}\\n'], "it's.jsonl"));
        box.dispatchEvent(new DragEvent('drop', {dataTransfer: dropped, bubbles: true, cancelable: true}));
    }""")
    until(page, lambda: "1 pair in 1 group, of 2 documents" in page.inner_text("#pairs"))
    check(page.inner_text("#pairs .command").endswith("'it'\\''s.jsonl'"), f"names are quoted: {page.inner_text('#pairs .command')}")


def attack_index(page, server):
    body = "".join(json.dumps({"id": attack, "text": "hostile words of one kind " * 3 + attack + "".join(UNSEEN)}) + "\n" for attack in ATTACKS)
    check(server.post("/v1/indexes/articles/documents", body, LINES, token=True).lines[-1]["added"] == len(ATTACKS), "attacks are added")
    open_view(page, "overview")
    open_view(page, "find")
    page.fill("#query", "hostile words of one kind " * 3 + ATTACKS[0])
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#matches tbody tr")
    settled(page)
    is_clean(page, "matches")
    for row in range(1, 1 + min(5, page.locator("#matches tbody tr").count())):
        page.click(f"#matches tbody tr:nth-child({row}) button")
        settled(page)
        is_clean(page, "side by side")
    names = [{"name": urllib.parse.quote(attack, safe="<> =()'\"{}$;&-_")[:60].replace("/", "") + ".txt", "mimeType": "text/plain",
              "buffer": sample("articles", "news", "lighthouse.txt") + attack.encode()} for attack in ATTACKS]
    page.set_input_files("#files", names)
    until(page, lambda: f"of {len(names)} documents" in page.inner_text("#pairs"))
    check(page.locator("#pairs tbody tr").count() > 100, "hostile names are in the table")
    check("onerror" in page.inner_text("#pairs"), "as they are")
    is_clean(page, "pairs of files")
    for attack in ATTACKS:
        server.request("DELETE", "/v1/indexes/articles/documents/" + urllib.parse.quote(attack, safe=""), token=True)


def method(page):
    open_view(page, "method")
    page.wait_for_selector("#steps .slot")
    settled(page)
    answer = page.evaluate("""async () => (await (await fetch('/v1/compare', {method: 'POST', headers: {'Content-Type': 'application/json'},
        body: JSON.stringify({a: first.value, b: second.value, shingle: 'char:5'})})).json()).jaccard""")
    check(f"{100 * answer:.1f} %" in page.inner_text("#steps"), "the similarity is the library's")
    page.click(".slot.equal >> nth=0")
    check(page.locator(".chip.lit").count() == 2, "a slot shows its shingles")
    page.fill("#second", page.input_value("#first"))
    until(page, lambda: "100.0 %" in page.inner_text("#steps"))
    settled(page)
    check(page.locator(".band:not(.match)").count() == 0, "equal texts agree in all bands")
    for attack in ATTACKS:
        page.fill("#first", attack)
        page.fill("#added", attack)
        page.fill("#asked", attack)
        page.fill("#left", attack)
        page.wait_for_timeout(260)
        settled(page)
        is_clean(page, f"method, {attack}")
    page.fill("#first", "one text")
    check("may be in the filter" in page.inner_text("#bloom"), "a word that was added")
    page.fill("#asked", "surely another word")
    until(page, lambda: "certainly not" in page.inner_text("#bloom"))
    slider = page.locator("#curve").locator("xpath=..").locator("input[type=range]").first
    command = page.inner_text("#curve .command")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(200)
    settled(page)
    check(page.inner_text("#curve .command") != command, "the slider moves the curve, by the keyboard")
    page.fill("#left", "kitten")
    page.fill("#right", "sitting")
    until(page, lambda: page.inner_text("#edit strong >> nth=0") == "3")


def keyboard(page):
    page.goto(page.url.split("#")[0] + "#mail")
    page.reload()
    settled(page)
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("(document.activeElement.innerText || document.activeElement.id || document.activeElement.tagName).trim()"))
    for wanted in ("Skip to the content", "Try a message", "Overview", "message", "Check"):
        check(wanted in seen, f"the keyboard reaches {wanted}: {seen}")
    focused = lambda: page.evaluate("document.activeElement.innerText")  # noqa: E731
    page.focus("#message")
    page.keyboard.type("Subject: by keyboard\n\nwords that come from the keyboard alone")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".verdict")
    settled(page)
    for wanted, then in (("Spam", "Learnt as spam."), ("Undo", "Forgotten:")):
        for _ in range(12):
            if focused() == wanted:
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"[role=status]:has-text('{then}')")
        settled(page)
        check("Undo" == focused() if wanted == "Spam" else focused().startswith(then), f"after {wanted} the keyboard goes on from there: {focused()}")
    page.click('nav a[href="#find"]')
    page.focus("input[list=documents]")
    page.keyboard.type("news/lighthouse.txt")
    page.keyboard.press("Tab")
    page.wait_for_selector("#matches tbody tr")
    settled(page)
    page.focus("#matches tbody tr:nth-child(2) button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".beside del")


def look(chrome, server, problems):
    from axe_playwright_python.sync_playwright import Axe
    for scheme in "light", "dark":
        for width in 1280, 390:
            context = chrome.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
            page = context.new_page()
            page.goto(server.link)
            page.select_option("select[aria-label='An example']", "A prize")
            page.wait_for_selector(".verdict")
            for name in "mail", "find", "method", "overview":
                open_view(page, name)
                page.wait_for_timeout(400)
                settled(page)
                page.screenshot(path=os.path.join(SHOTS, f"{name}-{scheme}-{width}.png"), full_page=True)
                check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} fits {width}")
                found = Axe().run(page).response["violations"]
                for one in found:
                    if one["impact"] in ("serious", "critical"):
                        check(False, f"axe, {name} {scheme} {width}: {one['id']}: {one['nodes'][0]['html'][:160]}")
            context.close()


with Server("--demo") as server, sync_playwright() as playwright:
    chrome = playwright.chromium.launch(executable_path=CHROMIUM, args=browser.FLAGS)
    page = chrome.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(120000)
    problems = []
    page.on("console", lambda message: problems.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: None if urllib.parse.urlsplit(request.url).netloc == f"127.0.0.1:{server.port}"
            or request.url.startswith(("blob:", "data:")) else problems.append("asked of " + request.url))
    page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
    page.goto(server.link)
    check("token" not in page.url, "the token leaves the address")
    for part in (lambda: try_messages(page, server), lambda: attack_mail(page, server), lambda: find(page),
                 lambda: attack_index(page, server), lambda: method(page), lambda: keyboard(page)):
        part()
    check(not problems, f"the console is silent, and no other host is asked: {problems[:5]}")
    look(chrome, server, problems)
    chrome.close()
end()
