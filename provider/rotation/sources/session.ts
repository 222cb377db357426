import { secretOf, type Subject } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { type Run } from "../../run/run";
import { contextOf } from "../program/context";
import { type Program } from "../program/program";
import { QueueSource } from "./queueSource";
import { ResetSource } from "./resetSource";
import { type Place, type Session, type Source, type SourceContext } from "../lifecycle/source";
import { UserSource } from "./userSource";

/** @param program undefined in a refresh and in a Retirement */
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

function listIn(lists: Map<string, Credentials[]>, secret: string): Credentials[] {
  const list = lists.get(secret) ?? [];
  lists.set(secret, list);
  return list;
}
