import { NotShownError, RekeyError } from "../platform/errors";
import { type FlowControl } from "../platform/flowControl";
import { type FlowControlKey } from "../records/flowControl";
import { type Applied, type CheckFailure, type Difference, type Resource } from "../rotation/resource";
import { readInterval } from "../rotation/schedule";
import { type Session } from "../rotation/session";

/** What a program declares of a key, in seconds; `paused` is undefined if it neither pauses nor resumes the key. */
interface Limits {
  readonly parallelism?: number | undefined;
  readonly rate?: number | undefined;
  readonly period?: number | undefined;
  readonly paused?: boolean | undefined;
}

/** What a FlowControlLimits saves: what the platform shows, and what is declared. */
export interface FlowControlLimitsOutputs extends Limits {
  readonly flowControlKey: string;
  readonly paused: boolean;
  /** What this resource owns: it is unpinned once it is no longer declared, even if it was pinned elsewhere first. */
  readonly declared: Limits;
}

/** The names of all outputs. None is a counter: it would make each refresh a change. */
export const flowControlLimitsOutputs = [
  "flowControlKey",
  "parallelism",
  "rate",
  "period",
  "paused",
  "declared",
] as const satisfies readonly (keyof FlowControlLimitsOutputs)[];

export interface FlowControlLimitsInputs {
  readonly flowControlKey: string;
  readonly parallelism?: number | null;
  readonly rate?: number | null;
  /** Seconds, or a duration. */
  readonly period?: number | string | null;
  readonly paused?: boolean | null;
  /** The resource's full name. */
  readonly owner?: string;
  /** Full names of other resources of the program for the same key. */
  readonly otherOwners?: readonly string[];
}

/** What limits need of the run. */
export interface FlowControlLimitsSession extends Pick<Session, "claim"> {
  /**
   * What the program declares, by key: of each resource that this run compares, creates or updates. A check alone does
   * not count, because a destroy that runs the program checks what it then removes.
   */
  readonly declaredLimits: Map<string, Limits>;
  readonly options: Pick<Session["options"], "timer" | "deadlineMs"> & {
    readonly platform: { readonly flowControl: FlowControl };
  };
}

export const flowControlLimits: Resource<FlowControlLimitsInputs, FlowControlLimitsOutputs, FlowControlLimitsSession> =
  {
    idInput: "flowControlKey",
    outputs: flowControlLimitsOutputs,
    secretOutputs: [],
    hiddenInputs: ["owner", "otherOwners"],
    decidingInputs: ["flowControlKey", "parallelism", "rate", "period", "paused"],
    importedInputs,
    importedOutputs,
    check,
    diff,
    apply,
    refresh,
    remove,
  };

function check(
  inputs: FlowControlLimitsInputs,
  unknown: ReadonlySet<string>,
  session: FlowControlLimitsSession,
): CheckFailure[] {
  const { checkInputs, flowControlLimitsInputs } = require("../rotation/inputs") as typeof import("../rotation/inputs");
  const failures = checkInputs(flowControlLimitsInputs, { ...inputs }, unknown);
  const { flowControlKey, parallelism, rate, period, paused, owner, otherOwners } = inputs;
  const isSet = (name: string, value: unknown) => unknown.has(name) || (value ?? undefined) !== undefined;
  if (isSet("period", period) && !isSet("rate", rate)) {
    failures.push({ property: "period", reason: "period needs a rate" });
  }
  if (!isSet("parallelism", parallelism) && !isSet("rate", rate) && !isSet("paused", paused)) {
    failures.push({ property: "parallelism", reason: "parallelism, rate or paused must be set" });
  }
  if (failures.length > 0 || typeof owner !== "string" || unknown.has("flowControlKey") || unknown.has("owner")) {
    return failures;
  }
  const other = session.claim(`flow-control key ${flowControlKey}`, owner, otherOwners);
  if (other === undefined) return [];
  const reason = `flow-control key ${JSON.stringify(flowControlKey)} is already declared by ${other}: each \`up\` would replace the limits of the other. Remove one of them`;
  return [{ property: "flowControlKey", reason, code: "REKEY_DUPLICATE_KEY" }];
}

