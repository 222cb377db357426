import { InputError, RefusedError } from "../domain/errors";
import { type SecretKind } from "../domain/secretKind";
import { isUnknown, jsonText, unknownValue } from "../pulumi/values";
import { isObject, isSet } from "../records/fields";
import { type Notice, type Planned, type Resource } from "../resource/resource";
import { type Run } from "../run/run";
import { adopted } from "./lifecycle/afterRead";
import { announce, announcementsOf } from "./messages/announcements";
import { contextOf } from "./program/context";
import { withAttempt, handOver } from "./lifecycle/handOver";
import { type Trigger } from "./memory/marks";
import { parsed, sealed, unsealed } from "./memory/memory";
import { notice } from "./messages/messages";
import { type Plan } from "./program/plan";
import { planRotation } from "./plan/planRotation";
import { type Program, readProgram, type RotationInputs } from "./program/program";
import { rotationProblems, triggerInputs } from "./program/rotationInputs";
import { type RotationOutputs } from "./outputs/rotationOutputs";
import { dueAt } from "./memory/schedule";
import { isSame, type State, stateIn } from "./memory/state";

/** A program's inputs, and what `decide` adds. */
export interface TriggerInputs
  extends Trigger, Pick<RotationInputs, "rotateEvery" | "rotatedSince"> {
  /** Of the resource, for messages. Only the SDK passes it: a plugin's messages are shown under the resource. */
  readonly name?: string | null | undefined;
  /** Read by the doctor only. */
  readonly usedElsewhere?: boolean | null | undefined;
  readonly byHand?: boolean | null | undefined;
  readonly value?: string | null | undefined;
  readonly memory?: string | null | undefined;
}

const onlyId = "trigger";

const kind: SecretKind = {
  name: "RotationTrigger",
  shape: "replaces",
  table: { fields: {}, credentials: {} },
  // Nothing is read or compared.
  identities: ["token"],
  idInput: "subject",
  onlyId,
  word: onlyId,
  noun: onlyId,
  verb: "turn",
  done: "turned",
};

/** Says when the engine replaces what another provider creates: it has the plan of every rotation, and no source. */
export const rotationTrigger: Resource<TriggerInputs, RotationOutputs> = {
  idInput: "subject",
  onlyId,
  outputs: {
    subject: "plain",
    value: "plain",
    turnedAt: "plain",
    nextRotationAt: "plain",
    rotationReason: "plain",
    rotationCount: "plain",
    waits: "plain",
    memory: "secret",
  },
  inputs: (schemas) => {
    const { text, flag } = schemas;
    // Only `decide` knows whether `value` and `memory` are those that were saved.
    const own = { usedElsewhere: flag, byHand: flag, name: text, value: text, memory: text };
    return { required: [], schemas: { ...triggerInputs(schemas), ...own } };
  },
  check: (inputs, run) => rotationProblems(programOf(inputs), kind, run),
  decide,
  plan,
  apply: async (_, inputs, run) => ({ outputs: triggerOutputs(inputs, run), notices: [] }),
};

/**
 * Decides whether it turns, so that a preview shows what an `up` replaces.
 *
 * @throws RefusedError if a version or a date turns it above the limit of the run
 */
function decide(saved: Partial<TriggerInputs>, inputs: TriggerInputs, run: Run): TriggerInputs {
  // With `ignoreChanges`, the engine sends back what was saved.
  const given = (["value", "memory"] as const).find(
    (name) => isSet(inputs[name]) && inputs[name] !== saved[name],
  );
  if (given) throw new InputError(given, "is an output, and cannot be set");
  // It is for an alarm only.
  const program = programOf({ ...inputs, usedElsewhere: undefined });
  if (program.unknown.size > 0) return { ...inputs, value: unknownValue, memory: unknownValue };
  const state = isSet(saved.memory)
    ? nextState(stateOf(saved.memory), inputs, run)
    : adopted(program, undefined, contextOf(kind, run)).state;
  return { ...inputs, value: valueOf(state), memory: written(state) };
}

/** Counts a turn once in a run. A schedule waits above the limit, so that it does not fail each night's run. */
function nextState(before: State, inputs: TriggerInputs, run: Run): State {
  const due = planOf(before, inputs, run);
  if (due.kind !== "rotate") return before;
  const turn = turnOf(before);
  const isCounted =
    run.shared.reserved.has(turn) || (run.leftFor([turn]) > 0 && !run.reserveResets([turn]));
  if (!isCounted && due.reason === "schedule") return before;
  if (!isCounted) {
    const why = `${limitIsReached}. Check that so many are intended, then raise the limit or run again`;
    throw new RefusedError("REKEY_RESET_LIMIT", { secret: titleOf(inputs), why });
  }
  const context = contextOf(kind, run);
  const sent = withAttempt(before, due, programOf(inputs), {}, context);
  const generatedAt = sent.memory.attempt.lastSentAt;
  return handOver(sent, { responses: [], generatedAt, formers: [] }, context);
}

