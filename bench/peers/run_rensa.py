"""rensa: R-MinHash and its LSH. "32x4": pairs, decided by the estimate. "readme": its deduplicator, 8 bands of 16."""
import rensa
import shared

ids, texts = shared.documents()
sets = [list(shared.shingles(text)) for text in texts]
if shared.SETTING == "readme":
    seen = rensa.RMinHashDeduplicator(shared.THRESHOLD, 128, True, 8, 42)
    added = seen.add_pairs(zip(ids, rensa.RMinHash.from_token_sets(sets, 128, 42)))
    shared.print_ids(one for one, new in zip(ids, added) if not new)
else:
    sketches = rensa.RMinHash.from_token_sets(sets, 128, 42)
    index = rensa.RMinHashLSH(shared.THRESHOLD, 128, 32)
    index.insert_many(sketches)
    shared.print_pairs(
        (
            (b, a)
            for a, found in enumerate(index.query_all(sketches))
            for b in found
            if b < a and sketches[a].jaccard(sketches[b]) >= shared.THRESHOLD
        ),
        ids,
    )