function diff(
  saved: FlowControlLimitsOutputs,
  inputs: FlowControlLimitsInputs,
  { declaredLimits }: FlowControlLimitsSession,
): Difference {
  const declared = declaredIn(inputs);
  declaredLimits.set(inputs.flowControlKey, declared);
  if (saved.flowControlKey !== inputs.flowControlKey) return { changes: true, replaces: ["flowControlKey"] };
  const { declared: former } = saved;
  const operations = operationsFor(saved, former, declared);
  const isRedeclared = !isSame(former, declared);
  if (operations.length === 0 && !isRedeclared) return { changes: false };
  const lines = operations.map((operation) => describe(operation, saved));
  if (staysPaused(saved, former, declared)) lines.push("stays paused, because paused is no longer declared");
  const notice = `Flow-control key ${JSON.stringify(saved.flowControlKey)}: ${lines.join(", ")}.`;
  return { changes: true, ...(lines.length > 0 && { notice }) };
}

/** Sends only what differs from what the platform shows: pinning a limit resets its counters. */
async function apply(
  saved: FlowControlLimitsOutputs | undefined,
  inputs: FlowControlLimitsInputs,
  session: FlowControlLimitsSession,
): Promise<Applied<FlowControlLimitsOutputs>> {
  const { flowControlKey } = inputs;
  const { flowControl } = session.options.platform;
  const declared = declaredIn(inputs);
  session.declaredLimits.set(flowControlKey, declared);
  let shown = shownBy(await flowControl.get(flowControlKey));
  const former = saved?.declared ?? {};
  const operations = operationsFor(shown, former, declared);
  let sent = 0;
  try {
    for (const { action, query } of operations) {
      await flowControl.change(flowControlKey, action, query);
      sent++;
    }
    if (sent > 0) {
      shown = await readUntil(flowControlKey, session, (now) => operationsFor(now, former, declared).length === 0);
    }
  } catch (error) {
    if (!(error instanceof RekeyError) || (sent === 0 && error.delivery !== "maybe applied")) throw error;
    // What may have been sent is owned, and so is what is not unpinned yet.
    return { outputs: { flowControlKey, ...shown, declared: { ...former, ...declared } }, failed: error };
  }
  const notice = `Flow-control key ${JSON.stringify(flowControlKey)} stays paused, because paused is no longer declared.`;
  return {
    outputs: { flowControlKey, ...shown, declared },
    ...(staysPaused(shown, former, declared) && { notice }),
  };
}

/** The platform's state changes with a delay. @throws NotShownError if it is not shown in time */
async function readUntil(
  flowControlKey: string,
  session: FlowControlLimitsSession,
  isDone: (shown: Shown) => boolean,
): Promise<Shown> {
  const { timer, deadlineMs, platform } = session.options;
  const endsAtMs = timer.now() + deadlineMs();
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 5_000)) {
    const shown = shownBy(await platform.flowControl.get(flowControlKey));
    if (isDone(shown)) return shown;
    if (timer.now() + waitMs > endsAtMs) throw new NotShownError(flowControlKey);
    await timer.sleep(waitMs);
  }
}

/** What the platform shows of a key. A limit that is not pinned is undefined, even if messages have set one. */
type Shown = Pick<FlowControlLimitsOutputs, "parallelism" | "rate" | "period" | "paused">;

function shownBy(key: FlowControlKey): Shown {
  const { isPinnedParallelism, isPinnedRate, isPaused = false } = key;
  const { parallelismMax = 0, rateMax = 0, ratePeriod = 1 } = key;
  return {
    ...(isPinnedParallelism && { parallelism: parallelismMax }),
    ...(isPinnedRate && { rate: rateMax, period: ratePeriod }),
    paused: isPaused,
  };
}

function declaredIn({ parallelism, rate, period, paused }: FlowControlLimitsInputs): Limits {
  return {
    ...((parallelism ?? undefined) !== undefined && { parallelism: parallelism as number }),
    ...((rate ?? undefined) !== undefined && { rate: rate as number, period: secondsOf(period ?? 1) }),
    ...((paused ?? undefined) !== undefined && { paused: paused as boolean }),
  };
}

/** @param period seconds, or a duration that was checked */
function secondsOf(period: number | string): number {
  return typeof period === "number" ? period : readInterval(period).as("seconds");
}

/** One request that changes a key. */
interface Operation {
  readonly action: "pause" | "pin" | "unpin" | "resume";
  readonly query: Readonly<Record<string, string>>;
}

/**
 * The requests that bring a key to what is declared. In this order, a failure in between leaves the key stricter, not
 * looser.
 *
 * @param former what was declared before
 */
