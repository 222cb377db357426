import { InputError, RekeyError } from "../platform/errors";
import { ownerOf, type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { idProblem } from "../records/fields";
import { isUnknown, jsonText, unknownValue } from "../records/properties";
import {
  type Adopted,
  type Claim,
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
  type Schemas,
} from "../resource";
import { type Run } from "../run";
import { adoptSecret } from "./adoption";
import { accessOf, connectionProblem, urlsOf } from "./access";
import { recipientsProblem } from "./encryption";
import { told } from "./findings";
import { databasePassword } from "./kinds/databasePassword";
import { type Declared } from "./memory";
import { announced, concerns, noticeAbout, type Said, withCount } from "./messages";
import { changedIn, contextOf, type Desired, isReadFirst, type Plan, planRotation } from "./plan";
import { refresh } from "./reads";
import { rotate } from "./rotate";
import { dueAt, isFuture, readDate, readInterval } from "./schedule";
import { type Rotated } from "./save";
import { savedOutputs, type State, stateIn } from "./state";

/** The saved outputs of a rotation. */
export type RotationOutputs = Readonly<Record<string, unknown>>;

/** Outputs that belong to a confirmed reset or an adoption: a read alone does not change them. */
const outputsOfReset = ["outcome", "rotatedAt", "adoptedAt", "rotationCount", "rotationReason", "nextRotationAt"];

/** The resource that rotates the secrets of one kind. */
export function rotationOf(kind: SecretKind): Resource<Desired, RotationOutputs> {
  const { idInput, onlyId, minInterval } = kind;
  const subjectOf = (values: object): Subject => {
    return { kind, id: onlyId ?? (values as Readonly<Record<string, string>>)[idInput] ?? "" };
  };
  const done = (subject: Subject, { state, failure, findings }: Rotated, run: Run): Result<RotationOutputs> => ({
    outputs: outputsOf(subject, state, run),
    failure,
    notices: findings.map((finding) => noticeAbout(subject, told(finding, kind))),
  });
  const outputs = outputTable(kind);
  return {
    idInput,
    ...(onlyId !== undefined && { onlyId }),
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
      const isUnknownId = isUnknown(subject.id);
      const state = saved && stateIn(saved);
      const plan: Plan =
        state && isUnknownId
          ? { kind: "maybe", names: [idInput] }
          : planRotation(state, inputs, contextOf(subject, run));
      return {
        changes: plan.kind !== "keep",
        changing: state && changingOutputs(Object.keys(outputs), plan, state, inputs),
        notices: noticesOf(subject, plan, state, inputs, run),
      };
    },
    async apply(saved, inputs, run) {
      const subject = subjectOf(inputs);
      return done(subject, await rotate(subject, saved && stateIn(saved), inputs, run), run);
    },
    async refresh(saved, run) {
      const subject = subjectOf(saved);
      stateOf(run).add(secretOf(subject));
      try {
        return done(subject, await refresh(subject, stateIn(saved), run), run);
      } catch (error) {
        if (!(error instanceof RekeyError)) throw error;
        return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
      }
    },
    async adopt(id, run): Promise<Adopted<Desired, RotationOutputs>> {
      const wrong = onlyId === undefined ? idProblem(id) : id === onlyId ? undefined : `must be ${onlyId}`;
      if (wrong !== undefined) throw new InputError("id", wrong);
      const subject: Subject = { kind, id };
      const { notices, outputs: adopted } = done(subject, await adoptSecret(subject, run), run);
      const inputs = { [idInput]: id, initialRotation: false };
      return { inputs, outputs: adopted, notices: notices.filter(({ isWarning }) => isWarning) };
    },
  };
}

/** All outputs of a rotation, and which of them are secret. */
function outputTable({
  idInput,
  table,
  restUrl,
  minInterval,
  probe,
  ...kind
}: SecretKind): Resource<never, never>["outputs"] {
  const isDatabase = kind.duplicateCode === databasePassword.duplicateCode;
  const secrets = [
    ...Object.values(table.credentials),
    "otherFields",
    ...(isDatabase ? ["connectionUrl"] : []),
    ...(isDatabase || restUrl ? ["restUrl"] : []),
    ...(isDatabase || probe ? ["access"] : []),
    "memory",
  ];
  const plain = [
    idInput,
    ...(Object.keys(table.fields).length > 0 ? ["record", "exactIntegers"] : []),
    "problems",
    ...outputsOfReset,
    ...(minInterval === undefined ? [] : ["currentKeySince"]),
    "encryptedCredentials",
  ];
  return Object.fromEntries([
    ...plain.map((name) => [name, "plain"] as const),
    ...secrets.map((name) => [name, "secret"] as const),
  ]);
}

/** The outputs of a state: with the id, and with what programs use that follows from it. */
function outputsOf(subject: Subject, state: State, run: Run): RotationOutputs {
  const { kind, id } = subject;
  const { memory } = state;
  const { rotateEvery } = memory.declared;
  const access = accessOf(subject, state, run);
  const derived = {
    ...urlsOf(subject, state, run),
    nextRotationAt: rotateEvery && dueAt(memory.rotatedAt, rotateEvery).toISOString(),
    currentKeySince: kind.minInterval === undefined ? undefined : memory.made[0]?.at,
    access: access && jsonText(access),
  };
  const known = Object.entries(derived).filter(([, value]) => value !== undefined && value !== "");
  const { record, exactIntegers, ...others } = savedOutputs(state);
  const hasRecord = Object.keys(kind.table.fields).length > 0;
  return { [kind.idInput]: id, ...others, ...(hasRecord && { record, exactIntegers }), ...Object.fromEntries(known) };
}

