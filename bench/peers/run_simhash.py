"""simhash: 64 bits, at most 3 of them different. It is another measure; the pairs are scored like the others."""
import shared
import simhash

ids, texts = shared.documents()
index = simhash.SimhashIndex([], k=3)
for a, text in enumerate(texts):
    if not text:
        continue
    sketch = simhash.Simhash(list(shared.shingles(text)))
    shared.print_pairs(((int(b), a) for b in index.get_near_dups(sketch)), ids)
    index.add(str(a), sketch)
