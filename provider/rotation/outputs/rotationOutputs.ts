import { InternalError } from "../../domain/errors";
import { type SecretKind, type Subject } from "../../domain/secretKind";
import { jsonText } from "../../pulumi/values";
import { type Resource, type Result } from "../../resource/resource";
import { type Run } from "../../run/run";
import { isMoved } from "../program/admin";
import { accessOf } from "./clientOutputs";
import { urlsOf } from "../program/urls";
import { isOverlapChanged, oldestFormer, validUntil } from "../program/formers";
import { type SavedProgram, writeMemory } from "../memory/memory";
import { outcomeOf, type State } from "../memory/state";
import { type Plan } from "../program/plan";
import { isInputChanged, savedInputs } from "../plan/planRotation";
import { type Program } from "../program/program";
import { dueAt } from "../memory/schedule";

export type RotationOutputs = Readonly<Record<string, unknown>>;

/** Outputs that belong to a confirmed reset or an adoption: a read alone does not change them. */
const outputsOfReset = [
  "outcome",
  "rotatedAt",
  "adoptedAt",
  "rotationCount",
  "rotationReason",
  "nextRotationAt",
];

/** Outputs of a kind that overlaps. A retirement changes them, and no consumer uses them. */
const outputsOfOverlap = [
  "formerValidSince",
  "formerValidUntil",
  "formerRetiredAt",
  "waits",
] as const;

/** All outputs of a rotation, and which of them are secret. */
export function outputTable(kind: SecretKind): Resource<never, never>["outputs"] {
  const { idInput, table, restUrl, maxValid, inputs = [], outputs = [], addressFrom } = kind;
  const plain = [
    idInput,
    ...(Object.keys(table.fields).length > 0 ? ["record", "exactIntegers"] : []),
    "problems",
    "mustRead",
    ...(restUrl ? ["restUrl"] : []),
    ...outputsOfReset,
    ...(maxValid ? outputsOfOverlap : []),
    ...outputs,
    "encryptedCredentials",
  ];
  const secrets = [
    ...Object.values(table.credentials),
    "otherFields",
    ...(inputs.includes("connection") ? ["connectionUrl", "restUrl"] : []),
    ...(addressFrom ? ["access"] : []),
    "memory",
  ];
  const names = [...plain, ...secrets];
  return Object.fromEntries(
    names.map((name) => [name, secrets.includes(name) ? "secret" : "plain"]),
  );
}

/** The outputs that follow from a state. */
export function shownOf(subject: Subject, state: State, run: Run) {
  const { memory } = state;
  const { rotateEvery } = memory.program;
  const { generatedAt, mustRead } = memory.current;
  const former = oldestFormer(memory);
  return {
    outcome: outcomeOf(state),
    ...urlsOf(subject, state, run),
    nextRotationAt: rotateEvery && dueAt(memory.scheduledFrom, rotateEvery).toISOString(),
    mustRead: mustRead,
    unknownPasswords: memory.kindFacts.unknown?.length,
    generatedAt,
    formerValidSince: former?.since,
    formerValidUntil: validUntil(former),
    access: accessOf(subject, state, run),
  };
}

/** The outputs of a state. */
export function outputsOf(
  subject: Subject,
  state: State,
  names: readonly string[],
  run: Run,
): RotationOutputs {
  const shown = shownOf(subject, state, run);
  const all: RotationOutputs = {
    ...state,
    ...shown,
    [subject.kind.idInput]: subject.id,
    access: shown.access && jsonText(shown.access),
    memory: writeMemory(state.memory),
  };
  return Object.fromEntries(
    names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
  );
}

/** The outputs if they cannot be made as usual: what a reset may have delivered must not be lost. */
export function plainResult(
  subject: Subject,
  state: State,
  error: unknown,
): Result<RotationOutputs> {
  const { memory, admin, ...values } = state;
  const outputs = {
    ...values,
    outcome: outcomeOf(state),
    [subject.kind.idInput]: subject.id,
    // The administrator is saved as a part of `access`, which is a secret output.
    ...(admin && { access: jsonText({ admin: admin.given }) }),
    memory: writeMemory(memory),
  };
  return {
    outputs,
    failure: new InternalError(subject, error),
    notices: [],
  };
}

/** Plans that replace no secret. */
const upkeep: readonly Plan["kind"][] = ["read", "keep", "retire", "save"];

/** The outputs that follow from an input. */
const outputsOfInput: Readonly<Record<keyof SavedProgram, readonly string[]>> = {
  connection: ["connectionUrl", "connectionUrls", "restUrl", "access"],
  queueUrl: ["access"],
  admin: ["access"],
  rotateEvery: ["nextRotationAt"],
};

/** The outputs that a plan may change; undefined for all. */
export function changingOutputs(
  all: readonly string[],
  plan: Plan,
  { memory, waits }: State,
  program: Program,
): string[] | undefined {
  const { kind } = plan;
  const isResetOpen = memory.attempt !== undefined && !memory.attempt.adds;
  if (!upkeep.includes(kind) || isResetOpen) return undefined;
  const changing = ["memory", ...(plan.waits?.why === waits ? [] : ["waits"])];
  const isOfFormer = plan.kind === "read" && plan.why === "former";
  if (kind === "retire" || isOfFormer) {
    changing.push("access", "mustRead", "unknownPasswords", ...outputsOfOverlap);
  }
  if (kind === "read" && !isOfFormer) {
    changing.push(...all.filter((name) => !outputsOfReset.includes(name)));
  }
  for (const name of savedInputs) {
    if (isInputChanged(name, program, memory)) changing.push(...outputsOfInput[name]);
  }
  if (isMoved(program.admin, memory)) changing.push("connectionUrl", "restUrl");
  if (isOverlapChanged(memory, program)) changing.push("access", "formerValidUntil");
  return all.filter((name) => changing.includes(name));
}