/** By hand, only a new version or other triggers turn it: a person says that the secret was replaced. */
function planOf(state: State, inputs: TriggerInputs, run: Run): Plan {
  const plan = planRotation(state, programOf(inputs), contextOf(kind, run));
  return inputs.byHand && plan.kind === "rotate" && plan.reason !== "trigger"
    ? { kind: "keep", waits: { ...plan, why: waitsForPerson } }
    : plan;
}

const waitsForPerson = "a person is to replace the secret, and then to set a new version";

const limitIsReached = "rekey:maxResetsPerRun allows no further reset or turn in this run";

function plan(saved: RotationOutputs | undefined, inputs: TriggerInputs, run: Run): Planned {
  const next = isUnknown(inputs.value) ? {} : triggerOutputs(inputs, run);
  const differing = Object.keys(rotationTrigger.outputs).filter((name) => {
    return !isSame(saved?.[name], next[name]);
  });
  return {
    changes: differing.length > 0,
    // A preview knows what `decide` makes.
    changing: differing.filter((name) => !(name in inputs)),
    notices: noticesOf(saved, inputs, run),
  };
}

function noticesOf(saved: RotationOutputs | undefined, inputs: TriggerInputs, run: Run): Notice[] {
  const say = (message: Parameters<typeof notice>[1]) => notice(titleOf(inputs), message);
  if (saved === undefined) {
    const next = inputs.byHand ? waitsForPerson : "the next `up` turns it for rotatedSince";
    const date = isSet(inputs.rotatedSince)
      ? ` The age of the secret is not known, so ${next}.`
      : "";
    const text = `is new. Its first value replaces nothing that had no replacementTrigger before. If it was renamed without the option \`aliases\`, or replaced, it turns: what had the former value is replaced.${date}`;
    return [say({ text })];
  }
  const program = programOf(inputs);
  const state = stateOf(saved["memory"]);
  const context = contextOf(kind, run);
  const due = planOf(state, inputs, run);
  const isOverLimit = due.kind === "rotate" && inputs.value === saved["value"];
  const plan: Plan = isOverLimit ? { kind: "keep", waits: { ...due, why: limitIsReached } } : due;
  const subject = { kind, id: onlyId };
  const announced = { subject, plan, state, program, context, isTentative: false };
  return announcementsOf(announced, run).flatMap((one) => {
    if (inputs.byHand && one.about === "nextRotation") return [];
    const turns = one.does && {
      text: `${one.text} Whatever has \`value\` as its replacementTrigger should now be replaced.`,
      secrets: [turnOf(state)],
    };
    return announce({ ...one, ...turns }, run).map(say);
  });
}

function triggerOutputs(inputs: TriggerInputs, run: Run): RotationOutputs {
  const state = stateOf(inputs.memory);
  const plan = planOf(state, inputs, run);
  const { rotatedAt, rotationCount, rotationReason, memory } = state;
  const { rotateEvery } = inputs;
  return {
    subject: onlyId,
    value: valueOf(state),
    turnedAt: rotatedAt,
    nextRotationAt: isSet(rotateEvery)
      ? dueAt(memory.scheduledFrom, rotateEvery).toISOString()
      : undefined,
    rotationReason,
    rotationCount,
    waits: inputs.byHand && plan.kind === "keep" ? plan.waits?.why : undefined,
    memory: written(state),
  };
}

/** The day of the last turn, or of the adoption, in UTC, how many turns there were, and whose: `20261128-3-1b9d6b` */
function valueOf({ memory, rotationCount }: State): string {
  return `${memory.scheduledFrom.slice(0, 10).replaceAll("-", "")}-${rotationCount}-${memory.salt.slice(0, 6)}`;
}

/** By what the turn after a state is counted: two triggers may have one name. */
function turnOf({ memory }: State): string {
  return `turn of trigger ${memory.salt}`;
}

/** Check gets no outputs, so all that a later one needs is in `memory`. */
function written({ rotatedAt, rotationCount, rotationReason, memory }: State): string {
  return jsonText({ rotatedAt, rotationCount, rotationReason, memory: sealed(memory) });
}

/** @throws StateError if it is damaged, or of another version */
function stateOf(memory: unknown): State {
  const saved = parsed(memory);
  const fields = isObject(saved) ? saved : {};
  return stateIn(fields, unsealed(fields["memory"]));
}

/** It never turns at first: it is not known whether there is something to replace. */
function programOf(inputs: TriggerInputs): Program {
  return readProgram({ ...inputs, initialRotation: false }, kind);
}

/** Its name in messages. */
function titleOf({ name }: TriggerInputs): string {
  return isSet(name) ? `trigger ${JSON.stringify(name)}` : "trigger";
}
