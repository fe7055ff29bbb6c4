"""gaoya: an index of all texts is queried with each of them; it decides by its estimate."""
import gaoya
import shared

ids, texts = shared.documents()
index = gaoya.minhash.MinHashStringIndex(
    32, shared.THRESHOLD, 25, 5, None, shared.KIND, False, (shared.WIDTH, shared.WIDTH), id_container="smallvec"
)
numbers = list(range(len(texts)))
index.par_bulk_insert_docs(numbers, texts)
shared.print_pairs(((b, a) for a, found in enumerate(index.par_bulk_query(texts)) for b in found if b < a), ids)
