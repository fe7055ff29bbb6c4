"""Find near-duplicate texts with MinHash and locality-sensitive hashing, and verify every pair that is reported.

>>> import twinsift
>>> texts = ["The lighthouse on the cape will be lit again in spring, the harbour board said.",
...          "The lighthouse on the cape will be lit again this spring, the harbour board said.",
...          "Bread prices rise."]
>>> list(twinsift.pairs(texts, threshold=0.7))
[(0, 1, 0.7349397590361446)]
>>> twinsift.dedup(texts, threshold=0.7).kept.tolist()
[0, 2]

Texts come from any iterable, or from anything with the Arrow PyCapsule interface: pyarrow, Polars, pandas, DuckDB,
Hugging Face datasets. Results are buffers, which NumPy reads without a copy, and Arrow.
"""
from . import _core
from ._core import BusyError, Error, FormatError, LimitError, UnsupportedError
from ._filters import BloomFilter, CountingFilter
from ._index import Entry, Index, Matches
from ._mail import Evidence, MailFilter, Verdict, Word
from ._plan import Plan, plan
from ._search import NONE, Dedup, Pairs, dedup, edit_distance, pairs, ranks, similarity
from ._signer import Signatures, Signer

__version__ = _core.version

__all__ = [
    "BloomFilter", "BusyError", "CountingFilter", "Dedup", "Entry", "Error", "Evidence", "FormatError", "Index",
    "LimitError", "MailFilter", "Matches", "NONE", "Pairs", "Plan", "Signatures", "Signer", "UnsupportedError", "Verdict",
    "Word", "dedup", "edit_distance", "pairs", "plan", "ranks", "similarity",
]

for _name in __all__:  # where a traceback, a repr or help() looks for it
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "twinsift"
del _name
