"""FastSketchLSH: fast similarity sketches, 32 bands of 4; decided by the estimate."""
import FastSketchLSH
import shared

ids, texts = shared.documents()
sketches = FastSketchLSH.FastSimilaritySketch(128, 42).batch([list(shared.shingles(text)) for text in texts])
index = FastSketchLSH.LSH(128, 32)
index.insert(sketches)
flat, begins = index.query(sketches, format="csr")
shared.print_pairs(
    (
        (b, a)
        for a in range(len(ids))
        for b in set(flat[begins[a] : begins[a + 1]].tolist())
        if b < a and (sketches[a] == sketches[b]).mean() >= shared.THRESHOLD
    ),
    ids,
)
