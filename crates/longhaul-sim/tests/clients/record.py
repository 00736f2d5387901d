"""Records the requests of the SDKs and the shape of the answers, for machines where the SDKs cannot be installed.

    longhaul sim --listen 127.0.0.1:7411
    python record.py http://127.0.0.1:7411 7412 recorded.json
    python clients.py http://127.0.0.1:7412 anthropic_message anthropic_stream openai_completion
    node clients.mjs http://127.0.0.1:7412 anthropic_message anthropic_stream openai_completion

The file is rewritten with every exchange. It never contains keys or details of the machine.
"""

import json
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

UPSTREAM, PORT, FILE = sys.argv[1].rstrip("/"), int(sys.argv[2]), sys.argv[3]
KEYS = {"x-api-key", "authorization"}
LOCAL = {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}
MACHINE = {"x-stainless-os", "x-stainless-arch", "x-stainless-runtime-version"}
exchanges = []


class Recorder(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        request = urllib.request.Request(UPSTREAM + self.path, data=body, headers=self.kept(LOCAL))
        try:
            answer = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            answer = error
        sent = answer.read()
        kind = answer.headers["content-type"]
        shown = {name: "…" if name in KEYS else value for name, value in self.kept(LOCAL | MACHINE).items()}
        shape = {"status": answer.status, "content_type": kind}
        if kind.startswith("text/event-stream"):
            shape["events"] = distinct(event_kinds(sent.decode()))
        else:
            shape["fields"] = sorted(json.loads(sent))
        exchanges.append({"path": self.path, "headers": shown, "body": json.loads(body), "answer": shape})
        write()
        self.send_response(answer.status)
        self.send_header("content-type", kind)
        self.send_header("request-id", answer.headers["request-id"] or "")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def kept(self, dropped):
        return {name.lower(): value for name, value in self.headers.items() if name.lower() not in dropped}

    def log_message(self, *_):
        pass


def event_kinds(stream):
    for line in stream.splitlines():
        if line.startswith("data: "):
            data = line[len("data: ") :]
            yield data if data == "[DONE]" else (lambda event: event.get("type") or event["object"])(json.loads(data))


def distinct(kinds):
    return list(dict.fromkeys(kinds))


def write():
    with open(FILE, "w", encoding="utf-8") as file:
        json.dump({"exchanges": exchanges}, file, indent=1, ensure_ascii=False, sort_keys=True)
        file.write("\n")


HTTPServer(("127.0.0.1", PORT), Recorder).serve_forever()
