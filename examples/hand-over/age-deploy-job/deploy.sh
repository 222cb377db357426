#!/bin/sh
# Resets nothing. It runs a command with the current address of the database as REDIS_URL:
#
#   pulumi stack output credentials > credentials.age
#   deploy.sh credentials.age <command> …
#
# AGE_IDENTITY is the identity (AGE-SECRET-KEY-1…), which only this job has. It needs age and Node.
set -eu
file=$1
shift
# Neither the identity nor the password is an argument of a process or in a file.
json=$(printf '%s\n' "$AGE_IDENTITY" | age --decrypt --identity - "$file")
unset AGE_IDENTITY
REDIS_URL=$(printf '%s' "$json" | node -p 'JSON.parse(require("fs").readFileSync(0, "utf8")).connectionUrl ?? ""')
if [ -z "$REDIS_URL" ]; then
  echo "The password of the database is not known, so nothing is deployed." >&2
  exit 1
fi
export REDIS_URL
exec "$@"
