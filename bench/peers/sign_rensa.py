"""Signing with rensa, for sign.sh: sign_rensa.py COUNT...

For each COUNT prints it and how many thousand sets of that many hashes are signed per second of CPU time, the best of 15.
"""
import sys
import time

import numpy
from rensa import RMinHash

SETS, SLOTS, RUNS = 4096, 128, 15


def main():
    random = numpy.random.default_rng(1)
    for count in map(int, sys.argv[1:]):
        hashes = random.integers(0, 2**64, size=count * SETS, dtype=numpy.uint64)
        offsets = numpy.arange(SETS + 1, dtype=numpy.uint64) * numpy.uint64(count)
        least = float("inf")
        for _ in range(RUNS):
            begin = time.process_time()
            RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, SLOTS, 1)
            least = min(least, time.process_time() - begin)
        print(count, round(SETS / least / 1000))


main()
