import { type DatabaseResponse } from "../records/response";
import { NotReadError, RejectedError, RequestError } from "../platform/errors";
import { type Verdict } from "./marks";
import { type Session } from "./session";

/** What the last of several reads proved, or why it could not be used. */
export type Shown =
  { readonly is: Verdict; readonly response: DatabaseResponse } | { readonly is: "unreadable"; readonly why: string };

/** Milliseconds between two reads; each wait is twice as long as the one before, up to the maximum. */
const firstWaitMs = 250;
const maxWaitMs = 5_000;

/**
 * Reads a database before its password is reset or it is adopted.
 *
 * @throws NotReadError, for which nothing was changed
 */
export async function readFirst(
  databaseId: string,
  intent: "reset" | "adopted",
  session: Session,
): Promise<DatabaseResponse> {
  try {
    return await session.options.platform.databases.read(databaseId);
  } catch (error) {
    throw error instanceof RequestError ? new NotReadError(databaseId, intent, error) : error;
  }
}

/**
 * Reads a database until it shows its new credentials, because a platform may apply a reset later than it responds, and
 * a read may show an older record. It ends at once if the credentials are hidden, the read is rejected or the run ends.
 *
 * @param judge returns what a record proves
 * @param durationMs milliseconds after which no further read begins; 0 reads once
 */
export async function readUntilCurrent(
  databaseId: string,
  judge: (response: DatabaseResponse) => Verdict,
  session: Session,
  durationMs = session.options.deadlineMs(),
): Promise<Shown> {
  const { timer, platform, runEnd } = session.options;
  const endsAtMs = timer.now() + durationMs;
  const ended: Shown = { is: "unreadable", why: "the run was ended" };
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
    if (runEnd.aborted) return ended;
    const deadlineMs = durationMs === 0 ? undefined : Math.max(1, endsAtMs - timer.now());
    let shown: Shown;
    try {
      const response = await untilEnd(runEnd, platform.databases.read(databaseId, { deadlineMs }));
      if (response === undefined) return ended;
      shown = { is: judge(response), response };
    } catch (error) {
      shown = { is: "unreadable", why: error instanceof RequestError ? error.happened : "pulumi-rekey failed" };
      if (error instanceof RejectedError && error.status !== 429) return shown;
    }
    const isLast = timer.now() + waitMs > endsAtMs;
    if (isLast || runEnd.aborted || shown.is === "current" || shown.is === "hidden") return shown;
    await untilEnd(runEnd, timer.sleep(waitMs));
  }
}

/** Undefined if the run ends first. */
async function untilEnd<T>(runEnd: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  let end: (() => void) | undefined;
  const ended = new Promise<undefined>((resolve) => runEnd.addEventListener("abort", (end = () => resolve(undefined))));
  try {
    return await Promise.race([work, ended]);
  } finally {
    if (end) runEnd.removeEventListener("abort", end);
  }
}
