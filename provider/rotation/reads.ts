import { type InternalError, RekeyError, RequestError } from "../platform/errors";
import { ownerOf, type Subject } from "../platform/secretKind";
import { valuesOf } from "../records/fields";
import { poll, untilEnd, type Run } from "../run";
import { type SecretResponse } from "../records/response";
import { judge, learn } from "./evidence";
import { type Learned, type Rotated, savedKeyAdvice, unknownFailure } from "./findings";
import { marksOf } from "./memory";
import { contextOf } from "./plan";
import { save, shownIn } from "./save";
import { credentialsIn, type State } from "./state";

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
  /** Why it has shown nothing that is current. */
  readonly why?: string;
  readonly isFinal: boolean;
}

/**
 * Reads until the new credentials are shown, because a platform may apply a reset later than it responds, and a read
 * may show an older record. What is hidden is not waited for.
 */
export async function readUntilShown(subject: Subject, { memory }: State, run: Run): Promise<Last> {
  const { clock, end, settings } = run.options;
  const endsAtMs = clock.elapsedMs() + settings.deadlineMs;
  const ended: Last = { why: "the run was ended", isFinal: true };
  const act = async (): Promise<Last> => {
    if (end.aborted) return ended;
    const remainingMs = Math.max(1, endsAtMs - clock.elapsedMs());
    try {
      const last = await untilEnd(end, read(subject, run.within(remainingMs)));
      if (last === undefined) return ended;
      const verdict = judge(memory, marksOf(memory, last.credentials), contextOf(subject, run));
      if (verdict === "hidden") return { why: "the platform neither returned it nor shows it", isFinal: true };
      const isOld = verdict === "stale" || (verdict === "same" && memory.pending !== undefined);
      return isOld
        ? { why: "the platform still shows the former credentials", isFinal: false }
        : { read: last, isFinal: true };
    } catch (error) {
      const { happened = "pulumi-rekey failed", delivery, status } = error instanceof RequestError ? error : {};
      return { why: `it could not be read (${happened})`, isFinal: delivery === "rejected" && status !== 429 };
    }
  };
  return poll(run, { act, isDone: ({ isFinal }) => isFinal, firstWaitMs: 250, endsAtMs });
}

/** The state after a reset whose response was lost: the unconfirmed one of `begin`, unless a read shows the result. */
export async function settleLost(
  subject: Subject,
  unconfirmed: State,
  failed: RequestError | InternalError,
  run: Run,
): Promise<Rotated> {
  const canSettle = unconfirmed.memory.pending?.before !== undefined;
  const last = canSettle ? await readUntilShown(subject, unconfirmed, run) : undefined;
  const failure = unknownFailure(subject, failed, canSettle);
  if (!last?.read) return { state: unconfirmed, failure, findings: [] };
  // The platform's text may contain the new credentials, which only this read has shown.
  const { secrets } = run.platform;
  secrets.add(valuesOf(last.read.credentials));
  const why = secrets.redact(failed instanceof RequestError ? failed.happened : "its result was lost");
  const learned = learn(unconfirmed, last.read, contextOf(subject, run));
  const findings = learned.findings.map((one) => (one.kind === "unknown" ? one : { ...one, why }));
  return { ...learned, findings, ...(learned.state.memory.pending && { failure }) };
}

/**
 * Reads a secret without resetting it; `learn` decides what the read changes. It never fails: if the read does, the
 * saved state stays.
 *
 * @param isRefresh whether the configuration is that of the last `up`
 */
export async function tryRead(subject: Subject, saved: State, run: Run, isRefresh = false): Promise<Learned> {
  const context = contextOf(subject, run);
  try {
    if (!context.canRead) return { state: saved, findings: [] };
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    return learn(saved, await read(subject, run), context);
  } catch (error) {
    const advice = isRefresh ? savedKeyAdvice(subject.kind.service, error) : "";
    // Only the text of Rekey's own errors is free of secrets.
    const why = error instanceof RekeyError ? error.text + advice : "";
    return { state: saved, findings: [{ kind: "failed", why }] };
  }
}

/** Reads a secret for a refresh, and prepares what is saved. It resets nothing and never fails. */
export async function refresh(subject: Subject, saved: State, run: Run): Promise<Rotated> {
  const found = await tryRead(subject, saved, run, true);
  const { failure, ...next } = await save(subject, saved, found, saved.memory.declared, run);
  return failure ? { state: saved, findings: [{ kind: "failed", why: failure.text }] } : next;
}
