"""check_links.py FOLDER: every link of the pages below it leads to a file and to a place in it that are there, and no page
loads anything from elsewhere."""

import html.parser
import os
import sys
import urllib.parse

FOLDER = os.path.abspath(sys.argv[1])
LOADS = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
NOT_LOADED = {"canonical", "next", "prev"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.places = [], [], {"", "top"}
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.update(given[name] for name in ("id", "name") if given.get(name))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADS.get(tag)) and given.get("rel") not in NOT_LOADED:
            self.loads.append(given[LOADS[tag]])


def pages():
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                yield path, Page(path)


def problems(path, page, known):
    for link in page.links + page.loads:
        target = urllib.parse.urlsplit(link)
        if target.scheme or target.netloc:
            if link in page.loads and target.scheme != "data":
                yield "loads " + link
            continue
        if target.path.startswith("/") or path.endswith("/404.html"):
            continue # only the page of what is not there knows where the site is
        to = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target.path))) if target.path else path
        to = os.path.join(to, "index.html") if os.path.isdir(to) else to
        if not os.path.exists(to):
            yield "leads nowhere: " + link
        elif to in known and urllib.parse.unquote(target.fragment) not in known[to].places:
            yield "leads to no place: " + link


known_ = dict(pages())
found_ = [f"{os.path.relpath(path, FOLDER)}: {one}" for path, page in known_.items() for one in problems(path, page, known_)]
print("\n".join(found_[:40]))
print(f"{len(known_)} pages, {sum(len(page.links) for page in known_.values())} links, {len(found_)} of them wrong")
sys.exit(1 if found_ else 0)
