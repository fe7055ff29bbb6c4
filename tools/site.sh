#!/usr/bin/env bash
# site.sh: builds build/site/html, the documentation as pages with search: guides, manual pages, the reference of the
# library from its headers, formats, benchmarks, the lab's report with its plots, and the page "See how it works", which
# needs no server. mkdocs-material comes from PyPI once; after that nothing is fetched. All links are checked.
# The report is that of `make lab`, if it was made; else a quick one, of what data sets there are.
set -euo pipefail
cd "$(dirname "$0")/.."
site=$PWD/build/site

. tools/python.bash
make_venv site mkdocs-material
tools/wasm.sh
report=build/lab
if [ ! -e "$report/report.html" ]; then
    report=$site/lab
    [ -e "$report/report.html" ] || build/release/twinsift-lab all --quick --out "$report" --report >"$site/lab.log" ||
        echo "site: an experiment failed; see $site/lab.log" >&2
fi

rm -rf "$site/source"
mkdir -p "$site/source/lab"
cp -r build/wasm/site "$site/source/method"
cp "$report/report.html" "$site/source/lab"
cp serve/page/icon.svg tools/site/site.css "$site/source"
PYTHONDONTWRITEBYTECODE=1 build/python/site/bin/python tools/site/compose.py "$site/source"
NO_MKDOCS_2_WARNING=1 build/python/site/bin/mkdocs build --quiet --strict -f "$site/mkdocs.yml"
python3 tools/site/check_links.py "$site/html"
echo "$site/html/index.html: $(du -sh "$site/html" | cut -f1)"
