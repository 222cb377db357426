import { InputError, RefusedError } from "../domain/errors";
import { secretOf, type SecretKind, type Subject } from "../domain/secretKind";
import { isUnknown, jsonText, unknownValue } from "../pulumi/values";
import { isObject, isSet } from "../records/fields";
import { type Notice, type Planned, type Resource, type Result } from "../resource/resource";
import { type Run } from "../run/run";
import { adopted } from "./afterRead";
import { announce, announcementsOf } from "./announcements";
import { type Message } from "./findings";
import { attempted, handOver } from "./handOver";
import { parsed, type RotationReason, sealed, unsealed } from "./memory";
import { noticeAbout } from "./messages";
import { type Context, type Plan, type Rotation } from "./plan";
import { planRotation } from "./planRotation";
import { type Program, readProgram, type RotationInputs } from "./program";
import { rotationInputs, rotationProblems } from "./rotationInputs";
import { dueAt } from "./schedule";
import { isSame, type State, stateIn } from "./state";

type Arguments = Pick<RotationInputs, "version" | "triggers" | "rotateEvery" | "rotatedSince">;

/** What a program asks for, and what `decide` adds. */
export interface TriggerInputs extends Arguments {
  /** Of the resource, for messages. Only the SDK passes it: a plugin's messages are shown under the resource. */
  readonly name?: string | null | undefined;
  readonly value?: string | null | undefined;
  readonly memory?: string | null | undefined;
}

/** What a RotationTrigger saves. */
export interface TriggerOutputs {
  readonly subject: string;
  /** The day of the last turn, or of the adoption, in UTC, and how many turns there were: `20261128-3` */
  readonly value: string;
  readonly turnedAt?: string | undefined;
  readonly nextRotationAt?: string | undefined;
  readonly rotationReason?: RotationReason | undefined;
  readonly rotationCount: number;
  readonly memory: string;
}

const onlyId = "trigger";

/** Tells the engine when to replace what another provider creates: it has the plan of every rotation, and no source. */
export const rotationTrigger: Resource<TriggerInputs, TriggerOutputs> = {
  idInput: "subject",
  onlyId,
  outputs: {
    subject: "plain",
    value: "plain",
    turnedAt: "plain",
    nextRotationAt: "plain",
    rotationReason: "plain",
    rotationCount: "plain",
    memory: "secret",
  },
  inputs: (schemas) => {
    const { version, triggers, rotateEvery, rotatedSince } = rotationInputs(schemas);
    const { text } = schemas;
    const ofProgram = { version, triggers, rotateEvery, rotatedSince };
    // Only `decide` knows whether these are those that were saved.
    return { required: [], schemas: { ...ofProgram, name: text, value: text, memory: text } };
  },
  check: (inputs, run) => rotationProblems(inputs, subjectOf(inputs).kind, run),
  decide,
  plan,
  apply,
};

/** The names of what `decide` makes, which a preview therefore knows. */
const decided = ["value", "memory"] as const;

/**
 * Decides whether it turns, so that a preview shows what an `up` replaces.
 *
 * @throws RefusedError if a version or a date turns it above the limit of the run
 */
function decide(
  saved: Partial<TriggerInputs>,
  inputs: TriggerInputs,
  run: Run,
): Required<Pick<TriggerInputs, "value" | "memory">> & TriggerInputs {
  for (const name of decided) {
    // With `ignoreChanges`, the engine sends back what was saved.
    const isOwn = !isSet(inputs[name]) || inputs[name] === saved[name];
    if (!isOwn) throw new InputError(name, "is an output, and cannot be set");
  }
  const program = programOf(inputs);
  if (program.unknown.size > 0) return { ...inputs, value: unknownValue, memory: unknownValue };
  const before = isSet(saved.memory) ? stateOf(saved.memory) : undefined;
  const state = nextState(before, program, subjectOf(inputs), run);
  return { ...inputs, value: valueOf(state), memory: written(state) };
}

function nextState(before: State | undefined, program: Program, subject: Subject, run: Run): State {
  const context = contextOf(subject.kind, run);
  if (before === undefined) return adopted(program, undefined, context).state;
  const due = planRotation(before, program, context);
  if (due.kind !== "rotate" || !isWithinLimit(due, before, subject, run)) return before;
  const sent = attempted(before, due, program, { shown: {}, adds: false }, context);
  const generatedAt = sent.memory.attempt?.lastSentAt;
  return handOver(sent, { responses: [], generatedAt, formers: [] }, context);
}

