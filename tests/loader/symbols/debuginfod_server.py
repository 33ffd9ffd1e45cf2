#!/usr/bin/env python3
"""Answers as a debuginfod server does (debuginfod(8), "WEBAPI"), on the loopback device: debuginfod_server.py FOLDER [slow]

FOLDER holds buildid/ID/debuginfo and buildid/ID/source/PATH. Prints its port, then each path that it was asked for.
slow: sends a little at a time, and never comes to an end.
"""

import http.server
import pathlib
import sys
import time
import urllib.parse

FOLDER = pathlib.Path(sys.argv[1])
SLOW = "slow" in sys.argv[2:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        print(path, flush=True)
        file = FOLDER / path.lstrip("/")
        if ".." in path or not file.is_file():
            self.send_error(404)
            return
        contents = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(10 * len(contents) if SLOW else len(contents)))
        self.end_headers()
        if not SLOW:
            self.wfile.write(contents)
            return
        while True:
            self.wfile.write(contents[:16])
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # the client left


with Server(("127.0.0.1", 0), Handler) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
