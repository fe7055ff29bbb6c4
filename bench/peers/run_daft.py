"""daft: its MinHash of word n-grams; 25 bands of 5 and the comparison of whole sets are ours."""
import daft
import numpy
import shared

ids, texts = shared.documents()
frame = daft.from_pydict({"text": texts})
column = frame.select(daft.col("text").minhash(num_hashes=125, ngram_size=shared.WIDTH)).to_pydict()["text"]
rows = numpy.array(column, dtype=numpy.uint32)
full = [number for number, text in enumerate(texts) if text]
pairs = shared.candidates_of(rows[full], 25)
shared.print_pairs(shared.verified([(full[a], full[b]) for a, b in pairs], texts), ids)
