#!/usr/bin/env python3
"""bench/spamd.py FOLDER ADDRESS:PORT...: messages per second of servers that speak the protocol of spamd.

Each message of the folder is checked over a connection of its own, by four threads, for SECONDS=10 by turns for each
server; bench/README.md says how the servers are started.
"""
import os
import pathlib
import socket
import sys
import threading
import time

THREADS = 4


def check(address, request):
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    if b"\r\nSpam: " not in answer:
        sys.exit(f"{address}: {answer!r}")


def load(address, requests, seconds):
    times = []
    end = time.monotonic() + seconds

    def work(number):
        at = number
        while (begin := time.monotonic()) < end:
            check(address, requests[at % len(requests)])
            times.append(time.monotonic() - begin)
            at += THREADS

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    middle, late = (1000 * times[int(len(times) * share)] for share in (0.5, 0.99))
    return f"{len(times) / seconds:10.1f} messages/s, median {middle:.2f} ms, 99 % within {late:.2f} ms"


def main():
    requests = []
    for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        message = path.read_bytes()
        requests.append(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n%s" % (len(message), message))
    for _ in range(3):
        for address in sys.argv[2:]:
            print(address, load(address, requests, float(os.environ.get("SECONDS", "10"))), flush=True)


main()
