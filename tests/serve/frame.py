"""What the tests of the server share: a server that runs, and requests to it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time

PROGRAM = os.environ["TWINSIFT"]
ROOT = os.environ["TWINSIFT_ROOT"]
SANITIZED = os.environ.get("TWINSIFT_SANITIZED", "")
SAMPLES = os.path.join(ROOT, "samples")
MAIL = "message/rfc822"
JSON = "application/json"
TEXT = "text/plain"
LINES = "application/x-ndjson"

failures = []


def check(condition, sentence):
    """Notes that something is not as it should be, and goes on."""
    if not condition:
        failures.append(sentence)
        print("FAILED", sentence, flush=True)
    return condition


def end():
    print(len(failures), "failed")
    sys.exit(1 if failures else 0)


def skip_without_server():
    said = subprocess.run([PROGRAM, "serve", "--http", "nowhere"], capture_output=True, text=True, check=False)
    if "not in this build" in said.stderr or "is not installed" in said.stderr:
        print("skipped: this build has no server, or no mail")
        sys.exit(77)


def program(*arguments, text=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=True).stdout


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def lines(self):
        return [json.loads(line) for line in self.body.splitlines()]


class Server:
    """twinsift serve on a free port, with the token that it drew."""

    def __init__(self, *arguments, listen="127.0.0.1:0", env=None, prefix=(), log="server.log"):
        self.log = open(log, "a+", encoding="utf-8")
        self.process = subprocess.Popen(
            [*prefix, PROGRAM, "serve", "--http", listen, *arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **(env or {})})
        self.link = self.process.stdout.readline().strip()
        found = re.match(r"http://(.*):(\d+)/(?:#token=(.*))?$", self.link)
        self.host, self.port, self.token = (found[1], int(found[2]), found[3]) if found else (None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host.strip("[]"), self.port, timeout=timeout)

    def request(self, method, path, body=None, type=None, token=False, headers=None, connection=None):
        headers = dict(headers or {})
        if type:
            headers["Content-Type"] = type
        if token:
            headers["Authorization"] = "Bearer " + (self.token if token is True else token)
        if isinstance(body, str):
            body = body.encode()
        own = connection or self.connect()
        own.request(method, path, body, headers, encode_chunked="Transfer-Encoding" in headers)
        response = own.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        if not connection:
            own.close()
        return answer

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, path, body, type, **more):
        return self.request("POST", path, body, type, **more)

    def logged(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def stop(self, how=signal.SIGTERM, patience=60):
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(patience)
        self.process.stdout.close()
        return status


def sample(*path):
    with open(os.path.join(SAMPLES, *path), "rb") as file:
        return file.read()


def wait_until(condition, seconds=60):  # a machine may be busy
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
