import { secretOf, type SecretKind, type Subject } from "../domain/secretKind";
import { type Credentials } from "../records/fields";
import { type Run } from "../run/run";
import { type Evidence } from "./evidence";
import { recordEvidence } from "./recordEvidence";
import { type Context } from "./plan";
import { overlapEvidence } from "./overlap/overlapEvidence";
import { QueueSource } from "./overlap/queueSource";
import { type OverlapSource, type Place, type SourceContext } from "./overlap/source";
import { UserSource } from "./overlap/userSource";
import { keyEvidence } from "./signingKeys";

/** What one call of the engine does about one secret. */
export interface Session extends SourceContext {
  readonly evidence: Evidence;
  /** Set if the kind overlaps. */
  readonly source?: OverlapSource | undefined;
  /** What the resets of this run have replaced, as far as it was known. */
  readonly replacedValues: Credentials[];
}

export function openSession(subject: Subject, run: Run, place: Place = {}): Session {
  const secret = secretOf(subject);
  const { kind } = subject;
  const reads = listIn(run.shared.reads, secret);
  const of: SourceContext = { subject, run, context: contextOf(kind, run), reads, place };
  return {
    ...of,
    evidence: evidenceOf(kind),
    source: kind.overlaps && overlapSourceOf(of),
    replacedValues: listIn(run.shared.replacedValues, secret),
  };
}

function overlapSourceOf(of: SourceContext): OverlapSource {
  return of.subject.kind.isOfServer ? new UserSource(of) : new QueueSource(of);
}

function evidenceOf({ rolls, overlaps }: SecretKind): Evidence {
  if (rolls) return keyEvidence;
  return overlaps ? overlapEvidence : recordEvidence;
}

/** What plans and evidence depend on in a run. */
export function contextOf(kind: SecretKind, { options }: Run): Context {
  const { settings } = options;
  const isOwn = kind.authorizesQueue && settings.find("queueUserId") === undefined;
  return {
    kind,
    now: options.clock.now(),
    canRead: kind.isOfServer === true || settings.canRead(kind),
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
