import { clockToleranceMs, type DesiredRotation, futureTime, overdueNotice, type RotationPlan } from "./planRotation";
import { execute } from "./execute";
import { isReadFirst, planFor } from "./planFor";
import { refreshSecret } from "./refresh";
import {
  checkSaving,
  rememberUnreadable,
  savingChange,
  savingChanges,
  savingInputs,
  type SavingInputs,
} from "./saving";
import {
  type CheckFailure,
  type Claim,
  type Difference,
  type Notice,
  type Resource,
  type Result,
  type Schemas,
} from "../resource";
import { type Run } from "../run";
import { outputsOf, type RotationOutputs, secretOutputsOf } from "./outputs";
import { InputError } from "../platform/errors";
import { idProblem } from "../records/fields";
import { ownerOf, type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { accountSettings, isElsewhere } from "./saved";
import { capitalized, olderNotices, type SecretResult, waitingNotices } from "./notices";
import { readDate, readInterval } from "./schedule";

/** The inputs of a rotation, in addition to the id. */
export interface RotationInputs extends DesiredRotation, SavingInputs {
  /** The resource's full name. */
  readonly owner?: string;
  /** Full names of other resources of the program for the same secret. */
  readonly otherOwners?: readonly string[];
}

/** Inputs whose change can cause a reset, in addition to the id. */
export const decidingInputs = ["version", "triggers", "rotateEvery", "rotatedSince"] as const;

/** The resource that rotates secrets of one kind. */
export function rotationOf(kind: SecretKind): Resource<RotationInputs, RotationOutputs> {
  const { idInput, onlyId, minInterval } = kind;
  const subjectOf = (values: object): Subject => ({
    kind,
    id: onlyId ?? (values as Readonly<Record<string, string>>)[idInput] ?? "",
  });
  const namedBy = onlyId === undefined ? [idInput] : [];
  const deciding = [...decidingInputs, ...(minInterval === undefined ? [] : (["minInterval"] as const))];
  /** What to save: the outputs with the id, and with what is derived from the record. */
  const complete = (values: object, { outputs, ...result }: SecretResult, run: Run): Result<RotationOutputs> => {
    const { restUrl: _former, ...others } = outputs;
    const restUrl = kind.restUrl?.(outputs.record ?? {}, run.options.preset()?.indexHost);
    return { ...result, outputs: { [idInput]: subjectOf(values).id, ...others, ...(restUrl && { restUrl }) } };
  };
  return {
    idInput,
    ...(onlyId !== undefined && { onlyId }),
    outputs: outputsOf(kind),
    secretOutputs: secretOutputsOf(kind),
    decidingInputs: [...namedBy, ...deciding],
    inputs: (schemas) => ({
      required: namedBy,
      schemas: {
        ...(onlyId === undefined && { [idInput]: schemas.id }),
        ...rotationInputs(schemas),
        ...(minInterval !== undefined && { minInterval: intervalOf(schemas, { orZero: true }) }),
      },
    }),
    check(inputs, unknown, run) {
      rememberUnreadable(inputs[idInput as keyof RotationInputs], inputs, kind, run);
      return [...checkSince(inputs, unknown, run), ...checkSaving(inputs, unknown, kind, run)];
    },
    claims(inputs, unknown) {
      if (unknown.has(idInput)) return [];
      return [claimOf(kind, idInput, subjectOf(inputs).id, { otherOwners: inputs.otherOwners })];
    },
    diff(saved, inputs, run) {
      const subject = subjectOf(inputs);
      const isReplaced = subjectOf(saved).id !== subject.id;
      const found = differenceOf(subject, isReplaced ? undefined : saved, inputs, run);
      return { ...found, ...(isReplaced && { replaces: [idInput] }) };
    },
    noticesOfUnknown(saved, inputs, unknown, run) {
      const subject = subjectOf(inputs);
      const before = subjectOf(saved).id === subject.id ? saved : undefined;
      return noticesOfUnknown(subject, before, inputs, unknown, run);
    },
    noticesOfNew: (inputs, unknown, run) => noticesOfNew(subjectOf(inputs), inputs, unknown, run),
    async apply(saved, inputs, run) {
      const subject = subjectOf(inputs);
      return complete(inputs, await execute(subject, planFor(subject, saved, inputs, run), saved, inputs, run), run);
    },
    async refresh(saved, run) {
      const result = await refreshSecret(subjectOf(saved), saved, run);
      return result.outputs === saved ? result : complete(saved, result, run);
    },
    importedInputs(id) {
      if (onlyId === undefined) {
        const wrong = idProblem(id);
        if (wrong !== undefined) throw new InputError("id", wrong);
        return { [idInput]: id, initialRotation: false };
      }
      if (id !== onlyId) throw new InputError("id", `must be ${onlyId}`);
      return { initialRotation: false };
    },
  };
}

/** The inputs of each rotation. */
export function rotationInputs(schemas: Schemas) {
  const { z, attempt, expected, trigger, flag } = schemas;
  const rotatedSince = z.string(expected("a date written as a string")).superRefine(attempt(readDate));
  return {
    ...trigger,
    rotateEvery: intervalOf(schemas),
    rotatedSince,
    initialRotation: flag,
    ...savingInputs(schemas),
  };
}

/** A date in the future is refused: what is reset now would be older. */
export function checkSince({ rotatedSince }: DesiredRotation, unknown: ReadonlySet<string>, run: Run): CheckFailure[] {
  const now = run.options.clock.now();
  if (!rotatedSince || unknown.has("rotatedSince")) return [];
  if (readDate(rotatedSince).getTime() <= now.getTime() + clockToleranceMs) return [];
  const clock = `by the clock of this machine, it is ${now.toISOString()}`;
  const reason = `rotatedSince must not be more than five minutes in the future: ${clock}`;
  return [{ property: "rotatedSince", reason }];
}

function intervalOf({ z, attempt, expected }: Schemas, options: { readonly orZero?: boolean } = {}) {
  const written = z.string(expected("a duration written as a string"));
  return written.superRefine(attempt((interval: string) => readInterval(interval, options)));
}

/**
 * The claim of a resource for a secret.
 *
 * @param property the input that names it
 */
export function claimOf(
  kind: SecretKind,
  property: string,
  id: string,
  owners: Pick<Claim, "owner" | "otherOwners">,
): Claim {
  const owner = ownerOf({ kind, id });
  const refusedFor = (other: string): CheckFailure => {
    const advice = `Remove one of them. If both have reset it, the saved ${kind.word} of one is stale: set a new version on the one that stays`;
    const reason = `${owner} is already rotated by ${other}: each reset by one invalidates the ${kind.word} of the other. ${advice}`;
    return { property, reason, code: kind.duplicateCode };
  };
  return { subject: owner, ...owners, refusedFor };
}

/** @param saved undefined if the resource is to be replaced */
function differenceOf(
  subject: Subject,
  saved: RotationOutputs | undefined,
  inputs: RotationInputs,
  run: Run,
): Difference {
  const { kind } = subject;
  const plan = planFor(subject, saved, inputs, run);
  const isRead = isReadFirst(subject, plan, saved, inputs, run);
  const now = run.options.clock.now();
  const notice = noticeOf(subject, plan, inputs, now, isRead);
  const notices: Notice[] = notice === undefined ? [] : [{ text: notice }];
  if (plan.kind !== "keep") {
    if (plan.kind !== "refuse") notices.push(...run.settingsWarning(kind.service));
    if (saved !== undefined && plan.kind === "reset") announcedIn(run).add(secretOf(subject));
    return { changes: true, ...(plan.kind === "reset" && { resets: true }), notices };
  }
  const change = savingChange(kind, saved, inputs, run);
  if (change !== undefined && change !== "read") {
    notices.push({ text: `${capitalized(savingChanges[change](ownerOf(subject)))}. Nothing is reset.` });
  }
  if (plan.waits !== undefined) notices.push(...waitingNotices(subject, plan.waits));
  notices.push(...olderNotices(subject, plan));
  if (isElsewhere(kind, saved, run)) notices.push({ text: otherAccountWarning(subject), isWarning: true });
  const future = futureTime(saved, inputs, now);
  if (future !== undefined) notices.push({ text: futureWarning(subject, future), isWarning: true });
  return { changes: isRead || change !== undefined, notices };
}

/** The secrets whose reset was announced in a run, so that a replacement announces it once. */
function announcedIn(run: Run): Set<string> {
  return run.shared(announcedIn, () => new Set<string>());
}

/** Announces the reset of a new resource, whose inputs may be unknown. */
function noticesOfNew(
  subject: Subject,
  inputs: RotationInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): readonly Notice[] {
  const secret = secretIn(subject, unknown);
  const announced = announcedIn(run);
  if (announced.has(secret)) return [];
  const text = newText(secret, inputs, unknown, planFor(subject, undefined, inputs, run));
  const warning = run.settingsWarning(subject.kind.service);
  if (text === undefined) return warning;
  if (!unknown.has(subject.kind.idInput)) announced.add(secret);
  return [{ text }, ...warning];
}

function newText(
  secret: string,
  { rotatedSince }: RotationInputs,
  unknown: ReadonlySet<string>,
  plan: RotationPlan,
): string | undefined {
  if (unknown.has("initialRotation")) {
    return `May reset the ${secret}: the resource is new, and ${notKnownYet(["initialRotation"])}.`;
  }
  if (plan.kind === "adopt" && plan.mayReset) {
    return `May reset the ${secret}: the time of its creation, which rotatedSince compares, is not known yet.`;
  }
  if (plan.kind !== "reset") return undefined;
  return `Resets the ${secret}: the resource is new.${rotatedSince ? "" : " `initialRotation: false` keeps it."}`;
}

/** The secret in messages, even if its id is unknown. */
function secretIn(subject: Subject, unknown: ReadonlySet<string>): string {
  const { idInput, word, noun } = subject.kind;
  return unknown.has(idInput) ? `${word} of the ${noun}` : secretOf(subject);
}

/** Announces a reset, and why. A replacement is announced as a new resource. */
function noticeOf(
  subject: Subject,
  plan: RotationPlan,
  { rotateEvery }: RotationInputs,
  now: Date,
  isRead: boolean,
): string | undefined {
  const secret = secretOf(subject);
  if (isRead && plan.kind === "keep") {
    if (plan.waits?.reason === "unconfirmed") return `Reads ${ownerOf(subject)}: the last reset was not confirmed.`;
    return `Reads ${ownerOf(subject)}: some of its credentials are not known yet.`;
  }
  const before = isRead ? " It is read first: if that shows that the last reset was applied, it is saved instead." : "";
  if (plan.kind === "refuse") return `Does not reset the ${secret}: ${plan.why}.${before}`;
  if (plan.kind !== "reset") return undefined;
  switch (plan.reason) {
    case "created":
      return undefined;
    case "trigger":
      return `Resets the ${secret}: version or triggers have changed.`;
    case "schedule": {
      const late = overdueNotice([plan], String(rotateEvery), now);
      return `Resets the ${secret}: it is due by rotateEvery, and was last reset at ${plan.since}.${late}`;
    }
    case "rotatedSince":
      return `Resets the ${secret}: ${olderThan(plan)}.`;
    case "unconfirmed":
      return `Resets the ${secret} once more: the last reset was not confirmed, so its credentials are unknown.${before}`;
  }
}

/** `it was generated at …, which is before rotatedSince` */
function olderThan({ generatedAt }: Extract<RotationPlan, { kind: "reset" }>): string {
  return generatedAt === undefined
    ? "rotatedSince is set, and the time of the last reset is not known"
    : `it is older than rotatedSince (from ${generatedAt})`;
}

/** The address and the user name are not shown: a setting may hold a secret, by mistake. */
function otherAccountWarning(subject: Subject): string {
  const { kind } = subject;
  return `${capitalized(ownerOf(subject))} was last reset or adopted with another ${accountSettings(kind)}, and is not reset now. If they belong to another account, the saved credentials are not those of this ${kind.noun}: set a new version, which resets the ${kind.word}.`;
}

function futureWarning(subject: Subject, last: string): string {
  return `By the saved state, ${ownerOf(subject)} was last reset or adopted at ${last}, which is in the future: rotateEvery counts from then. Check the clocks; a new version resets the ${subject.kind.word} now.`;
}

/** Announces that a reset depends on unknown inputs, if a value of them can cause one. */
function noticesOfUnknown(
  subject: Subject,
  saved: RotationOutputs | undefined,
  inputs: RotationInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): Notice[] {
  const plan = planFor(subject, saved, withEarliestSchedule(inputs, unknown), run);
  if (plan.kind !== "reset") return [];
  const names = [subject.kind.idInput, ...decidingInputs, "minInterval"].filter((name) => unknown.has(name));
  return [{ text: `May reset the ${secretIn(subject, unknown)}: ${notKnownYet(names)}.` }];
}

/** With them, a reset is planned if one is possible: the marker of an unknown trigger differs from the saved one. */
export function withEarliestSchedule<T extends DesiredRotation>(desired: T, unknown: ReadonlySet<string>): T {
  const earliest = { rotateEvery: "PT1S", minInterval: "PT1S", rotatedSince: "9999-12-31" };
  return { ...desired, ...Object.fromEntries(Object.entries(earliest).filter(([name]) => unknown.has(name))) };
}

/** `version is not known yet`, or `version and triggers are not known yet` */
export function notKnownYet(names: readonly string[]): string {
  return `${names.join(" and ")} ${names.length > 1 ? "are" : "is"} not known yet`;
}
