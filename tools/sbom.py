"""sbom.py VERSION LIST...: prints what is compiled into wheels and static programs, as a bill of materials in CycloneDX."""
import fileinput
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


lines = [line for line in fileinput.input(sys.argv[2:], encoding="utf-8") if line.strip() and not line.startswith("#")]
subject = {
    "type": "application",
    "bom-ref": "twinsift",
    "name": "twinsift",
    "version": sys.argv[1],
    "licenses": [{"license": {"id": "Apache-2.0"}}],
}
print(json.dumps({
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": subject},
    "components": list(map(component, lines)),
}, indent=2))
