import { RekeyError, RequestError } from "../platform/errors";
import { keyOf, ownerOf, type Subject } from "../platform/secretKind";
import { poll, untilEnd } from "../poll";
import { type Credentials, valuesOf } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { type Run } from "../run";
import { learn } from "./evidence";
import { type Learned } from "./findings";
import { judge } from "./judge";
import { marksOf, onlyKnown } from "./memory";
import { type Context, isReadable, maySettle } from "./plan";
import { credentialsIn, type State } from "./state";

/** What plans and evidence depend on, besides the state and the inputs. */
export function contextOf({ kind }: Pick<Subject, "kind">, { options }: Run): Context {
  const ownToken = kind.authorizesQueue && options.queueToken();
  return {
    kind,
    now: options.clock.now(),
    place: options.place(kind),
    canRead: options.canRead(kind),
    isScheduleOn: options.scheduledResets() === "on",
    ...(ownToken && { ownToken }),
  };
}

/** The credentials that reads of this run have shown. What the platform shows may leave the state. */
export function shownIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`shown ${keyOf(subject)}`, (): Credentials[] => []);
}

async function read(subject: Subject, run: Run): Promise<SecretResponse> {
  const response = await run.platform.operations(subject.kind).read(subject.id);
  shownIn(subject, run).push(response.credentials);
  return response;
}

/**
 * Reads a secret before it is reset or adopted.
 *
 * @throws RequestError, for which nothing was changed
 */
export async function readBefore(subject: Subject, intent: "reset" | "adopted", run: Run): Promise<SecretResponse> {
  try {
    return await read(subject, run);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { method, url, happened, advice } = error;
    const [when, unchanged] =
      intent === "reset"
        ? ["before its reset", `No reset was sent, and the ${subject.kind.word} was not changed.`]
        : ["to adopt it", "It was not adopted, and nothing was changed."];
    const facts = { purpose: `read ${ownerOf(subject)} ${when}`, method, url, consequences: { unchanged } };
    throw new RequestError("not sent", facts, { happened, advice, code: "REKEY_NOT_READ" });
  }
}

/** The last of several reads. */
interface Last {
  /** What it has shown, if that is current. */
  readonly read?: SecretResponse;
  /** Whether it has shown what was current before, or could not be made. */
  readonly isOld?: boolean;
  readonly why?: string;
  readonly isFinal: boolean;
}

/**
 * Reads until the new credentials are shown, because a platform may apply a reset later than it responds, and a read
 * may show an older record. What is hidden is not waited for.
 */
export async function readUntilShown(subject: Subject, { memory }: State, run: Run): Promise<Last> {
  const { clock, end, deadlineMs } = run.options;
  const endsAtMs = clock.elapsedMs() + deadlineMs();
  const ended: Last = { isOld: true, why: "the run was ended", isFinal: true };
  const act = async (): Promise<Last> => {
    if (end.aborted) return ended;
    const remainingMs = Math.max(1, endsAtMs - clock.elapsedMs());
    try {
      const last = await untilEnd(end, read(subject, run.within(remainingMs)));
      if (last === undefined) return ended;
      const verdict = judge(memory, marksOf(memory, last.credentials), contextOf(subject, run));
      if (verdict === "hidden") return { isFinal: true };
      const isOld = verdict === "stale" || (verdict === "same" && memory.pending !== undefined);
      return isOld ? { isOld, isFinal: false } : { read: last, isFinal: true };
    } catch (error) {
      const { happened = "pulumi-rekey failed", delivery, status } = error instanceof RequestError ? error : {};
      return { isOld: true, why: happened, isFinal: delivery === "rejected" && status !== 429 };
    }
  };
  return poll(run, { act, isDone: ({ isFinal }) => isFinal, firstWaitMs: 250, endsAtMs });
}

/**
 * Reads what may have been changed elsewhere, and what is not known. It never fails: if the read does, the saved state
 * stays.
 *
 * @param adviceOn returns what is said of a failed read in addition, with a space before it
 */
export async function look(
  subject: Subject,
  saved: State,
  run: Run,
  adviceOn: (error: unknown) => string = () => "",
): Promise<Learned> {
  const context = contextOf(subject, run);
  const { pending } = saved.memory;
  try {
    if (!context.canRead) return { state: saved, findings: [] };
    if (pending && isReadable(saved.memory, context) && !maySettle(saved.memory, context)) {
      return { state: saved, findings: [] };
    }
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    return waitingForNoHidden(learn(saved, await read(subject, run), context));
  } catch (error) {
    // Only the text of Rekey's own errors is free of secrets.
    const why = error instanceof RekeyError ? `${error.text}${adviceOn(error)}` : "";
    return { state: saved, findings: [{ kind: "failed", why }] };
  }
}

/** What a read hides is not waited for any longer: the next one may show it by chance. */
function waitingForNoHidden({ state, findings }: Learned): Learned {
  const { memory } = state;
  if (!findings.some(({ kind }) => kind === "hidden")) return { state, findings };
  return { state: { ...state, memory: { ...memory, current: onlyKnown(memory.current) } }, findings };
}
