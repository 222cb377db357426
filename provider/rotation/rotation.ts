import { InputError, InternalError, RekeyError } from "../platform/errors";
import { canonical, ownerOf, type SecretKind, secretOf, type Subject, databasePassword } from "../platform/secretKind";
import { idProblem, isObject, isSameId } from "../records/fields";
import { isUnknown, jsonText } from "../records/properties";
import { hostTemplateProblem, portProblem } from "../platform/endpoint";
import {
  type Claim,
  type Imported,
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
  type Schemas,
} from "../resource";
import { type Run } from "../run";
import { accessOf, urlsOf, plainTextProblem } from "./access";
import { recipientsProblem } from "./ageFile";
import { type Desired } from "./desired";
import { type Rotated, told } from "./findings";
import { announce, noticeAbout, noteRefresh, saidOf } from "./messages";
import { writeMemory, type Connection, progressOf, type State, stateIn } from "./memory";
import { type Plan } from "./plan";
import { isChanged, planRotation } from "./planRotation";
import { refresh, rotate } from "./rotate";
import { contextOf } from "./session";
import { dueAt, isFuture, readDate, readInterval } from "./schedule";

export type RotationOutputs = Readonly<Record<string, unknown>>;

/** Outputs that belong to a confirmed reset or an adoption: a read alone does not change them. */
const outputsOfReset = ["outcome", "rotatedAt", "adoptedAt", "rotationCount", "rotationReason", "nextRotationAt"];

/** The resource that rotates the secrets of one kind. */
export function rotationOf(kind: SecretKind): Resource<Desired, RotationOutputs> {
  const { idInput, onlyId, minInterval } = kind;
  const outputs = outputTable(kind);
  const subjectOf = (values: object): Subject => {
    return { kind, id: onlyId ?? (values as Readonly<Record<string, string>>)[idInput] ?? "" };
  };
  const resultOf = (subject: Subject, { state, failure, findings }: Rotated, run: Run): Result<RotationOutputs> => ({
    outputs: outputsOf(subject, state, Object.keys(outputs), run),
    failure,
    notices: findings.map((finding) => noticeAbout(subject, told(finding, kind))),
  });
  return {
    idInput,
    ...(onlyId !== undefined && { onlyId }),
    isSameId,
    outputs,
    inputs: (schemas) => ({
      required: onlyId === undefined ? [idInput] : [],
      schemas: {
        ...(onlyId === undefined && { [idInput]: schemas.id }),
        ...rotationInputs(schemas),
        ...(kind === databasePassword && connectionInput(schemas)),
        ...(minInterval !== undefined && { minInterval: intervalOf(schemas, true) }),
      },
    }),
    check: (inputs, run) => rotationProblems(inputs, kind, run),
    claims: (inputs) => {
      const { id } = subjectOf(inputs);
      return isUnknown(id) ? [] : [claimOf({ kind, id })];
    },
    plan(saved, inputs, run): Planned {
      const subject = subjectOf(inputs);
      const state = saved && stateIn(saved);
      const plan: Plan =
        state && isUnknown(subject.id)
          ? { kind: "maybe", names: [idInput] }
          : planRotation(state, inputs, contextOf(kind, run));
      return {
        changes: plan.kind !== "keep",
        changing: state && changingOutputs(Object.keys(outputs), plan, state, inputs),
        notices: [
          ...saidOf(subject, plan, state, inputs, run)
            .flatMap((said) => announce(said, run))
            .map((said) => noticeAbout(subject, said)),
          ...settingsNotice(subject, plan, run),
        ],
      };
    },
    async apply(saved, inputs, run) {
      const subject = subjectOf(inputs);
      const rotated = await rotate(subject, saved && stateIn(saved), inputs, run);
      try {
        return resultOf(subject, rotated, run);
      } catch (error) {
        return plainResult(subject, rotated.state, error);
      }
    },
    async refresh(saved, run) {
      const subject = subjectOf(saved);
      noteRefresh(subject, run);
      try {
        return resultOf(subject, await refresh(subject, stateIn(saved), run), run);
      } catch (error) {
        if (!(error instanceof RekeyError)) throw error;
        return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
      }
    },
    async import(id, run): Promise<Imported<Desired, RotationOutputs>> {
      const wrong = onlyId === undefined ? idProblem(id) : id === onlyId ? undefined : `must be ${onlyId}`;
      if (wrong !== undefined) throw new InputError("id", wrong);
      const subject: Subject = { kind, id };
      // It does not know the program, so no value is saved that a read can show.
      const rotated = await rotate(subject, undefined, { initialRotation: false, saveCredentials: false }, run);
      const { state } = rotated;
      const memory = { ...state.memory, applied: undefined, form: undefined };
      const imported = { ...rotated, state: { ...state, memory } };
      const { notices, outputs: adopted } = resultOf(subject, imported, run);
      const inputs = { [idInput]: id, initialRotation: false };
      return { inputs, outputs: adopted, notices: notices.filter(({ isWarning }) => isWarning) };
    },
  };
}

/** All outputs of a rotation, and which of them are secret. */
function outputTable(kind: SecretKind): Resource<never, never>["outputs"] {
  const { idInput, table, restUrl, minInterval, probe } = kind;
  const isDatabase = kind === databasePassword;
  const plain = [
    idInput,
    ...(Object.keys(table.fields).length > 0 ? ["record", "exactIntegers"] : []),
    "problems",
    ...(restUrl ? ["restUrl"] : []),
    ...outputsOfReset,
    ...(minInterval === undefined ? [] : ["currentKeySince"]),
    "encryptedCredentials",
  ];
  const secrets = [
    ...Object.values(table.credentials),
    "otherFields",
    ...(isDatabase ? ["connectionUrl", "restUrl"] : []),
    ...(isDatabase || probe ? ["access"] : []),
    "memory",
  ];
  const names = [...plain, ...secrets];
  return Object.fromEntries(names.map((name) => [name, secrets.includes(name) ? "secret" : "plain"]));
}

