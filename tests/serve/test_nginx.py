"""The nginx example of docs/serve.md works, with TLS, a name of the outside, and an NDJSON body that is passed on."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time

from frame import LINES, MAIL, ROOT, Server, check, end, sample, skip_without_server, wait_until

skip_without_server()
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
if not NGINX or not shutil.which("openssl"):
    print("skipped: nginx or openssl is not installed")
    sys.exit(77)

with open(os.path.join(ROOT, "docs", "serve.md"), encoding="utf-8") as file:
    EXAMPLE = re.search(r"```nginx\n(.*?)```", file.read(), re.S)[1]
subprocess.run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=sift.example.org -addext "
               "subjectAltName=DNS:sift.example.org -keyout sift.key -out sift.pem".split(), check=True, capture_output=True)
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

with Server("--model", "mail.twin", "--host", "sift.example.org") as server:
    here = os.getcwd()
    block = (EXAMPLE.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("/etc/ssl", here)
             .replace("127.0.0.1:8377", f"127.0.0.1:{server.port}"))
    paths = "".join(f"{name}_temp_path {here}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open("nginx.conf", "w", encoding="ascii") as file:
        file.write(f"{'user root;' if os.getuid() == 0 else ''}pid {here}/pid; error_log {here}/error.log; daemon off; events {{}}\n"
                   f"http {{ access_log off; {paths}\n{block}}}\n")
    proxy = subprocess.Popen([NGINX, "-p", here, "-c", os.path.join(here, "nginx.conf")])
    try:
        context = ssl.create_default_context(cafile="sift.pem")

        def request(method, path, body=b"", type_="", host="sift.example.org", token=""):
            raw = socket.create_connection(("127.0.0.1", port), timeout=60)
            with context.wrap_socket(raw, server_hostname="sift.example.org") as tls:
                head = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
                head += (f"Content-Type: {type_}\r\n" if type_ else "") + (f"Authorization: Bearer {token}\r\n" if token else "")
                tls.sendall(head.encode() + b"\r\n" + body)
                answer = b""
                while more := tls.recv(65536):
                    answer += more
            return int(answer.split()[1]), answer.split(b"\r\n\r\n", 1)[1]

        def is_up():
            try:
                return request("GET", "/healthz")[0] == 200
            except OSError:
                time.sleep(0.1)
                return False

        check(wait_until(is_up), "the server answers through the proxy")
        message = sample("mail", "new.eml")
        check(request("POST", "/v1/mail/check", message, MAIL)[0] == 200, "a message through the proxy")
        check(request("POST", "/v1/mail/learn?label=spam", message, MAIL)[0] == 401, "changes still need the token")
        check(request("POST", "/v1/mail/learn?label=spam", message, MAIL, token=server.token)[0] == 200, "with it they are made")
        lines = (json.dumps({"message": message.decode("latin-1")}) + "\n").encode() * 2000
        status, body = request("POST", "/v1/mail/check", lines, LINES)
        check(status == 200 and body.count(b'"label"') == 2000, f"lines through the proxy: {status}")
        check(request("GET", "/healthz", host="other.example")[0] == 421, "another host is refused")
    finally:
        proxy.terminate()
        proxy.wait(60)
end()
