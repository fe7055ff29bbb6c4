"""datasketch. "plan": MinHashLSH as it plans for the threshold. "checked": 25 bands of 5, then the whole sets."""
import datasketch
import shared

ids, texts = shared.documents()
sketches = datasketch.MinHash.bulk(([shingle.encode() for shingle in shared.shingles(text)] for text in texts), num_perm=128)
if shared.SETTING == "plan":
    index = datasketch.MinHashLSH(threshold=shared.THRESHOLD, num_perm=128)
else:
    index = datasketch.MinHashLSH(num_perm=128, params=(25, 5))
pairs = []
for a, sketch in enumerate(sketches):
    pairs.extend((b, a) for b in index.query(sketch))
    index.insert(a, sketch)
shared.print_pairs(pairs if shared.SETTING == "plan" else shared.verified(pairs, texts), ids)
