"""The reference of the library, from its headers: they are written as the manual, so that they only have to be divided."""

import glob
import html
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = sorted(glob.glob(os.path.join(ROOT, "include", "twinsift", "*.h")))


def modules():
    return [os.path.basename(path).removesuffix(".h") for path in HEADERS if not path.endswith("twinsift.h")]


def comment_lines(block):
    """The text of a comment, without its marks."""
    inner = block.strip().removeprefix("/*").removesuffix("*/")
    lines = [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in inner.split("\n")]
    return "\n".join(lines).strip("\n ")


def blocks(text):
    """Comments that stand alone, and declarations, in their order: (comment, code)."""
    body = text[text.index("*/") + 2:]
    body = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", body, flags=re.S)
    body = re.sub(r"^#(ifndef TWINSIFT_\w+_H|define TWINSIFT_\w+_H|include .*|endif)$", "", body, flags=re.M)
    comment = ""
    for part in re.split(r"\n{2,}", body.strip()):
        while part.strip():
            part = part.strip("\n")
            found = re.match(r"/\*.*?\*/\n?", part, re.S) if part.startswith("/*") else None
            if found and "\n" not in part[found.end():].strip("\n") and not part[found.end():].strip():
                yield comment_lines(found[0]), ""
                break
            if found:
                comment, part = comment_lines(found[0]), part[found.end():]
            code, rest = declaration(part)
            yield comment, code
            comment, part = "", rest


def declaration(part):
    """What stands before the next comment at the margin, and from there on. A struct may have blank lines inside."""
    following = re.search(r"\n(?=/\*)", part)
    return (part[:following.start()], part[following.start():]) if following else (part, "")


def joined(found):
    """Declarations that blank lines cut in two are one."""
    open_comment, open_code = "", ""
    for comment, code in found:
        if open_code:
            open_code += "\n\n" + (f"/* {comment} */\n" if comment else "") + code
        else:
            open_comment, open_code = comment, code
        if open_code.count("{") == open_code.count("}"):
            yield open_comment, open_code
            open_comment, open_code = "", ""


def names(code):
    functions = re.findall(r"TWIN_API[^;(]*?\b\*?(twin_\w+)\(", code)
    types = re.findall(r"^\}? ?(?:typedef [^{};]*?)?\b(twin_\w+);", code, re.M)
    callbacks = re.findall(r"typedef [\w *]+?\(?\*?(twin_\w+)\)?\(", code)
    constants = re.findall(r"#define (TWIN_\w+)", code)
    return list(dict.fromkeys(functions + callbacks + types + constants))


def prose(text, where, known):
    """A comment as Markdown: names of the library become links, drawings stay as they are drawn."""
    out = []
    for paragraph in re.split(r"\n\n", text):
        lines = paragraph.split("\n")
        if all(line.startswith("    ") for line in lines):
            out.append(paragraph)
            continue
        plain = html.escape(paragraph, quote=False)
        plain = re.sub(r"([*_\[\]\\|])", r"\\\1", plain)
        plain = re.sub(r"`([^`]*)`", lambda match: "`" + html.unescape(match[1].replace("\\", "")) + "`", plain)

        def link(match):
            name = match[0].replace("\\", "").removesuffix("()")
            if name not in known:
                return "`" + match[0].replace("\\", "") + "`"
            page = "" if known[name] == where else known[name] + ".h.md"
            return f"[`{name}`]({page}#{name})"

        plain = re.sub(r"(?<!`)\b(twin|TWIN)\\_[\w\\]+(\(\))?(?!`)", link, plain)
        out.append(plain)
    return "\n\n".join(out)


def read():
    """All modules: title, introduction, blocks; and in which module a name is declared."""
    known, found = {}, {}
    for name in modules():
        with open(os.path.join(ROOT, "include", "twinsift", name + ".h"), encoding="utf-8") as file:
            text = file.read()
        head = comment_lines(text[:text.index("*/") + 2])
        title, _, intro = head.partition("\n")
        parts = [(comment, code.strip("\n")) for comment, code in joined(blocks(text))]
        for _, code in parts:
            for one in names(code):
                known.setdefault(one, name)
        found[name] = (title.partition(" — ")[2], intro.strip("\n"), parts)
    return known, found


def pages():
    known, found = read()
    table = "".join(f"| [{name}.h]({name}.h.md) | {prose(title, name, {})} |\n" for name, (title, _, _) in found.items())
    yield "index.md", ("# The C library\n\n`#include <twinsift/twinsift.h>` has all of it; each header also stands alone. These pages are the headers.\n\n"
                       "| header | what it declares |\n| --- | --- |\n" + table + "\n")
    for name, (title, intro, parts) in found.items():
        text = [f"# {name}.h", prose(title[:1].upper() + title[1:], name, known), prose(intro, name, known)]
        seen = set()
        for comment, code in parts:
            titles = [one for one in names(code) if known[one] == name and one not in seen]
            seen.update(titles)
            if titles:
                text.append(f"### {', '.join(one.replace('_', chr(92) + '_') for one in titles)} {{ #{titles[0]} }}")
                text += [f'<a id="{one}"></a>' for one in titles[1:]]
            text.append(prose(comment, name, known))
            if code:
                text.append("```c\n" + code + "\n```")
        yield name + ".h.md", "\n\n".join(part for part in text if part) + "\n"
