#!/bin/sh
# Resets nothing. It prints the Secret `sessions-database`, encrypted by SOPS for the operator of the cluster, to commit:
#
#   pulumi stack output credentials > credentials.age
#   secret.sh credentials.age > sessions-database.yaml
#
# AGE_IDENTITY is the identity of this job (AGE-SECRET-KEY-1…), and OPERATOR_RECIPIENT the recipient of the operator (age1…).
# It needs age, SOPS 3.9 or later, and Node.
set -eu
json=$(printf '%s\n' "$AGE_IDENTITY" | age --decrypt --identity - "$1")
secret=$(printf '%s' "$json" | node "$(dirname "$0")/secret.mjs")
printf '%s' "$secret" | sops encrypt --age "$OPERATOR_RECIPIENT" --encrypted-regex '^(data|stringData)$' \
  --input-type json --output-type yaml --filename-override sessions-database.yaml /dev/stdin