/** The outputs that a plan may change; undefined for all. */
export function changingOutputs(
  all: readonly string[],
  plan: Plan,
  { memory }: State,
  desired: Desired,
): string[] | undefined {
  if (plan.kind === "read") return all.filter((name) => !outputsOfReset.includes(name));
  if (plan.kind !== "save") return undefined;
  const credentials = all.filter((name) => Object.hasOwn(memory.current, name));
  const form = ["otherFields", "connectionUrl", "restUrl", "access", "encryptedCredentials", ...credentials];
  const outputsOf: Readonly<Record<keyof Declared, readonly string[]>> = {
    saveCredentials: form,
    encryptFor: form,
    connection: ["connectionUrl", "restUrl", "access"],
    rotateEvery: ["nextRotationAt"],
  };
  const changing = ["memory", ...changedIn(desired, memory).flatMap((name) => outputsOf[name])];
  return all.filter((name) => changing.includes(name));
}

/** What is said of a new resource for a secret that the run's state has. */
export const renamed: Said = {
  text: "is in the state already. Renamed? Then use the option `aliases`.",
  isWarning: true,
};

/** What is said of a plan, before it is carried out, with warnings about the saved state and the settings. */
function noticesOf(subject: Subject, plan: Plan, saved: State | undefined, desired: Desired, run: Run): Notice[] {
  const said = saidOf(subject, plan, saved, desired, run);
  if (plan.kind !== "reset") {
    return [...said.map((one) => noticeAbout(subject, one)), ...settingsNotice(subject, plan, run)];
  }
  const [first, ...others] = said;
  // Each secret whose id is not known yet is another one.
  const counted = run.announce([subject.id === unknownValue ? Symbol() : secretOf(subject)]);
  // A replacement is announced once, by its diff.
  const announcement = first && counted ? [withCount(first, counted)] : [];
  return [...announcement, ...others, ...(saved === undefined && stateOf(run).has(secretOf(subject)) ? [renamed] : [])]
    .map((one) => noticeAbout(subject, one))
    .concat(settingsNotice(subject, plan, run));
}

/** The secrets that this run has refreshed: a new resource for one of them is likely renamed. */
export function stateOf(run: Run): Set<string> {
  return run.shared(stateOf, () => new Set<string>());
}

/**
 * As `noticesOf`, without the subject, the count and the settings: a fleet says it of several at once.
 *
 * @param isAdded whether it is new in a fleet that has others
 */
export function saidOf(
  subject: Subject,
  plan: Plan,
  saved: State | undefined,
  desired: Desired,
  run: Run,
  isAdded = false,
): Said[] {
  const context = contextOf(subject, run);
  const isFirst = saved !== undefined && isReadFirst(saved, plan, context);
  const one = announced(plan, subject.kind, desired, isFirst, isAdded);
  return [...(one ? [one] : []), ...(saved ? concerns(saved.memory, plan, desired, context) : [])];
}

/** Says once in a run that an `up` will fail for a missing setting: previews pass without credentials. */
export function settingsNotice({ kind }: Subject, plan: Plan, run: Run): Notice[] {
  return sends(plan) ? run.settingsWarning(kind.service) : [];
}

/** Whether a plan needs the platform. */
export function sends({ kind }: Plan): boolean {
  return kind !== "keep" && kind !== "save" && kind !== "refuse";
}

/** The inputs of each rotation. */
export function rotationInputs(schemas: Schemas) {
  const { z, attempt, expected, trigger, flag, refuse } = schemas;
  return {
    ...trigger,
    rotateEvery: intervalOf(schemas, false),
    rotatedSince: z.string(expected("a date written as a string")).superRefine(attempt(readDate)),
    initialRotation: flag,
    saveCredentials: flag,
    encryptFor: z.array(z.unknown(), expected("a list of age recipients")).superRefine(refuse(recipientsProblem)),
  };
}

/** The input of databases that says where clients connect. */
export function connectionInput({ z, refuse }: Schemas) {
  return { connection: z.unknown().superRefine(refuse(connectionProblem)) };
}

function intervalOf({ z, attempt, expected }: Schemas, orZero: boolean) {
  const written = z.string(expected("a duration written as a string"));
  return written.superRefine(attempt((interval: string) => readInterval(interval, { orZero })));
}

/** What is wrong with the inputs of a rotation that the schema accepts. */
export function rotationProblems(
  { rotatedSince, saveCredentials, encryptFor }: Desired,
  kind: SecretKind,
  run: Run,
): InputProblem[] {
  const problems: InputProblem[] = [];
  // A wrong setting is reported before anything is sent.
  if (kind === databasePassword) run.options.databaseHost();
  const now = run.options.clock.now();
  if (rotatedSince && !isUnknown(rotatedSince) && isFuture(readDate(rotatedSince).toISOString(), now)) {
    const problem = `must not be more than five minutes in the future: by the clock of this machine, it is ${now.toISOString()}`;
    problems.push({ property: "rotatedSince", problem });
  }
  if (saveCredentials === false && !encryptFor && !run.options.canRead(kind)) {
    const problem =
      "must not be false without encryptFor, because this platform cannot be read (rekey:databasePath): new credentials would be lost";
    problems.push({ property: "saveCredentials", problem });
  }
  return problems;
}

/** The claim of a resource for a secret. */
export function claimOf(subject: Subject): Claim {
  const { word, duplicateCode } = subject.kind;
  const why = `each reset by one invalidates the ${word} of the other. Remove one of them. If both have reset it, the saved ${word} of one is stale: set a new version on the one that stays.`;
  return { subject: ownerOf(subject), code: duplicateCode, why };
}