function operationsFor(shown: Shown, former: Limits, declared: Limits): Operation[] {
  const { parallelism, rate, period, paused } = declared;
  const pinned: Record<string, string> = {};
  if (parallelism !== undefined && parallelism !== shown.parallelism) pinned["parallelism"] = String(parallelism);
  if (rate !== undefined && (rate !== shown.rate || period !== shown.period)) {
    Object.assign(pinned, { rate: String(rate), period: String(period) });
  }
  const unpinned: Record<string, string> = {};
  for (const name of ["parallelism", "rate"] as const) {
    if (former[name] !== undefined && declared[name] === undefined && shown[name] !== undefined) {
      unpinned[name] = "true";
    }
  }
  return [
    ...(paused === true && !shown.paused ? [{ action: "pause" as const, query: {} }] : []),
    ...(Object.keys(pinned).length > 0 ? [{ action: "pin" as const, query: pinned }] : []),
    ...(Object.keys(unpinned).length > 0 ? [{ action: "unpin" as const, query: unpinned }] : []),
    ...(paused === false && shown.paused ? [{ action: "resume" as const, query: {} }] : []),
  ];
}

/** `pin rate 100 per 60 s (now 50 per 1 s; resets the counters)` */
function describe({ action, query }: Operation, shown: Shown): string {
  if (action === "pause" || action === "resume") return action;
  if (action === "unpin") return `unpin ${Object.keys(query).join(" and ")}`;
  const rateOf = (rate: unknown, period: unknown) => `${String(rate)} per ${String(period)} s`;
  const { parallelism, rate, period } = query;
  const parts = [
    ...(parallelism === undefined ? [] : [`parallelism ${parallelism} (now ${shown.parallelism ?? "not pinned"})`]),
    ...(rate === undefined
      ? []
      : [
          `rate ${rateOf(rate, period)} (now ${shown.rate === undefined ? "not pinned" : rateOf(shown.rate, shown.period)}; resets the counters)`,
        ]),
  ];
  return `pin ${parts.join(" and ")}`;
}

function staysPaused({ paused }: Shown, former: Limits, declared: Limits): boolean {
  return paused && former.paused !== undefined && declared.paused === undefined;
}

function isSame(a: Limits, b: Limits): boolean {
  return (["parallelism", "rate", "period", "paused"] as const).every((name) => a[name] === b[name]);
}

/** A key that the platform does not know has no limits: no message was ever sent. */
async function refresh(
  saved: FlowControlLimitsOutputs,
  session: FlowControlLimitsSession,
): Promise<Applied<FlowControlLimitsOutputs>> {
  const { flowControlKey, declared } = saved;
  try {
    const shown = shownBy(await session.options.platform.flowControl.get(flowControlKey));
    return { outputs: { flowControlKey, ...shown, declared } };
  } catch (error) {
    const why =
      error instanceof RekeyError ? error.text : `Could not read flow-control key ${JSON.stringify(flowControlKey)}.`;
    return { outputs: saved, warning: `${why} The saved state stays.` };
  }
}

/** The current limits of a key as inputs, for an import. */
async function importedInputs(
  flowControlKey: string,
  session: FlowControlLimitsSession,
): Promise<FlowControlLimitsInputs> {
  const { parallelism, rate, period, paused } = shownBy(await session.options.platform.flowControl.get(flowControlKey));
  return {
    flowControlKey,
    ...(parallelism !== undefined && { parallelism }),
    ...(rate !== undefined && period !== undefined && { rate, period }),
    paused,
  };
}

/** Another read could differ, and the difference must not be sent. */
function importedOutputs(inputs: FlowControlLimitsInputs): FlowControlLimitsOutputs {
  const { flowControlKey, paused } = inputs;
  const declared = declaredIn(inputs);
  return { flowControlKey, ...declared, paused: paused === true, declared };
}

/** Unpins what is declared. A paused key stays paused: a destroy during an outage must not open it. */
async function remove(saved: FlowControlLimitsOutputs, session: FlowControlLimitsSession): Promise<string | undefined> {
  const { flowControlKey, declared } = saved;
  const { flowControl } = session.options.platform;
  // After a rename or a replacement, the engine removes the former resource last: what the program declares stays.
  const kept = session.declaredLimits.get(flowControlKey);
  const shown = shownBy(await flowControl.get(flowControlKey));
  for (const { action, query } of operationsFor(shown, declared, kept ?? {})) {
    if (action === "unpin") await flowControl.change(flowControlKey, action, query);
  }
  if (kept) {
    return `Flow-control key ${JSON.stringify(flowControlKey)} keeps its limits: the program still declares them.`;
  }
  if (!shown.paused) return undefined;
  return `Flow-control key ${JSON.stringify(flowControlKey)} stays paused: removing its limits does not resume it. To resume it, use the platform's console, or \`POST /v2/flowControl/${encodeURIComponent(flowControlKey)}/resume\` at rekey:queueUrl.`;
}
