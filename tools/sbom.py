"""sbom.py LIST: prints the bill of materials of a wheel, in CycloneDX, from the list of what is compiled in."""
import json
import sys


def component(line):
    name, version, licence, digest, path = line.split()
    return {
        "type": "library",
        "name": name,
        "version": version,
        "licenses": [{"license": {"id": licence}}],
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "purl": f"pkg:deb/debian/{name}@{version}?arch=source",
        "properties": [{"name": "path in the pool of a Debian archive", "value": path}],
    }


with open(sys.argv[1], encoding="utf-8") as file:
    lines = [line for line in file if line.strip() and not line.startswith("#")]
print(json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": list(map(component, lines))}, indent=2))
