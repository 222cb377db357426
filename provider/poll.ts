import { type Run } from "./run";

/** Milliseconds of the longest wait. */
const maxWaitMs = 5_000;

/** What is repeated. */
interface Polling<T> {
  readonly act: () => Promise<T>;
  readonly isDone: (result: T) => boolean;
  /** Each wait is twice as long as the one before. */
  readonly firstWaitMs: number;
  /** Time of the run's clock after which nothing begins. */
  readonly endsAtMs: number;
}

/**
 * Repeats until it is done, because a platform may show a change later than it confirms it.
 *
 * @returns the last result: if nothing more may begin or the run ends, that of an attempt that is not done
 */
export async function poll<T>({ options }: Run, { act, isDone, firstWaitMs, endsAtMs }: Polling<T>): Promise<T> {
  const { clock, end } = options;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
    const result = await act();
    if (isDone(result) || end.aborted || clock.elapsedMs() + waitMs > endsAtMs) return result;
    await untilEnd(end, clock.sleep(waitMs));
  }
}

/** Undefined if the run ends first. */
export async function untilEnd<T>(runEnd: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  let end: (() => void) | undefined;
  const ended = new Promise<undefined>((resolve) => runEnd.addEventListener("abort", (end = () => resolve(undefined))));
  try {
    return await Promise.race([work, ended]);
  } finally {
    if (end) runEnd.removeEventListener("abort", end);
  }
}
