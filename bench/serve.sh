#!/usr/bin/env bash
# bench/serve.sh: requests per second of the server on loopback, with wrk, as shares of what the server does when there is
# nothing to do (GET /healthz) in the same run. Needs wrk. Prints a table for bench/README.md.
#
#   index queries         100,000 generated documents and 20,000 pages of a template; texts of 2 KB
#   mail checks           messages in $MESSAGES, a folder, which is learnt first (default: the samples)
#   beside the worst      the same queries while four clients query the template, also with a connection per query
#
# Each request has another text, since a model remembers what it judged last. The last column is CPU time per request, of
# server and client: unlike rates it hardly changes with what else the machine does.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${TWINSIFT:-$PWD/build/release/twinsift} generate=${TWINSIFT_GENERATE:-$PWD/build/release/twinsift-generate}
seconds=${SECONDS_EACH:-5} documents=${DOCUMENTS:-100000} messages=${MESSAGES:-samples/mail}
command -v wrk >/dev/null || { echo 'serve.sh: wrk is not installed' >&2; exit 2; }
work=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

"$generate" --docs "$documents" >"$work/documents.jsonl"
python3 - "$work" "$messages" <<'END'
import glob, json, os, random, sys
rng, work, messages = random.Random(1), sys.argv[1], sys.argv[2]
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
def script(name, kind, bodies, more=""):
    """What wrk sends: the bodies in turn."""
    os.mkdir(work + "/" + name)
    for i, body in enumerate(bodies):
        open("%s/%s/%d" % (work, name, i), "wb").write(body)
    open(work + "/%s.lua" % name, "w").write("""bodies = {}
for i = 0, %d do local f = io.open("%s/%s/" .. i, "rb"); bodies[i] = f:read("*a"); f:close() end
n = 0
request = function() n = (n + 7) %% %d; return wrk.format("POST", nil, {["Content-Type"] = "%s"%s}, bodies[n]) end
""" % (len(bodies) - 1, work, name, len(bodies), kind, more))
lines = open(work + "/documents.jsonl")
script("query", "text/plain", [json.loads(next(lines))["text"].encode() for _ in range(500)])
worst = open(work + "/worst.txt", "rb").read()
script("worst", "text/plain", [worst])
script("close", "text/plain", [worst], ', ["Connection"] = "close"')
paths = sorted(p for p in glob.glob(messages + "/**", recursive=True) if os.path.isfile(p))
script("mail", "message/rfc822", [open(p, "rb").read() for p in rng.sample(paths, min(300, len(paths)))])
END
"$program" index create "$work/news.twin"
"$program" index add --quiet "$work/news.twin" "$work/documents.jsonl" "$work/template.jsonl"
for folder in "$messages"/*ham* "$messages"/spam*; do
    label=${folder##*/}
    case $label in *ham*) label=ham ;; *) label=spam ;; esac
    "$program" mail learn --quiet -m "$work/mail.twin" --as $label "$folder"
done

"$program" serve --http 127.0.0.1:0 --model "$work/mail.twin" --index "$work/news.twin" >"$work/link" &
server=$!
while [ ! -s "$work/link" ]; do sleep 0.1; done
address=$(sed 's/#.*//' "$work/link")

# load NAME PATH [SCRIPT [CONNECTIONS]]: prints requests per second, and the CPU time of one in µs.
load()
{
    local before
    before=$(ticks)
    TIMEFORMAT='%U %S'
    { time wrk -t 1 -c "${4:-16}" -d "${seconds}s" ${3:+-s "$work/$3.lua"} "$address$2" >"$work/$1.txt"; } 2>"$work/time"
    ! grep -q 'Non-2xx' "$work/$1.txt" || echo "serve.sh: $1: $(grep Non-2xx "$work/$1.txt")" >&2
    awk -v ticks=$(($(ticks) - before)) 'FNR == NR { client = $1 + $2; next } / requests in / { requests = $1 }
        /^Requests\/sec/ { print $2, (ticks / 100 + client) * 1e6 / requests }' "$work/time" "$work/$1.txt"
}
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$server/stat"; }

row() # NAME RATE-AND-CPU
{
    awk -v name="$1" -v of="$2" -v empty="$empty" 'BEGIN { split(of, is, " "); split(empty, least, " ")
        printf "| %s | %.0f | %.3f | %.1f | %.3f |\n", name, is[1], is[1] / least[1], is[2], least[2] / is[2] }'
}

empty=$(load empty healthz)
echo "| $documents documents, 16 connections | requests/s | of empty | CPU, µs | of empty |"
echo "| --- | ---: | ---: | ---: | ---: |"
row "GET /healthz" "$empty"
row "index query, 2 KB" "$(load query16 v1/indexes/news/query query)"
row "mail check" "$(load mail v1/mail/check mail)"

# By turns, since rates change with what else the machine does: the clients of the template are stopped for each other turn.
rate() { load "$1" v1/indexes/news/query query 4 | cut -d ' ' -f 1; }
turns=${TURNS:-9}
for worst in worst close; do
    wrk -t 1 -c 4 -d 600s --timeout 60s -s "$work/$worst.lua" "${address}v1/indexes/news/query" >"$work/worst.out" &
    client=$!
    for _ in $(seq "$turns"); do
        kill -STOP $client
        alone=$(seconds=1 rate alone)
        kill -CONT $client
        echo "$alone $(seconds=1 rate beside)"
    done >"$work/turns.txt"
    kill $client
    wait $client 2>/dev/null || true
    awk -v how="$worst" '{ print $2 / $1 }' "$work/turns.txt" | sort -n | awk -v how="$worst" '{ share[NR] = $1 }
        END { printf "queries beside 4 clients of the template%s: %.2f of the rate alone (median of %d)\n",
                     how == "close" ? ", a connection per query" : "", share[int((NR + 1) / 2)], NR }'
done
echo "resident: $(awk '/VmRSS/ { print $2 / 1024 }' "/proc/$server/status") MB"
