#!/usr/bin/env python3
"""Uploads one batch of JSON (docs/batch-format.md, batch.json beside this file) until it is stored.

usage: TOKEN=... python3 upload.py http://127.0.0.1:8080/device-communication veh-1 batch.json
Needs the standard library only. Exit code 0: stored, delete your copy. Else keep it.
"""
import gzip, os, random, sys, time, urllib.error, urllib.request

JSON_GZIP = {"Content-Type": "application/json", "Content-Encoding": "gzip"}


def upload(url, token, vehicle, batch, attempts=8):
    """Sends a batch's bytes until the server has them. A refusal (4xx) ends the program."""
    headers = {"Authorization": "Bearer " + token, **JSON_GZIP}
    address = f"{url}/v1/vehicles/{vehicle}/batches"
    request = urllib.request.Request(address, gzip.compress(batch), headers)
    for attempt in range(attempts):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                sys.exit(error.read().decode())
            print("answered", error.code, "- trying again", file=sys.stderr)
        except OSError as error:
            print("no answer, trying again:", error, file=sys.stderr)
        time.sleep(random.uniform(0, min(60, 2**attempt)))
    sys.exit("not stored for certain: keep the batch")


if __name__ == "__main__":
    if len(sys.argv) != 4 or not os.environ.get("TOKEN"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        sys.exit(2)
    try:
        with open(sys.argv[3], "rb") as file:
            batch = file.read()
    except OSError as error:
        print("cannot read the batch:", error, file=sys.stderr)
        sys.exit(2)
    print(upload(sys.argv[1], os.environ["TOKEN"], sys.argv[2], batch))