/** The outputs of a state: with the id, and with what programs use that follows from it. */
function outputsOf(subject: Subject, state: State, names: readonly string[], run: Run): RotationOutputs {
  const { memory } = state;
  const { rotateEvery } = memory;
  const access = accessOf(subject, state, run);
  const all: RotationOutputs = {
    ...state,
    ...progressOf(state),
    ...urlsOf(subject, state, run),
    [subject.kind.idInput]: subject.id,
    nextRotationAt: rotateEvery ? dueAt(memory.scheduledFrom, rotateEvery).toISOString() : undefined,
    currentKeySince: memory.generatedAt,
    access: access && jsonText(access),
    memory: writeMemory(memory),
  };
  return Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
}

/** What is saved if the outputs cannot be made: what a reset may have delivered must not be lost. */
function plainResult({ kind, id }: Subject, state: State, error: unknown): Result<RotationOutputs> {
  const outputs = { ...state, [kind.idInput]: id, memory: writeMemory(state.memory) };
  return {
    outputs,
    failure: new InternalError({ secret: secretOf({ kind, id }), word: kind.word }, error),
    notices: [],
  };
}

/** The outputs that a plan may change; undefined for all. */
export function changingOutputs(
  all: readonly string[],
  { kind }: Plan,
  { memory }: State,
  desired: Desired,
): string[] | undefined {
  if ((kind !== "read" && kind !== "rewrite") || memory.pending) return undefined;
  const changing = ["memory"];
  if (kind === "read") changing.push(...all.filter((name) => !outputsOfReset.includes(name)));
  if (isChanged("connection", desired, memory)) changing.push("connectionUrl", "connectionUrls", "restUrl", "access");
  if (isChanged("rotateEvery", desired, memory)) changing.push("nextRotationAt");
  return all.filter((name) => changing.includes(name));
}

/** Says once in a run that an `up` will fail for a missing setting: previews pass without credentials. */
export function settingsNotice({ kind }: Subject, plan: Plan, run: Run): Notice[] {
  return ["keep", "rewrite", "refuse"].includes(plan.kind) ? [] : run.settingsWarning(kind.service);
}

export function rotationInputs(schemas: Schemas) {
  const { z, attempt, expected, trigger, flag, refuseIf } = schemas;
  return {
    ...trigger,
    rotateEvery: intervalOf(schemas, false),
    rotatedSince: z.string(expected("a date written as a string")).superRefine(attempt(readDate)),
    initialRotation: flag,
    saveCredentials: flag,
    encryptFor: z.array(z.unknown(), expected("a list of age recipients")).superRefine(refuseIf(recipientsProblem)),
  };
}

/** The input of databases that says where clients connect. */
export function connectionInput({ z, refuseIf, expected, flag, checkTable }: Schemas) {
  const text = z.string(expected("a string"));
  const host = text.superRefine(refuseIf(hostTemplateProblem));
  const port = z.number(expected("a number")).superRefine(refuseIf(portProblem));
  const schemas = { host, port, tls: flag, username: text } satisfies Record<keyof Connection, unknown>;
  const problemOf = (given: object) => {
    const [wrong] = checkTable({ required: [], schemas }, { ...given });
    return wrong && `has a ${wrong.property} that ${wrong.problem}`;
  };
  return { connection: z.custom<object>(isObject, expected("an object")).superRefine(refuseIf(problemOf)) };
}

function intervalOf({ z, attempt, expected }: Schemas, orZero: boolean) {
  const written = z.string(expected("a duration written as a string"));
  return written.superRefine(attempt((interval: string) => readInterval(interval, { orZero })));
}

/** What is wrong with the inputs of a rotation that the schema accepts. */
export function rotationProblems(
  { rotatedSince, saveCredentials, encryptFor, connection }: Desired,
  kind: SecretKind,
  run: Run,
): InputProblem[] {
  const problems: InputProblem[] = [];
  if (kind === databasePassword) {
    // A wrong setting is reported before anything is sent.
    const setting = run.options.settings.databaseHost;
    const problem = isUnknown(connection) ? undefined : plainTextProblem(connection ?? {}, setting);
    if (problem !== undefined) problems.push({ property: "connection", problem: `has a tls that ${problem}` });
  }
  const now = run.options.clock.now();
  if (rotatedSince && !isUnknown(rotatedSince) && isFuture(readDate(rotatedSince).toISOString(), now)) {
    const problem = `must not be more than five minutes in the future: by the clock of this machine, it is ${now.toISOString()}`;
    problems.push({ property: "rotatedSince", problem });
  }
  if (saveCredentials === false && !encryptFor && !run.options.settings.canRead(kind)) {
    const problem =
      "must not be false without encryptFor, because this platform cannot be read (rekey:databasePath): new credentials would be lost";
    problems.push({ property: "saveCredentials", problem });
  }
  return problems;
}

/** The claim of a resource for a secret. */
export function claimOf(subject: Subject): Claim {
  const { word } = subject.kind;
  const why = `each reset by one invalidates the ${word} of the other. Remove one of them. If both have reset it, the saved ${word} of one is stale: set a new version on the one that stays.`;
  return { subject: ownerOf(canonical(subject)), code: "REKEY_DUPLICATE_SECRET", why };
}
