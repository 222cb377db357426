import { secretOf, type SecretKind, type Subject } from "../domain/secretKind";
import { type Credentials } from "../records/fields";
import { type Run } from "../run/run";
import { type Evidence } from "./evidence";
import { recordEvidence } from "./recordEvidence";
import { type Context } from "./plan";
import { keyEvidence } from "./signingKeys";

/** What one call of the engine does about one secret. */
export interface Session {
  readonly subject: Subject;
  readonly run: Run;
  readonly context: Context;
  readonly evidence: Evidence;
  /** What the reads of this run have shown of the secret, the last one last. */
  readonly reads: Credentials[];
  /** What the resets of this run have replaced, as far as it was known. */
  readonly replacedValues: Credentials[];
}

export function openSession(subject: Subject, run: Run): Session {
  const secret = secretOf(subject);
  const { kind } = subject;
  return {
    subject,
    run,
    context: contextOf(kind, run),
    evidence: kind.rolls ? keyEvidence : recordEvidence,
    reads: listIn(run.shared.reads, secret),
    replacedValues: listIn(run.shared.replacedValues, secret),
  };
}

/** What plans and evidence depend on in a run. */
export function contextOf(kind: SecretKind, { options }: Run): Context {
  const { settings } = options;
  const isOwn = kind.authorizesQueue && settings.find("queueUserId") === undefined;
  return {
    kind,
    now: options.clock.now(),
    canRead: settings.canRead(kind),
    isScheduleOn: settings.get("scheduledResets") === "on",
    ownToken: isOwn ? settings.find("queueToken")?.value : undefined,
    account: kind.hasId ? undefined : options.queueAccount(),
  };
}

function listIn(lists: Map<string, Credentials[]>, secret: string): Credentials[] {
  const list = lists.get(secret) ?? [];
  lists.set(secret, list);
  return list;
}
