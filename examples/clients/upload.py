#!/usr/bin/env python3
"""Uploads one batch of JSON (docs/batch-format.md) until it is stored. Standard library only.

usage: TOKEN=... python3 upload.py http://127.0.0.1:8080/device-communication batch.json
"""
import gzip, json, os, random, sys, time, urllib.error, urllib.request


def upload(url, token, batch, attempts=8):
    """The server's answer: the copy may be deleted. A refusal (4xx) or giving up ends the program."""
    body = gzip.compress(json.dumps(batch).encode(), mtime=0)  # the same bytes at every attempt
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json", "Content-Encoding": "gzip"}
    request = urllib.request.Request(url + "/v1/vehicles/" + batch["vehicle"] + "/batches", body, headers)
    for attempt in range(attempts):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                sys.exit(error.read().decode())
        except OSError as error:
            print("no answer, trying again:", error, file=sys.stderr)
        time.sleep(random.uniform(0, min(60, 2**attempt)))
    sys.exit("not stored for certain: keep the batch")


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        print(json.dumps(upload(sys.argv[1], os.environ["TOKEN"], json.load(file))))
