"""compose.py TARGET: the pages of the site, from the documents of the project and the headers of the library.

The documents are written for people who read them in the tree, in CommonMark; mkdocs reads a stricter kind of Markdown,
and has no files around. So lists get the blank lines and indents that it wants, links to documents lead to their pages,
and links to other files become plain text."""

import os
import re
import shutil
import sys

import api

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = sys.argv[1]
GUIDES = [("Coming from other tools", "coming-from"), ("Collections larger than memory", "scale"), ("Mail", "mail"), ("Mail servers", "mail-servers"),
          ("The server", "serve"), ("Python", "python")]
METHOD = [("How pairs are found", "join"), ("What dedup does", "dedup"), ("Formats of files", "format"), ("Glossary", "glossary"),
          ("Literature", "references"), ("Architecture", "architecture")]
LAB = [("MinHash, LSH, Bloom filters", "lab"), ("Edit distance", "lab-edit"), ("Mail", "lab-mail")]


def listed(folder, pattern):
    return sorted(name for name in os.listdir(os.path.join(ROOT, folder)) if re.fullmatch(pattern, name))


def pages():
    """Where each document goes: its path in the tree, and in the site."""
    found = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "bench/README.md": "benchmarks.md", "include/twinsift": "api/index.md",
             "docs/decisions": "decisions/README.md"}
    for name in listed("docs", r".*\.md"):
        page = re.sub(r"\.1\.md$", ".md", name)
        found["docs/" + name] = ("manual/" if name.endswith(".1.md") else "guides/") + page
    for folder in "decisions", "decisions/archive":
        for name in listed("docs/" + folder, r".*\.md"):
            found[f"docs/{folder}/{name}"] = f"{folder}/{name}"
    for name in "CONTRIBUTING.md", "SECURITY.md":
        if os.path.exists(os.path.join(ROOT, name)):
            found[name] = name.lower()
    return found


PAGES = pages()


def copied(path):
    """Copies a file that a document shows or offers; its path in the site."""
    target = os.path.join(TARGET, "files", path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(os.path.join(ROOT, path), target)
    return "files/" + path


def linked(text, path):
    """Links of the document `path` lead to pages of the site."""
    here = os.path.dirname(PAGES[path])

    def one(match):
        mark, label, target = match[1], match[2], match[3]
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not file:
            return match[0]
        file = os.path.normpath(os.path.join(os.path.dirname(path), file))
        if file in PAGES:
            page = PAGES[file]
        elif mark or file.endswith((".yaml", ".json")):
            page = copied(file)
        else:
            return f"`{file}`" if label == file else label
        return f"{mark}[{label}]({os.path.relpath(page, here or '.')}{'#' + anchor if anchor else ''})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", one, text)


ITEM = re.compile(r"( *)([-*]|\d+\.) +")


def strict(text):
    """Lists as mkdocs wants them: a blank line before, and what belongs to an item indented by four."""
    out, fenced, in_list = [], False, False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        item = None if fenced else ITEM.match(line)
        if item and out and out[-1].strip() and not in_list:
            out.append("")
        if item:
            line = " " * (4 if item[1] else 0) + line[len(item[1]):]
            in_list = True
        elif in_list and re.match(r" {2,3}\S", line):
            line = "    " + line.strip()
        elif in_list and line.strip() and not line.startswith(" "):
            in_list = False
        out.append(line)
    return "\n".join(out)


def manual(text):
    """A manual page: its head becomes the title, and its sections are below that."""
    head, _, body = text.partition("\n\n")
    title = re.search(r"title: (.*)", head)[1].lower()
    body = re.sub(r"^(#+ )(.*)$", lambda match: "#" + match[1] + (match[2].capitalize() if match[1] == "# " else match[2]), body, flags=re.M)
    body = re.sub(r"\*\*(twinsift(?:-\w+)?)\*\*\(1\)", lambda match: f"[**{match[1]}**(1)]({match[1]}.md)" if match[1] != title else match[0], body)
    return f"# {title}(1)\n\n{body}"


def searched(page):
    """The head of a page, from which the search knows what comes first: the manual, the guides, then reasons and records.
    What was replaced is not found at all."""
    if page.startswith("decisions/archive/"):
        wish = "exclude: true"
    elif page.startswith("manual/"):
        wish = "boost: 10"
    else:
        wish = f"boost: {0.001 if page.startswith('decisions/') or page in ('benchmarks.md', 'changelog.md') else 1}"
    return f"---\nsearch:\n  {wish}\n---\n\n"


def write(page, text):
    target = os.path.join(TARGET, page)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


def compose():
    for path, page in PAGES.items():
        if not os.path.isfile(os.path.join(ROOT, path)):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        text = manual(text) if path.endswith(".1.md") else text
        write(page, searched(page) + strict(linked(text, path)))


def nav():
    """The order of the pages, as lines of YAML."""
    commands = [name.removesuffix(".1.md") for name in listed("docs", r".*\.1\.md")]
    told = {name for _, name in GUIDES + METHOD + LAB}
    others = [name.removesuffix(".md") for name in listed("docs", r".*\.md") if not name.endswith(".1.md")]
    more = [(name.replace("-", " ").capitalize(), name) for name in others if name not in told]
    yield "- Start: [index.md, " + ", ".join(page for page in ("changelog.md", "contributing.md", "security.md") if page in PAGES.values()) + "]"
    yield "- Guides:"
    yield from (f"  - {title}: guides/{name}.md" for title, name in GUIDES + more)
    yield "- Manual:"
    yield from (f"  - {name}: manual/{name}.md" for name in sorted(commands, key=lambda name: (name != "twinsift", name)))
    yield "- Method:"
    yield "  - See how it works: method/index.html"
    yield from (f"  - {title}: guides/{name}.md" for title, name in METHOD)
    yield "- Results:"
    yield "  - Benchmarks: benchmarks.md"
    yield from (f"  - {title}: guides/{name}.md" for title, name in LAB)
    if os.path.exists(os.path.join(TARGET, "lab", "report.html")):
        yield "  - Report of the lab, with plots: lab/report.html"
    yield "- C API:"
    yield "  - api/index.md"
    yield from (f"  - {name}.h: api/{name}.h.md" for name in api.modules())
    yield "- Decisions:"
    yield "  - decisions/README.md"
    yield from (f"  - decisions/{name}" for name in listed("docs/decisions", r"\d.*\.md"))
    archive = [f"    - decisions/archive/{name}" for name in listed("docs/decisions/archive", r".*\.md")]
    if archive:
        yield "  - Replaced:"
        yield from archive


compose()
for page_, text_ in api.pages():
    write("api/" + page_, text_)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mkdocs.yml"), encoding="utf-8") as file_:
    settings = file_.read()
write("../mkdocs.yml", settings.replace("../../build/site/", "") + "nav:\n" + "".join(f"  {line}\n" for line in nav()))
