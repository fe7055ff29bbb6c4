"""docs/openapi.yaml describes the server: its examples are sent, the answers are as it says, and no route is left out."""

import json
import os
import re
import sys

from frame import ROOT, Server, check, end, program, skip_without_server

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

skip_without_server()
with open(os.path.join(ROOT, "docs", "openapi.yaml"), encoding="utf-8") as file:
    DOCUMENT = yaml.safe_load(file)
WORDS = {"type", "description", "required", "properties", "items", "enum", "nullable"}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}


def resolved(part):
    while isinstance(part, dict) and "$ref" in part:
        found = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        part = found
    return part


def fits(value, schema, where):
    """Reports what of the value is not as the schema says. Fields that it does not list are mistakes of the schema."""
    schema = resolved(schema)
    check(set(schema) <= WORDS, f"the schema of {where} has what is no word of OpenAPI: {set(schema) - WORDS}")
    if value is None:
        check(schema.get("nullable") or not schema, f"{where} is null")
        return
    kind = schema.get("type")
    if kind and not check(isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool), f"{where} is {value!r:.60}, not {kind}"):
        return
    check("enum" not in schema or value in schema["enum"], f"{where} is {value!r}")
    for name in schema.get("required", []):
        check(name in value, f"{where} lacks {name}")
    if "properties" in schema:
        for name, inner in value.items():
            if check(name in schema["properties"], f"{where}.{name} is not described"):
                fits(inner, schema["properties"][name], f"{where}.{name}")
    for inner in value if kind == "array" else []:
        fits(inner, schema.get("items", {}), where + "[]")


def try_operation(server, method, path, operation):
    parameters = [resolved(one) for one in operation.get("parameters", [])]
    query = "&".join(f"{one['name']}={one['example']}" for one in parameters if one["in"] == "query" and "example" in one)
    for one in parameters:
        path = path.replace("{" + one["name"] + "}", str(one.get("example")))
    for kind, content in (operation.get("requestBody", {}).get("content") or {None: {}}).items():
        body = content.get("example")
        body = json.dumps(body) if isinstance(body, dict) else body
        where = f"{method.upper()} {path} {kind or ''}"
        target = path + ("?" + query if query else "")
        if operation.get("security"):
            refusal = server.request(method.upper(), target, body, kind)
            check(refusal.status == 401, f"{where} without the token: {refusal.status}")
            fits(refusal.json, DOCUMENT["components"]["schemas"]["Error"], where)
        answer = server.request(method.upper(), target, body, kind, token=True)
        if not check(answer.status == 200, f"{where}: {answer.status} {answer.body[:200]}"):
            continue
        got = answer.headers["Content-Type"].split(";")[0]
        contents = operation["responses"]["200"]["content"]
        if check(got in contents, f"{where} is answered by {got}") and "schema" in contents[got]:
            for value in answer.lines if got == "application/x-ndjson" else [answer.json]:
                fits(value, contents[got]["schema"], where)


with open(os.path.join(ROOT, "serve", "routes.c"), encoding="utf-8") as file:
    ROUTES = re.findall(r'\.method = "(\w+)",\s*\.path = "([^"]+)"', file.read())
described = {(method.upper(), re.sub(r"\{\w+\}", "*", path)) for path, methods in DOCUMENT["paths"].items() for method in methods}
served = {(method, path.replace("**", "*")) for method, path in ROUTES if path != "/page/*"}
check(described == served, f"described or served only: {described ^ served}")

program("index", "create", "news.twin", "--keep", "text")
with Server("--model", "mail.twin", "--index", "news.twin") as running:
    for path_, methods_ in DOCUMENT["paths"].items():
        for method_, operation_ in methods_.items():
            try_operation(running, method_, path_, operation_)
end()
