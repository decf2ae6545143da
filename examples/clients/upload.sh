#!/bin/sh
# Uploads one batch of JSON (docs/batch-format.md, batch.json beside this file) until it is stored.
# usage: TOKEN=... sh upload.sh http://127.0.0.1:8080/device-communication veh-1 batch.json
# Exit code 0: stored, delete your copy. Else keep it; a 4xx answer says what to change.
set -eu
if [ $# -ne 3 ] || [ -z "${TOKEN:-}" ]; then
  sed -n 's/^# \(usage.*\)/\1/p' "$0" >&2
  exit 2
fi
[ -r "$3" ] || { echo "cannot read $3" >&2; exit 2; }
# curl repeats 408, 429 and 5xx with growing pauses or after Retry-After, and no other 4xx.
gzip -nc "$3" | curl --silent --show-error --fail-with-body \
  --retry 8 --retry-connrefused --retry-max-time 600 \
  --header "Authorization: Bearer $TOKEN" \
  --header 'Content-Type: application/json' --header 'Content-Encoding: gzip' \
  --data-binary @- "$1/v1/vehicles/$2/batches"
