#!/usr/bin/env bash
# bench/serve.sh: requests per second of the server on loopback, with wrk, as shares of what the server does when there is
# nothing to do (GET /healthz) in the same run. Needs wrk. Prints a table for bench/README.md.
#
#   index queries         100,000 generated documents, a text of 2 KB
#   mail checks           a model that has learnt the samples and generated messages
#   beside the worst      the same queries while four clients query a template of 20,000 pages
set -euo pipefail
cd "$(dirname "$0")/.."

program=${TWINSIFT:-$PWD/build/release/twinsift} generate=${TWINSIFT_GENERATE:-$PWD/build/release/twinsift-generate}
seconds=${SECONDS_EACH:-5} documents=${DOCUMENTS:-100000}
command -v wrk >/dev/null || { echo 'serve.sh: wrk is not installed' >&2; exit 2; }
work=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

"$generate" --docs "$documents" >"$work/documents.jsonl"
python3 - "$work" <<'END'
import json, random, sys
rng, work = random.Random(1), sys.argv[1]
words = ["w%d" % i for i in range(4000)]
page = [rng.choice(words) for _ in range(250)]
with open(work + "/template.jsonl", "w") as out:
    for i in range(20000):
        copy = list(page)
        for _ in range(12):
            copy[rng.randrange(250)] = rng.choice(words)
        out.write(json.dumps({"id": "t%d" % i, "text": " ".join(copy)}) + "\n")
        if i == 0:
            open(work + "/worst.txt", "w").write(" ".join(copy))
text = json.loads(open(work + "/documents.jsonl").readline())["text"]
open(work + "/query.txt", "w").write(text)
for name, path in (("query", "query.txt"), ("worst", "worst.txt")):
    body = open(work + "/" + path).read()
    open(work + "/%s.lua" % name, "w").write(
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "text/plain"\nwrk.body = [==[' + body + ']==]\n')
mail = open("samples/mail/ham/04-newsletter-31.eml").read()
open(work + "/mail.lua", "w").write(
    'wrk.method = "POST"\nwrk.headers["Content-Type"] = "message/rfc822"\nwrk.body = [==[' + mail + ']==]\n')
END
"$program" index create "$work/news.twin"
"$program" index add --quiet "$work/news.twin" "$work/documents.jsonl" "$work/template.jsonl"
for label in ham spam; do
    "$program" mail learn --quiet -m "$work/mail.twin" --as $label samples/mail/$label
done

"$program" serve --http 127.0.0.1:0 --model "$work/mail.twin" --index "$work/news.twin" >"$work/link" &
server=$!
while [ ! -s "$work/link" ]; do sleep 0.1; done
address=$(sed 's/#.*//' "$work/link")

# load NAME PATH [SCRIPT [CONNECTIONS]]: prints requests per second.
load()
{
    wrk -t 1 -c "${4:-16}" -d "${seconds}s" ${3:+-s "$work/$3.lua"} "$address$2" >"$work/$1.txt"
    ! grep -q 'Non-2xx' "$work/$1.txt" || echo "serve.sh: $1: $(grep Non-2xx "$work/$1.txt")" >&2
    awk '/^Requests\/sec/ { print $2 }' "$work/$1.txt"
}

row() # NAME RATE
{
    awk -v name="$1" -v rate="$2" -v empty="$empty" 'BEGIN { printf "| %s | %.0f | %.3f |\n", name, rate, rate / empty }'
}

empty=$(load empty healthz)
echo "| $documents documents, 16 connections | requests/s | of empty |"
echo "| --- | ---: | ---: |"
row "GET /healthz" "$empty"
query=$(load query v1/indexes/news/query query 4)
row "index query, 2 KB, 4 connections" "$query"
row "index query, 2 KB" "$(load query16 v1/indexes/news/query query)"
row "mail check" "$(load mail v1/mail/check mail)"
wrk -t 1 -c 4 -d "$((seconds + 2))s" -s "$work/worst.lua" "${address}v1/indexes/news/query" >"$work/worst.txt.out" &
worst=$!
sleep 1
row "index query, 4 connections beside 4 that query the template" "$(load beside v1/indexes/news/query query 4)"
wait $worst
row "  the template meanwhile" "$(awk '/^Requests\/sec/ { print $2 }' "$work/worst.txt.out")"
echo "resident: $(awk '/VmRSS/ { print $2 / 1024 }' "/proc/$server/status") MB"
