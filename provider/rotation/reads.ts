import { RekeyError, RequestError } from "../domain/errors";
import { ownerOf, type SecretKind } from "../domain/secretKind";
import { valuesOf } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { poll, untilEnd } from "../run/poll";
import { type Run } from "../run/run";
import { type Verdict } from "./evidence";
import { marksOf } from "./marks";
import { credentialsIn, type Memory, type State } from "./state";
import { type Learned } from "./findings";
import { savedAdminAdvice, savedKeyAdvice } from "./messages";
import { type Session } from "./session";

async function readSecret({ subject, reads }: Session, run: Run): Promise<SecretResponse> {
  const response = await run.platform.operations(subject.kind).read(subject.id);
  reads.push(response.credentials);
  return response;
}

/** Reads a secret before it is reset or adopted. */
export function readBefore(session: Session, intent: "reset" | "adopted"): Promise<SecretResponse> {
  return readBeforeChange(session, intent, () => readSecret(session, session.run));
}

/** What a read before a reset or an adoption returns. Its failure says that nothing was changed. */
export async function readBeforeChange<T>(
  { subject }: Session,
  intent: "reset" | "adopted",
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { method, url, happened, advice } = error;
    const [when, unchanged] =
      intent === "reset"
        ? beforeReset(subject.kind)
        : ["to adopt it", "It was not adopted, and nothing was changed."];
    const facts = {
      purpose: `read ${ownerOf(subject)} ${when}`,
      method,
      url,
      consequences: { unchanged },
    };
    throw new RequestError("not sent", facts, { happened, advice, code: "REKEY_NOT_READ" });
  }
}

function beforeReset({ overlaps, word }: SecretKind): [when: string, unchanged: string] {
  return overlaps
    ? ["before its rotation", "Nothing was changed."]
    : ["before its reset", `No reset was sent, and the ${word} was not changed.`];
}

/**
 * Reads a secret without resetting it. It never fails: if the read does, the saved state stays.
 *
 * @param isRefresh whether the configuration is that of the last `up`
 */
export async function tryRead(session: Session, saved: State, isRefresh = false): Promise<Learned> {
  const { subject, run, context, evidence, source } = session;
  if (!context.canRead) return { state: saved, findings: [] };
  try {
    run.platform.secrets.add(valuesOf(credentialsIn(saved)));
    if (source) return await source.read(saved, {});
    return evidence.afterRead(saved, await readSecret(session, run), context);
  } catch (error) {
    const { service, isOfServer } = subject.kind;
    const ofRefresh = () => (isOfServer ? savedAdminAdvice(error) : savedKeyAdvice(service, error));
    // Only the text of Rekey's own errors is free of secrets.
    const why =
      error instanceof RekeyError
        ? error.text + (isRefresh ? ofRefresh() : "")
        : "pulumi-rekey failed unexpectedly.";
    return { state: saved, findings: [{ kind: "failed", why: `was not read: ${why}` }] };
  }
}

/** What several reads have shown. */
export interface LastRead {
  /** What the last of them that did not fail has shown, and what that proves. */
  readonly read?: SecretResponse;
  readonly verdict?: Verdict;
  /** Why it has shown no new credential. */
  readonly why?: string | undefined;
}

/** Milliseconds of a read at the end of the time for reads. */
const lastReadMs = 1_000;

/**
 * Reads until the old credential is no longer shown, because a platform may apply a reset later than it responds, and a
 * read may show an older record. A read without the credential ends it, too: waiting does not unmask a password.
 */
export function readUntilChanged(session: Session, memory: Memory): Promise<LastRead> {
  const { run, context, evidence } = session;
  const { clock, end, settings } = run.options;
  const endsAtMs = clock.elapsedMs() + settings.deadlineMs;
  // What the last read has shown that did not fail.
  let shown: LastRead = {};
  const ended = () => ({ ...shown, why: "the run has ended", isFinal: true });
  const act = async (): Promise<LastRead & { readonly isFinal: boolean }> => {
    if (end.aborted) return ended();
    const limitMs = Math.max(lastReadMs, endsAtMs - clock.elapsedMs());
    try {
      const read = await untilEnd(end, readSecret(session, run.during({ limitMs })));
      if (read === undefined) return ended();
      const verdict = evidence.compare(memory, marksOf(memory, read.credentials), context);
      shown = { read, verdict, why: whyNotKnown[verdict] };
      return { ...shown, isFinal: verdict !== "former" };
    } catch (error) {
      return { ...shown, ...failedRead(error) };
    }
  };
  return poll(run, { act, isDone: ({ isFinal }) => isFinal, endsAtMs });
}

const whyNotKnown: Partial<Record<Verdict, string>> = {
  hidden: "the platform neither returned it nor shows it",
  former: "the platform still shows the old one",
};

function failedRead(error: unknown): LastRead & { readonly isFinal: boolean } {
  if (!(error instanceof RequestError)) {
    return { why: "it could not be read (pulumi-rekey failed unexpectedly)", isFinal: false };
  }
  const { happened, delivery, status } = error;
  const isFinal = delivery === "rejected" && status !== 429;
  return { why: `it could not be read (${happened})`, isFinal };
}
