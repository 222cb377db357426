import { type RequestFacts } from "../domain/errors";
import { type KeyOperation } from "../platform/flowControl";
import { type FlowControlKey } from "../records/flowControl";

/** A key's declared limits, in seconds; `paused` is undefined if the program neither pauses nor resumes the key. */
export interface Limits {
  readonly parallelism?: number | undefined;
  readonly rate?: number | undefined;
  readonly period?: number | undefined;
  readonly paused?: boolean | undefined;
}

/** The limits that the platform shows of a key. One that is not pinned is undefined, even if messages have set one. */
export interface Shown extends Limits {
  readonly paused: boolean;
}

export function shownBy({
  isPinnedParallelism,
  isPinnedRate,
  isPaused = false,
  ...key
}: FlowControlKey): Shown {
  const { parallelismMax = 0, rateMax = 0, ratePeriod = 1 } = key;
  return {
    ...(isPinnedParallelism && { parallelism: parallelismMax }),
    ...(isPinnedRate && { rate: rateMax, period: ratePeriod }),
    paused: isPaused,
  };
}

/**
 * The requests that bring a key to what is declared. In this order, a failure in between leaves the key stricter, not
 * looser.
 *
 * @param views what the platform shows, and what is saved: only what is missing in all of them is sent
 */
export function operationsFor(
  views: readonly Shown[],
  former: Limits,
  declared: Limits,
): KeyOperation[] {
  const { parallelism, rate, period, paused } = declared;
  const isMissing = (...names: (keyof Limits)[]) =>
    views.every((shown) => names.some((name) => shown[name] !== declared[name]));
  const pinned = {
    ...(parallelism !== undefined &&
      isMissing("parallelism") && { parallelism: String(parallelism) }),
    ...(rate !== undefined &&
      isMissing("rate", "period") && { rate: String(rate), period: String(period) }),
  };
  const unpinned = (["parallelism", "rate"] as const).filter(
    (name) => former[name] !== undefined && declared[name] === undefined && isMissing(name),
  );
  const operations: readonly (readonly [isDue: boolean, KeyOperation])[] = [
    [paused === true && isMissing("paused"), { action: "pause", query: {} }],
    [Object.keys(pinned).length > 0, { action: "pin", query: pinned }],
    [
      unpinned.length > 0,
      { action: "unpin", query: Object.fromEntries(unpinned.map((name) => [name, "true"])) },
    ],
    [paused === false && isMissing("paused"), { action: "resume", query: {} }],
  ];
  return operations.flatMap(([isDue, operation]) => (isDue ? operation : []));
}

/** The limits of a key after an operation that the platform confirmed: what it changes is as declared. */
export function after(shown: Shown, { action, query }: KeyOperation, declared: Limits): Shown {
  if (action === "pause" || action === "resume") return { ...shown, paused: action === "pause" };
  const { parallelism, rate, period } = declared;
  return {
    ...shown,
    ...("parallelism" in query && { parallelism }),
    ...("rate" in query && { rate, period }),
  };
}

/** `pin rate 100 per 60 s (now 50 per 1 s), resume` */
export function describe(operations: readonly KeyOperation[], shown: Shown): string {
  const now = shown.rate === undefined ? "not pinned" : `${shown.rate} per ${shown.period} s`;
  const described = operations.map(({ action, query }) => {
    const { parallelism, rate, period } = query;
    if (action !== "pin") return `${action} ${Object.keys(query).join(" and ")}`.trim();
    const limits = [
      parallelism && `parallelism ${parallelism} (now ${shown.parallelism ?? "not pinned"})`,
      rate && `rate ${rate} per ${period} s (now ${now})`,
    ];
    return `pin ${limits.filter(Boolean).join(" and ")}`;
  });
  return described.join(", ");
}

/** The consequences of a failed operation for the key. */
export function consequencesOf(done: readonly KeyOperation[]): RequestFacts["consequences"] {
  const applied =
    done.length === 0 ? "" : `Already applied: ${done.map(({ action }) => action).join(", ")}. `;
  return {
    unchanged: applied === "" ? "The key was not changed." : `${applied}Nothing else was changed.`,
    unknown: `${applied}The key may have been changed. The next \`up\` reads it first and sends only what differs.`,
  };
}
