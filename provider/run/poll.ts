import { type Run } from "./run";

/** Milliseconds of the first and of the longest wait. Each one is twice as long as the one before. */
const firstWaitMs = 200;
const maxWaitMs = 5_000;

interface Polling<T> {
  readonly act: () => Promise<T>;
  readonly isDone: (result: T) => boolean;
  /** Time of the run's clock of the last attempt. */
  readonly endsAtMs: number;
}

/**
 * Repeats until it is done, because a platform may show a change later than it confirms it.
 *
 * @returns the last result: at the end of its time, or if the run ends, that of an attempt that is not done
 */
export async function poll<T>({ options }: Run, { act, isDone, endsAtMs }: Polling<T>): Promise<T> {
  const { clock, end } = options;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
    const result = await act();
    const leftMs = endsAtMs - clock.elapsedMs();
    // A timer may fire a millisecond early.
    if (isDone(result) || end.aborted || leftMs < 1) return result;
    await untilEnd(end, clock.sleep(Math.min(waitMs, leftMs)));
  }
}

/** Undefined if the run ends first. */
export async function untilEnd<T>(runEnd: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  let end: (() => void) | undefined;
  const ended = new Promise<undefined>((resolve) =>
    runEnd.addEventListener("abort", (end = () => resolve(undefined))),
  );
  try {
    return await Promise.race([work, ended]);
  } finally {
    if (end) runEnd.removeEventListener("abort", end);
  }
}
