import { type SecretResponse } from "../records/response";
import { ownerOf, type Subject } from "../platform/secretKind";
import { NotReadError, RejectedError, RequestError } from "../platform/errors";
import { poll, untilEnd } from "../poll";
import { type Run } from "../run";
import { type Verdict } from "./marks";
import { shownIn } from "./saved";

/** What the last of several reads proved, or why it could not be used. */
export type Shown =
  | { readonly kind: Verdict; readonly response: SecretResponse }
  | { readonly kind: "unreadable"; readonly why: string; readonly isRejected?: boolean };

/**
 * Reads a secret before it is reset or adopted.
 *
 * @throws NotReadError, for which nothing was changed
 */
export async function readFirst(subject: Subject, intent: "reset" | "adopted", run: Run): Promise<SecretResponse> {
  try {
    const read = await run.platform.operations(subject.kind).read(subject.id);
    shownIn(subject, run).push(read.credentials);
    return read;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new NotReadError({ owner: ownerOf(subject), word: subject.kind.word }, intent, error);
  }
}

/**
 * Reads a secret until its new credentials are shown, because a platform may apply a reset later than it responds, and
 * a read may show an older record. It ends at once if the credentials are hidden, the read is rejected or the run ends.
 *
 * @param judge returns what a record proves
 */
export async function readUntilCurrent(
  subject: Subject,
  judge: (response: SecretResponse) => Verdict,
  run: Run,
): Promise<Shown> {
  const { kind, id } = subject;
  const { clock, end, deadlineMs } = run.options;
  const endsAtMs = clock.elapsedMs() + deadlineMs();
  const operations = run.platform.operations(kind);
  const ended: Shown = { kind: "unreadable", why: "the run was ended", isRejected: true };
  const read = async (): Promise<Shown> => {
    if (end.aborted) return ended;
    const remainingMs = Math.max(1, endsAtMs - clock.elapsedMs());
    try {
      const response = await untilEnd(end, operations.read(id, { deadlineMs: remainingMs }));
      if (response === undefined) return ended;
      shownIn(subject, run).push(response.credentials);
      return { kind: judge(response), response };
    } catch (error) {
      const why = error instanceof RequestError ? error.happened : "pulumi-rekey failed";
      return { kind: "unreadable", why, isRejected: error instanceof RejectedError && error.status !== 429 };
    }
  };
  const isDone = (shown: Shown): boolean =>
    shown.kind === "unreadable" ? shown.isRejected === true : shown.kind !== "stale" && shown.kind !== "pending";
  return poll(run, { act: read, isDone, firstWaitMs: 250, endsAtMs });
}
