#!/bin/sh
# For cron, or any other system that runs a command. Put it next to two Pulumi projects: `rotation` (as
# examples/nightly-rotation, with Pulumi.review.yaml without secrets) and `flow-control` (as examples/flow-control-incident,
# with a stack for each key).
#
#   rekey.sh preview                                of a change that was not reviewed
#   rekey.sh up                                     every night
#   REKEY_SCHEDULED_RESETS=off rekey.sh up          on a merge: what is due by `rotateEvery` waits for the night
#   rekey.sh reset-flow-control <key> <incident>    by hand; one incident is one reset
#
# The environment contains PULUMI_BACKEND_URL, PULUMI_CONFIG_PASSPHRASE, REKEY_BASE_URL, REKEY_USERNAME, REKEY_PASSWORD,
# REKEY_QUEUE_URL and REKEY_QUEUE_TOKEN. For Upstash, set REKEY_PLATFORM to `upstash` instead of both addresses.
# A preview needs none of them. Run it on a machine that does not have them: the program can print all that it can read.
# The stack is locked during a run: a second run changes nothing, and fails. Do not cancel the first.
set -eu
cd "$(dirname "$0")"

# Packages of a program in Node, and the plugin of a program that uses it.
install() {
  if [ -f package.json ]; then npm ci; fi
  for archive in vendor/pulumi-resource-rekey-v*-linux-amd64.tar.gz; do
    version=${archive#*-v}
    if [ -f "$archive" ]; then pulumi plugin install resource rekey "${version%%-*}" --file "$archive"; fi
  done
}

# Also shows the outputs of a failed run, which may be from before it: hand none over unless it returns 0. Never add
# --continue-on-error: it retires a former secret although a deployment has failed.
up() {
  status=0
  pulumi up --stack "$1" --yes --skip-preview ${2:-} || status=$?
  pulumi stack output --stack "$1" --json | tee outputs.json
  return "$status"
}

case "${1:-} $#" in
  "preview 1")
    cd rotation
    # An empty stack of its own: production is not read.
    export PULUMI_BACKEND_URL=file://. PULUMI_CONFIG_PASSPHRASE=review
    install
    pulumi stack select --create review
    pulumi preview --stack review --diff
    ;;
  "up 1")
    cd rotation
    # The limit of password resets in one run; it refuses more. Set it to what a usual night needs.
    export REKEY_MAX_RESETS_PER_RUN="${REKEY_MAX_RESETS_PER_RUN:-5}"
    install
    # --refresh reads each resource first: a plain `up` does not see that someone has removed or changed a secret. To send
    # fewer requests, leave it out on a merge.
    up production --refresh
    ;;
  "reset-flow-control 3")
    cd flow-control
    install
    pulumi stack select --create "$2"
    pulumi config set --stack "$2" flowControlKey "$2"
    pulumi config set --stack "$2" incident "$3"
    up "$2"
    ;;
  *)
    echo "usage: rekey.sh preview | up | reset-flow-control <key> <incident>" >&2
    exit 2
    ;;
esac
