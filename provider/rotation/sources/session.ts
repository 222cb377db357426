import { secretOf, type Subject } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type Run } from "../../run/run";
import { type Place, type Session, type Source, type SourceContext } from "../lifecycle/source";
import { contextOf } from "../program/context";
import { type Program } from "../program/program";
import { QueueSource } from "./queueSource";
import { ResetSource } from "./reset/resetSource";
import { UserSource } from "./user/userSource";

/** The source of each shape. */
const sources = {
  replaces: ResetSource,
  rolls: ResetSource,
  adds: QueueSource,
  redis: UserSource,
} satisfies Record<Subject["kind"]["shape"], new (of: SourceContext) => Source>;

/** @param program undefined in a refresh and in a Retirement */
export function openSession<P extends Program | undefined = undefined>(
  subject: Subject,
  run: Run,
  place: Place,
  program?: P,
): Session & { readonly program: P } {
  const secret = secretOf(subject);
  const reads = listIn(run.shared.reads, secret);
  const context = { ...contextOf(subject.kind, run), program };
  const of = { subject, run, context, program: program as P, reads, place };
  const source = new sources[subject.kind.shape](of);
  return { ...of, source, replacedValues: listIn(run.shared.replacedValues, secret) };
}

function listIn(lists: Map<string, Credentials[]>, secret: string): Credentials[] {
  const list = lists.get(secret) ?? [];
  lists.set(secret, list);
  return list;
}
