"""text-dedup: its command, on both processors, as it plans for the threshold; what is not in its output is removed."""
import subprocess
import sys
import tempfile

import datasets
import shared

with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", shared.PATH, "--split", "train"]
    command += ["--column", "text", "--ngram", str(shared.WIDTH), "--min_length", "1", "--num_perm", "128"]
    command += ["--threshold", str(shared.THRESHOLD), "--num_proc", "2", "--output", folder + "/out", "--cache_dir", folder]
    if shared.SETTING == "25x5":
        command += ["--b", "25", "--r", "5"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    kept = set(datasets.load_from_disk(folder + "/out")["id"])
ids, _ = shared.documents()
shared.print_ids(one for one in ids if one not in kept)
