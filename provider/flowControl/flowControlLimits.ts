import { NotShownError, RekeyError, RequestError } from "../platform/errors";
import { type FlowControl, type KeyOperation } from "../platform/flowControl";
import { type Applied, type CheckFailure, type Difference, type Resource } from "../rotation/resource";
import { readInterval } from "../rotation/schedule";
import { type Session } from "../rotation/session";
import {
  after,
  consequencesOf,
  counterNotice,
  describe,
  type Limits,
  missingFrom,
  operationsFor,
  type Shown,
  shownBy,
} from "./limitOperations";

/** What a FlowControlLimits saves: what the platform shows, and what is declared. */
export interface FlowControlLimitsOutputs extends Shown {
  readonly flowControlKey: string;
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
    /** Shows the user a line during the run. */
    readonly log: (line: string) => void;
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
  if (operations.length === 0 && isSame(former, declared)) return { changes: false };
  const lines = operations.length > 0 ? [describe(operations, saved)] : [];
  if (staysPaused(saved, former, declared)) lines.push("stays paused, because paused is no longer declared");
  const notice = `${nameOf(saved)}: ${lines.join(", ")}.${counterNotice(operations)}`;
  return { changes: true, ...(lines.length > 0 && { notice }) };
}

/**
 * Sends only what differs from what the platform shows: a pin resets the key's counters. A diff has announced what
 * differs from the saved state, and a create announces all that is declared.
 */
async function apply(
  saved: FlowControlLimitsOutputs | undefined,
  inputs: FlowControlLimitsInputs,
  session: FlowControlLimitsSession,
): Promise<Applied<FlowControlLimitsOutputs>> {
  const { flowControlKey } = inputs;
  const { platform, log } = session.options;
  const declared = declaredIn(inputs);
  session.declaredLimits.set(flowControlKey, declared);
  const before = shownBy(await platform.flowControl.get(flowControlKey));
  const former = saved?.declared ?? {};
  // Someone may have paused the key during an outage: only an announced resume starts the delivery.
  const mayResume = saved?.paused ?? true;
  const missingIn = (shown: Shown) =>
    operationsFor(shown, former, declared).filter(({ action }) => action !== "resume" || mayResume);
  const unannounced = saved ? missingFrom(operationsFor(saved, former, declared), missingIn(before)) : [];
  if (unannounced.length > 0) {
    log(
      `${nameOf(inputs)} differs from the saved state: ${describe(unannounced, before)}.${counterNotice(unannounced)}`,
    );
  }
  const { shown, failed } = await send(flowControlKey, session, before, missingIn);
  const isNotResumed = !mayResume && declared.paused === false && shown.paused;
  return {
    // After a failure, what may have been sent is owned, and so is what is not unpinned yet.
    outputs: { flowControlKey, ...shown, declared: failed ? { ...former, ...declared } : declared },
    ...(failed && { failed }),
    ...(isNotResumed && {
      warning: `${nameOf(inputs)} was paused elsewhere, and was not resumed, because no preview announced that. The next \`up\` resumes it. To keep it paused, set paused to true.`,
    }),
    ...(staysPaused(shown, former, declared) && {
      notice: `${nameOf(inputs)} stays paused, because paused is no longer declared.`,
    }),
  };
}

/**
 * Sends what is missing, then reads until the platform shows it: its state changes with a delay.
 *
 * @returns the state of the key to save, and the error if not all is done
 * @throws RekeyError if nothing was changed
 */
async function send(
  flowControlKey: string,
  session: FlowControlLimitsSession,
  before: Shown,
  missingIn: (shown: Shown) => KeyOperation[],
): Promise<{ readonly shown: Shown; readonly failed?: RekeyError }> {
  const { timer, deadlineMs, platform } = session.options;
  const operations = missingIn(before);
  if (operations.length === 0) return { shown: before };
  const done: KeyOperation[] = [];
  try {
    for (const operation of operations) {
      const consequences = consequencesOf(done, operations.slice(done.length));
      await platform.flowControl.change(flowControlKey, operation, consequences);
      done.push(operation);
    }
  } catch (error) {
    if (!(error instanceof RekeyError) || (done.length === 0 && error.delivery !== "maybe applied")) throw error;
    return { shown: done.reduce(after, before), failed: error };
  }
  try {
    const endsAtMs = timer.now() + deadlineMs();
    for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 5_000)) {
      const shown = shownBy(await platform.flowControl.get(flowControlKey));
      const missing = missingIn(shown);
      if (missing.length === 0) return { shown };
      if (timer.now() + waitMs > endsAtMs) {
        const why = `does not show it in time: ${describe(missing, shown)}`;
        return { shown, failed: new NotShownError(flowControlKey, why) };
      }
      await timer.sleep(waitMs);
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const { happened, method, url } = error;
    const shown = done.reduce(after, before);
    return {
      shown,
      failed: new NotShownError(flowControlKey, `the key could not be read: ${happened} (${method} ${url})`),
    };
  }
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

function nameOf({ flowControlKey }: Pick<FlowControlLimitsInputs, "flowControlKey">): string {
  return `Flow-control key ${JSON.stringify(flowControlKey)}`;
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
  const name = nameOf(saved);
  // After a rename or a replacement, the engine removes the former resource last: what the program declares stays.
  const kept = session.declaredLimits.get(flowControlKey);
  const shown = shownBy(await flowControl.get(flowControlKey));
  const unpin = operationsFor(shown, declared, kept ?? {}).find(({ action }) => action === "unpin");
  if (unpin) await flowControl.change(flowControlKey, unpin, consequencesOf([], [unpin]));
  if (kept) return `${name} keeps its limits: the program still declares them.`;
  if (!shown.paused) return undefined;
  return `${name} stays paused: removing its limits does not resume it. To resume it, use the platform's console, or \`POST /v2/flowControl/${encodeURIComponent(flowControlKey)}/resume\` at rekey:queueUrl.`;
}
