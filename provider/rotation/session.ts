import { secretOf, type SecretKind, type Subject } from "../domain/secretKind";
import { type Credentials } from "../records/fields";
import { type Run } from "../run/run";
import { type Context } from "./plan";
import { type Program } from "./program";
import { QueueSource } from "./queueSource";
import { ResetSource } from "./resetSource";
import { type Place, type Source, type SourceContext } from "./source";
import { UserSource } from "./userSource";

/** What one call of the engine does about one secret. */
export interface Session extends SourceContext {
  readonly source: Source;
  /** What the rotations of this run have replaced, as far as it was known. */
  readonly replacedValues: Credentials[];
}

/** @param program undefined in a refresh and in a verification */
export function openSession(subject: Subject, run: Run, place: Place, program?: Program): Session {
  const secret = secretOf(subject);
  const reads = listIn(run.shared.reads, secret);
  const context = { ...contextOf(subject.kind, run), program };
  const of: SourceContext = { subject, run, context, program, reads, place };
  return { ...of, source: sourceOf(of), replacedValues: listIn(run.shared.replacedValues, secret) };
}

function sourceOf(of: SourceContext): Source {
  switch (of.subject.kind.shape) {
    case "redis":
      return new UserSource(of);
    case "adds":
      return new QueueSource(of);
    default:
      return new ResetSource(of);
  }
}

/** What plans and reads depend on in a run. */
export function contextOf(kind: SecretKind, { options }: Run): Context {
  const { settings } = options;
  const mayBeOwn = kind.shape === "adds" && settings.find("queueUserId") === undefined;
  return {
    kind,
    now: options.clock.now(),
    canRead: kind.shape === "redis" || settings.canRead(kind),
    isScheduleOn: settings.get("scheduledResets") === "on",
    ownToken: mayBeOwn ? settings.find("queueToken")?.value : undefined,
    account: kind.onlyId === undefined ? undefined : options.queueAccount(),
  };
}

function listIn(lists: Map<string, Credentials[]>, secret: string): Credentials[] {
  const list = lists.get(secret) ?? [];
  lists.set(secret, list);
  return list;
}
