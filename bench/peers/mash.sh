#!/usr/bin/env bash
# Genomes by their k-mers of either strand: twinsift compared with mash (https://github.com/marbl/Mash), which Debian has,
# and with counting all k-mers.
#
#   bench/peers/mash.sh [FOLDER OF TWINSIFT]      default: build/release
#
# A genome of 200,000 letters, copies in which 1 to 100 of 1,000 letters were drawn again, half of them turned into the
# reverse complement, and as many unrelated ones. Of pairs at 0.1 and more: how many, and the largest difference from the
# exact similarity. CPU seconds of one thread, reading included. BENCH_GENOMES: how many copies (24).
# shellcheck source=bench/peers/frame.bash
. "$(dirname "$0")/frame.bash"
command -v mash > mash.path || { echo "mash.sh: mash is not installed; nothing was compared" >&2; exit 0; }

python3 - "${BENCH_GENOMES:-24}" << 'END'
import random
import sys

generator = random.Random(1)
strands = str.maketrans("ACGT", "TGCA")
K = 21


def draw():
    return "".join(generator.choices("ACGT", k=200_000))


def kmers(genome):
    other = genome.translate(strands)[::-1]
    ends = range(len(genome) - K + 1)
    return {min(genome[i : i + K], other[len(genome) - K - i : len(genome) - i]) for i in ends}


count, first = int(sys.argv[1]), draw()
genomes = {"first": first}
for i in range(count):
    rate = 0.001 * 100 ** (i / max(count - 1, 1))
    copy = "".join(generator.choice("ACGT") if generator.random() < rate else letter for letter in first)
    genomes[f"copy{i}"] = copy.translate(strands)[::-1] if i % 2 else copy
    genomes[f"other{i}"] = draw()
with open("genomes.fa", "w", encoding="ascii") as file:
    for name, genome in genomes.items():
        file.write(f">{name}\n" + "\n".join(genome[i : i + 70] for i in range(0, len(genome), 70)) + "\n")
sets = [(name, kmers(genome)) for name, genome in genomes.items()]
with open("exact.tsv", "w", encoding="ascii") as file:
    for i, (a, x) in enumerate(sets):
        for b, y in sets[i + 1 :]:
            common = len(x & y)
            if common / (len(x) + len(y) - common) >= 0.1:
                file.write(f"{a}\t{b}\t{common / (len(x) + len(y) - common):.4f}\n")
END

# row TOOL FILE: a line of the table, of the file with its pairs and what `time` wrote.
row()
{
    awk -F '\t' -v tool="$1" -v cpu="$(awk '{ s += $1 + $2 } END { print s }' usage)" '
        NR == FNR { exact[$1, $2] = exact[$2, $1] = $3; next }
        ($1, $2) in exact { off = $3 - exact[$1, $2]; off = off < 0 ? -off : off; most = off > most ? off : most; n++ }
        END { printf "| %s | %d of %d | %.4f | %.2f |\n", tool, n, length(exact) / 2, most, cpu }' exact.tsv "$2"
}

echo "| | pairs | largest difference | CPU s |"
echo "| --- | ---: | ---: | ---: |"
/usr/bin/time -o usage -f '%U %S' "$build/twinsift" pairs --quiet --threads 1 --shingle kmer:21 --threshold 0.1 \
    genomes.fa > ours.tsv
row "twinsift" ours.tsv
for sketch in 1000 10000; do
    /usr/bin/time -a -o usage.two -f '%U %S' mash sketch -p 1 -k 21 -s "$sketch" -i genomes.fa -o genomes 2> mash.log
    /usr/bin/time -a -o usage.two -f '%U %S' mash dist -p 1 genomes.msh genomes.msh > dist.tsv
    mv usage.two usage
    awk -F '\t' -v OFS='\t' '$1 < $2 { split($5, of, "/"); if (of[1]) print $1, $2, of[1] / of[2] }' dist.tsv > mash.tsv
    row "mash, $sketch hashes" mash.tsv
done
