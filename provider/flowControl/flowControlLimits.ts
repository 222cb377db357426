import { isDeepStrictEqual } from "node:util";
import { NotShownError, RekeyError, RequestError } from "../domain/errors";
import { type KeyOperation } from "../platform/flowControl";
import { poll } from "../run/poll";
import { type Run } from "../run/run";
import {
  type Imported,
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
  type Schemas,
} from "../resource/resource";
import { isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import { savedAdvice } from "../rotation/messages/messages";
import { readInterval } from "../rotation/memory/schedule";
import { keyProblems, keyTitle } from "./flowControlReset";
import {
  after,
  consequencesOf,
  describe,
  type Limits,
  operationsFor,
  type Shown,
  shownBy,
} from "./limitOperations";

/** The outputs of a FlowControlLimits: the limits that the platform shows, and those that are declared. */
export interface FlowControlLimitsOutputs extends Shown {
  readonly flowControlKey: string;
  /** The limits that it owns: one is unpinned once it is no longer declared, even if it was pinned elsewhere first. */
  readonly declared: Limits;
}

export interface FlowControlLimitsInputs {
  readonly flowControlKey: string;
  readonly parallelism?: number | null | undefined;
  readonly rate?: number | null | undefined;
  /** Seconds, or a duration. */
  readonly period?: number | string | null | undefined;
  readonly paused?: boolean | null;
}

export const flowControlLimits: Resource<FlowControlLimitsInputs, FlowControlLimitsOutputs> = {
  idInput: "flowControlKey",
  // None is a counter: it would make each refresh a change.
  outputs: {
    flowControlKey: "plain",
    parallelism: "plain",
    rate: "plain",
    period: "plain",
    paused: "plain",
    declared: "plain",
  },
  inputs: (schemas) => ({
    required: ["flowControlKey"],
    schemas: {
      flowControlKey: schemas.pathPart,
      parallelism: schemas.count,
      rate: schemas.count,
      period: periodInput(schemas),
      paused: schemas.flag,
    },
  }),
  check: limitProblems,
  claims: ({ flowControlKey }) => {
    const subject = `flow-control key ${JSON.stringify(flowControlKey)}`;
    const why = "each `up` of one would replace the limits of the other. Remove one of them.";
    return isUnknown(flowControlKey) ? [] : [{ subject, code: "REKEY_DUPLICATE_KEY", why }];
  },
  plan,
  apply,
  refresh: readLimits,
  remove: unpinDeclared,
  import: importLimits,
};

const longestPeriodSeconds = 604_800;

/** A whole number of seconds, written as such or as a duration. */
function periodInput({ z, expected, attempt }: Schemas) {
  const requireUsable = (written: number | string): void => {
    const seconds = secondsOf(written);
    if (Number.isInteger(seconds) && seconds >= 1 && seconds <= longestPeriodSeconds) return;
    throw new Error("must be a whole number of seconds, from 1 second to a week");
  };
  return z
    .union([z.number(), z.string()], expected("a duration, or a number of seconds"))
    .superRefine(attempt(requireUsable));
}

function limitProblems(inputs: FlowControlLimitsInputs, run: Run): InputProblem[] {
  const { flowControlKey, parallelism, rate, period, paused } = inputs;
  const problems = keyProblems(flowControlKey, run);
  if (isSet(period) && !isSet(rate)) problems.push({ property: "period", problem: "needs a rate" });
  if ([parallelism, rate, paused].some(isSet)) return problems;
  const problem = "has no limit: set parallelism, rate or paused, or remove the resource";
  return [...problems, { property: "flowControlKey", problem }];
}

function plan(
  saved: FlowControlLimitsOutputs | undefined,
  inputs: FlowControlLimitsInputs,
  run: Run,
): Planned {
  if (isUnknown(inputs)) return { changes: true, notices: [] };
  const declared = declaredIn(inputs);
  run.shared.declaredLimits.set(inputs.flowControlKey, declared);
  if (saved === undefined) return { changes: true, notices: run.settingsWarning("queue") };
  const { flowControlKey, declared: former } = saved;
  const operations = operationsFor([saved], former, declared);
  if (operations.length === 0 && isDeepStrictEqual(former, declared)) {
    return { changes: false, notices: [] };
  }
  const isLeftPaused = saved.paused && former.paused !== undefined && declared.paused === undefined;
  const lines = [
    ...(operations.length > 0 ? [describe(operations, saved)] : []),
    ...(isLeftPaused ? ["stays paused, because paused is no longer declared"] : []),
  ];
  const counters = operations.some(({ action }) => action === "pin")
    ? " A pin resets the key's counters."
    : "";
  const text = `${keyTitle(flowControlKey)}: ${lines.join(", ")}.${counters}`;
  return {
    changes: true,
    notices: [...(lines.length > 0 ? [{ text }] : []), ...run.settingsWarning("queue")],
  };
}

/**
 * Sends only what a diff or a create has announced, as far as the platform does not show it: a pin resets the key's
 * counters, and someone may have paused the key during an outage.
 */
async function apply(
  saved: FlowControlLimitsOutputs | undefined,
  inputs: FlowControlLimitsInputs,
  run: Run,
): Promise<Result<FlowControlLimitsOutputs>> {
  const { flowControlKey } = inputs;
  const declared = declaredIn(inputs);
  run.shared.declaredLimits.set(flowControlKey, declared);
  const { shown, failure } = await send(saved, { flowControlKey, declared }, run);
  const left = failure ? [] : operationsFor([shown], {}, declared);
  const text = `${keyTitle(flowControlKey)} differs from the saved state. No preview has announced this, so only the next \`up\` changes it: ${describe(left, shown)}. To keep the key as it is, change the program.`;
  const notices = left.length > 0 ? [{ text, isWarning: true }] : [];
  // After a failure, what may have been sent is owned, and so is what is not unpinned yet.
  const owned = failure ? { ...saved?.declared, ...declared } : declared;
  return { outputs: { flowControlKey, ...shown, declared: owned }, failure, notices };
}

/**
 * Sends what is missing, then reads until the platform shows it: its state changes with a delay.
 *
 * @returns the state of the key to save, and the error if not all is done
 */
async function send(
  saved: FlowControlLimitsOutputs | undefined,
  { flowControlKey, declared }: Pick<FlowControlLimitsOutputs, "flowControlKey" | "declared">,
  run: Run,
): Promise<{ readonly shown: Shown; readonly failure?: RekeyError }> {
  const { flowControl } = run.platform;
  const before = shownBy(await flowControl.get(flowControlKey));
  const missingIn = (shown: Shown) =>
    operationsFor(saved ? [shown, saved] : [shown], saved?.declared ?? {}, declared);
  const operations = missingIn(before);
  if (operations.length === 0) return { shown: before };
  const done: KeyOperation[] = [];
  try {
    for (const operation of operations) {
      await flowControl.change(flowControlKey, operation, consequencesOf(done));
      done.push(operation);
    }
    const shown = await poll(run, {
      act: async () => shownBy(await flowControl.get(flowControlKey)),
      isDone: (state) => missingIn(state).length === 0,
      endsAtMs: run.options.clock.elapsedMs() + run.options.settings.deadlineMs,
    });
    const missing = missingIn(shown);
    if (missing.length === 0) return { shown };
    const why = `did not show it in time: ${describe(missing, shown)}`;
    return { shown, failure: new NotShownError(flowControlKey, why) };
  } catch (error) {
    if (
      !(error instanceof RekeyError) ||
      (done.length === 0 && error.delivery !== "maybe applied")
    ) {
      throw error;
    }
    const shown = done.reduce((state, one) => after(state, one, declared), before);
    if (done.length < operations.length || !(error instanceof RequestError)) {
      return { shown, failure: error };
    }
    const why = `the key could not be read: ${error.happened} (${error.method} ${error.url})`;
    return { shown, failure: new NotShownError(flowControlKey, why) };
  }
}

function declaredIn({ parallelism, rate, period, paused }: FlowControlLimitsInputs): Limits {
  return {
    ...(isSet(parallelism) && { parallelism }),
    ...(isSet(rate) && { rate, period: secondsOf(period ?? 1) }),
    ...(isSet(paused) && { paused }),
  };
}

/** @param period seconds, or a duration that was checked */
function secondsOf(period: number | string): number {
  return typeof period === "number"
    ? period
    : readInterval(period, { orShort: true }).as("seconds");
}

/** A key that the platform does not know has no limits: no message was ever sent. */
async function readLimits(
  saved: FlowControlLimitsOutputs,
  run: Run,
): Promise<Result<FlowControlLimitsOutputs>> {
  const { flowControlKey, declared } = saved;
  try {
    const shown = shownBy(await run.platform.flowControl.get(flowControlKey));
    return { outputs: { flowControlKey, ...shown, declared }, notices: [] };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const text = `${error.text}${savedAdvice("queue", error)} The saved state is unchanged.`;
    return { outputs: saved, notices: [{ text, isWarning: true }] };
  }
}

/** The current limits of a key, for an import. Another read could differ, and the difference must not be sent. */
async function importLimits(
  flowControlKey: string,
  run: Run,
): Promise<Imported<FlowControlLimitsInputs, FlowControlLimitsOutputs>> {
  const shown = shownBy(await run.platform.flowControl.get(flowControlKey));
  const inputs = { flowControlKey, ...shown };
  const declared = declaredIn(inputs);
  return {
    inputs,
    outputs: { flowControlKey, ...declared, paused: shown.paused, declared },
    notices: [],
  };
}

/** Unpins what is declared. A paused key stays paused: a destroy during an outage must not open it. */
async function unpinDeclared(saved: FlowControlLimitsOutputs, run: Run): Promise<Notice[]> {
  const { flowControlKey, declared } = saved;
  const { flowControl } = run.platform;
  const name = keyTitle(flowControlKey);
  // After a rename or a replacement, the engine removes the former resource last: what the program declares stays.
  const kept = run.shared.declaredLimits.get(flowControlKey);
  try {
    const shown = shownBy(await flowControl.get(flowControlKey));
    const operations = operationsFor([shown], declared, kept ?? {});
    const unpin = operations.find(({ action }) => action === "unpin");
    if (unpin) await flowControl.change(flowControlKey, unpin, consequencesOf([]));
    if (kept) return [{ text: `${name} keeps its limits: the program still declares them.` }];
    const unpinned = Object.keys(unpin?.query ?? {}).join(" and ");
    // Another provider is another process, and another stack another run: neither of them knows what this one removes.
    const ofOthers = `If another stack, or a resource with another provider, declares the limits of this key, run \`pulumi up --refresh\` there to pin them again.`;
    const staysPaused = `${name} stays paused: removing its limits does not resume it. To resume it, use the platform's console, or \`POST /v2/flowControl/${encodeURIComponent(flowControlKey)}/resume\` at rekey:queueUrl.`;
    return [
      ...(unpin ? [{ text: `${name}: unpinned ${unpinned}. ${ofOthers}` }] : []),
      ...(shown.paused ? [{ text: staysPaused }] : []),
    ];
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const { code, text, delivery } = error;
    throw new RekeyError(code, text + savedAdvice("queue", error, "destroy"), delivery);
  }
}