/** Counts a turn once in a run. A schedule waits above the limit, so that it does not fail each night's run. */
function isWithinLimit({ reason }: Rotation, state: State, subject: Subject, run: Run): boolean {
  const turn = turnOf(state);
  if (run.shared.reserved.has(turn)) return true;
  if (run.leftFor([turn]) > 0 && run.reserveResets([turn]) === undefined) return true;
  if (reason === "schedule") return false;
  const why = `${limitIsUsedUp}. Check that so many are intended, then raise the limit or run again`;
  throw new RefusedError("REKEY_RESET_LIMIT", { secret: secretOf(subject), why, overlaps: true });
}

const limitIsUsedUp = "other resets and turns of this run have used up rekey:maxResetsPerRun";

function plan(saved: TriggerOutputs | undefined, inputs: TriggerInputs, run: Run): Planned {
  const next = isUnknown(inputs.value) ? undefined : outputsOf(inputs);
  const names = Object.keys(rotationTrigger.outputs) as (keyof TriggerOutputs)[];
  const differing = names.filter((name) => !next || !isSame(saved?.[name], next[name]));
  return {
    changes: !saved || differing.length > 0,
    changing: differing.filter((name) => !decided.some((one) => one === name)),
    notices: saved ? noticesOf(saved, inputs, run) : [firstNotice(inputs)],
  };
}

function noticesOf(saved: TriggerOutputs, inputs: TriggerInputs, run: Run): Notice[] {
  const subject = subjectOf(inputs);
  const program = programOf(inputs);
  const state = stateOf(saved.memory);
  const due = planRotation(state, program, contextOf(subject.kind, run));
  const carriedOut: Plan =
    due.kind === "rotate" && inputs.value === saved.value
      ? { kind: "keep", waits: { ...due, why: limitIsUsedUp } }
      : due;
  const withEffect = (message: Message): Message =>
    message.does === undefined
      ? message
      : { ...message, text: `${message.text} ${effect}`, secrets: [turnOf(state)] };
  return announcementsOf({ subject, plan: carriedOut, state, program }, run)
    .flatMap((one) => announce(withEffect(one), run))
    .map((one) => noticeAbout(subject, one));
}

const effect =
  "What has `value` as its replacementTrigger is replaced; the former one is deleted last.";

/** A replacement, and a renamed trigger, look like a new one. */
function firstNotice(inputs: TriggerInputs): Notice {
  const date = isSet(inputs.rotatedSince)
    ? " The age of the secret is not known, so the next `up` turns it for rotatedSince."
    : "";
  const text = `is new. Its first value replaces nothing that had no replacementTrigger before. If it was renamed without the option \`aliases\`, or replaced, it turns: what had the former value is replaced.${date}`;
  return noticeAbout(subjectOf(inputs), { text });
}

async function apply(
  _: TriggerOutputs | undefined,
  inputs: TriggerInputs,
): Promise<Result<TriggerOutputs>> {
  return { outputs: outputsOf(inputs), notices: [] };
}

function outputsOf(inputs: TriggerInputs): TriggerOutputs {
  const state = stateOf(inputs.memory);
  const { rotateEvery } = programOf(inputs);
  const { rotatedAt: turnedAt, rotationCount, rotationReason, memory } = state;
  const nextAt = rotateEvery && dueAt(memory.scheduledFrom, rotateEvery).toISOString();
  return {
    subject: onlyId,
    value: valueOf(state),
    turnedAt,
    nextRotationAt: nextAt,
    rotationReason,
    rotationCount,
    memory: written(state),
  };
}

function valueOf({ memory, rotationCount }: State): string {
  return `${memory.scheduledFrom.slice(0, 10).replaceAll("-", "")}-${rotationCount}`;
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

/** What it turns is adopted: it is not known whether there is something. */
function programOf({ version, triggers, rotateEvery, rotatedSince }: TriggerInputs): Program {
  return readProgram({ version, triggers, rotateEvery, rotatedSince, initialRotation: false });
}

function subjectOf({ name }: TriggerInputs): Subject {
  const title = isSet(name) ? `trigger ${JSON.stringify(name)}` : "trigger";
  const kind: SecretKind = {
    name: "RotationTrigger",
    shape: "turns",
    table: { fields: {}, credentials: {} },
    identities: [],
    idInput: "subject",
    onlyId,
    word: title,
    noun: title,
  };
  return { kind, id: onlyId };
}

function contextOf(kind: SecretKind, { options }: Run): Context {
  const isScheduleOn = options.settings.get("scheduledResets") === "on";
  return { kind, now: options.clock.now(), canRead: false, isScheduleOn };
}
