import { RekeyError, RequestError } from "../../domain/errors";
import { ownerOf, type Subject } from "../../domain/secretKind";
import { isServerChanged } from "../program/admin";
import { adopted } from "./afterRead";
import { emptyMemory, withMustRead, withRetired } from "../memory/memory";
import { type Finding, type StateChange } from "../messages/findings";
import { passwordFindings } from "../messages/passwordFindings";
import { type Plan } from "../program/plan";
import { type Program } from "../program/program";
import { type Session, type ReadResult } from "./source";
import { type State, withAdmin, withoutValues } from "../memory/state";

/** The state before a rotation, and what to report about it. */
export interface Before extends Omit<StateChange, "state"> {
  /** Undefined for a new resource that is not adopted. */
  readonly state: State | undefined;
  /** Undefined if the platform cannot be read, or the read has failed. */
  readonly readResult: ReadResult | undefined;
}

/** A session of an `up`, which has a program. */
export type UpSession = Session & { readonly program: Program };

/** The state after the read, before anything is changed. A read that only looks is a warning if it fails. */
export async function readBefore(
  plan: Plan,
  saved: State | undefined,
  session: UpSession,
): Promise<Before> {
  const { subject, run, context, program, source } = session;
  // Settings that are missing are found even if no request is needed.
  if (subject.kind.service) run.platform.operations(subject.kind);
  let readResult: ReadResult | undefined;
  try {
    readResult = context.canRead ? await source.read(saved) : undefined;
  } catch (error) {
    // At another address, the user may be another one: nothing is handed over.
    const isElsewhere = saved !== undefined && isServerChanged(program.admin, saved.memory);
    const isOnlyRead = plan.kind === "read" && saved !== undefined && !isElsewhere;
    if (isOnlyRead && (error instanceof RequestError || !(error instanceof RekeyError))) {
      const { applied, current } = saved.memory;
      // An import whose first read fails is read by the next `up`.
      const mustRead = applied === undefined || current.mustRead === true;
      const state = { ...saved, memory: withMustRead(saved.memory, mustRead) };
      return { state, readResult, findings: [failedRead(error)] };
    }
    const intent = plan.kind === "adopt" ? "adopted" : isElsewhere ? "moved" : "rotated";
    throw notRead(error, subject, program, intent);
  }
  return stateAfter(saved, readResult, session);
}

/** The state after the read, if it could be made. */
function stateAfter(
  saved: State | undefined,
  readResult: ReadResult | undefined,
  { subject, context, program, source }: UpSession,
): Before {
  if (!saved) {
    const { state, findings } = adopted(program, readResult, context);
    const ofUser = passwordFindings(state.memory, subject.id);
    return program.isAdopted
      ? { state, readResult, findings: [...findings, ...ofUser] }
      : { state: undefined, readResult, findings: ofUser };
  }
  // The saved state stays until the user of another server is rotated in its place.
  if (!readResult || readResult.isOtherServer) return { state: saved, readResult, findings: [] };
  return { ...source.afterRead(withAdmin(saved, program.admin), readResult), readResult };
}

/** The state before a rotation. At another server, nothing is known, as before the first rotation. */
export function beforeFirst(
  { state: saved, readResult, findings }: Before,
  { context, program, source }: UpSession,
): StateChange {
  if (saved === undefined) {
    const { state: read } = adopted(program, readResult, context);
    // A secret that is replaced at once is not handed out first. No trigger is applied yet.
    const first = program.adds ? read : withoutValues(read);
    const memory = { ...first.memory, applied: "" };
    const state = { ...first, adoptedAt: undefined, memory };
    return { state: withAdmin(state, program.admin), findings };
  }
  if (!readResult?.isOtherServer) return { state: saved, findings };
  const { memory } = saved;
  const { formers, kindFacts } = emptyMemory(context.now);
  const current = { ...memory.current, marks: {}, identity: undefined, generatedAt: undefined };
  const first = { ...saved, memory: { ...memory, current, formers, kindFacts } };
  return source.afterRead(withAdmin(first, program.admin), readResult);
}

/** The state after an attempt that is not handed over. At another server, it is the one before, with the attempt. */
export function notHandedOver<T extends StateChange>(
  change: T,
  { state: saved, readResult }: Before,
): T {
  const { attempt, kindFacts } = change.state.memory;
  if (attempt === undefined || saved === undefined || !readResult?.isOtherServer) return change;
  const { memory } = saved;
  // A password that was removed there may come back.
  const retired = kindFacts.retired && withRetired(memory.kindFacts, kindFacts.retired);
  const known = { ...memory.kindFacts, ...(retired && { retired }) };
  const before = { ...memory, attempt, kindFacts: known };
  return { ...change, state: { ...saved, waits: undefined, memory: before } };
}

/** @param advice follows the text of the error */
export function failedRead(error: unknown, advice = ""): Finding {
  // Only the text of Rekey's own errors is free of secrets.
  const why =
    error instanceof RekeyError ? error.text + advice : "pulumi-rekey failed unexpectedly.";
  return { kind: "failed", why: `was not read: ${why}` };
}

/** The error of a read before a rotation or an adoption. It says that nothing was changed. */
function notRead(
  error: unknown,
  subject: Subject,
  program: Program,
  intent: "rotated" | "adopted" | "moved",
): unknown {
  if (!(error instanceof RequestError)) return error;
  const { method, url, happened, advice } = error;
  const { kind } = subject;
  const [when, unchanged] =
    intent === "adopted"
      ? ["to adopt it", "It was not adopted, and nothing was changed."]
      : intent === "moved"
        ? ["at its new address", "It is unknown whether it is the same user. Nothing was changed."]
        : program.adds
          ? ["before it is changed", "Nothing was changed."]
          : ["before its reset", `No reset was sent, and the ${kind.word} was not changed.`];
  const purpose = `read ${ownerOf(subject)} ${when}`;
  const facts = { purpose, method, url, consequences: { unchanged } };
  return new RequestError("not sent", facts, { happened, advice, code: "REKEY_NOT_READ" });
}
