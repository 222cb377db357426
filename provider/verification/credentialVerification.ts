import { credentialNoun } from "../domain/endpoint";
import { outputsAreFormer, RekeyError } from "../domain/errors";
import { databasePassword } from "../domain/secretKind";
import { isObject, isSet, orUndefined } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import {
  type InputProblem,
  type Planned,
  type Resource,
  type Result,
  type Schemas,
} from "../resource/resource";
import { keyOf } from "../rotation/program/access";
import { plainTextProblem } from "../rotation/program/databaseEndpoint";
import { type Connection, parsed } from "../rotation/memory/memory";
import { connectionIn, type RotationInputs } from "../rotation/program/program";
import { connectionInput } from "../rotation/program/rotationInputs";
import { noticeAbout } from "../rotation/messages/messages";
import { type Run } from "../run/run";
import { defaultWithinSeconds, endpointOfTarget, type Tools } from "./attempts";
import { httpInputs } from "./httpProbe";
import {
  applyOverHttp,
  type CredentialVerificationOutputs,
  type HttpVerificationInputs,
  planOverHttp,
} from "./httpVerification";
import { type Target, targetsIn } from "./targets";
import { type Entry, isDue, isLasting, type Verified, verifyTarget } from "./verifyTarget";

/** The inputs of a verification of what Rekey rotates. */
export interface AccessInputs extends Pick<RotationInputs, "connection"> {
  /** JSON text of one `Access`, or of a map of names to them. */
  readonly access: string;
  readonly withinSeconds?: number | null | undefined;
}

export type CredentialVerificationInputs = AccessInputs | HttpVerificationInputs;

type Entries = ReadonlyMap<string, Entry>;

export const credentialVerification: Resource<
  CredentialVerificationInputs,
  CredentialVerificationOutputs
> = {
  idInput: "subject",
  onlyId: "verification",
  secretInputs: ["credential"],
  outputs: {
    subject: "plain",
    credential: "secret",
    verified: "plain",
    verifiedAt: "plain",
    formerRefused: "plain",
    formersValid: "plain",
    memory: "secret",
  },
  inputs: (schemas) => {
    const { z } = schemas;
    const seconds = "must be a number of seconds above 0";
    const withinSeconds = z.number(seconds).positive(seconds);
    return {
      required: [],
      schemas: {
        access: accessInput(schemas, "a rotation or a fleet"),
        ...httpInputs(schemas),
        ...connectionInput(schemas),
        withinSeconds,
      },
    };
  },
  check: (inputs, run) => {
    const problems = formProblems(inputs);
    if (problems.length > 0 || isOverHttp(inputs)) return problems;
    return checkAccess(inputs, run);
  },
  plan: (saved, inputs, run) =>
    isOverHttp(inputs) ? planOverHttp(saved, inputs, run) : planForAccess(saved, inputs, run),
  apply: (saved, inputs, run) =>
    isOverHttp(inputs) ? applyOverHttp(saved, inputs, run) : applyForAccess(saved, inputs, run),
};

/** The output `access` of something. It is a secret, so nothing of it is shown. */
export function accessInput({ z, refuseIf }: Schemas, of: string) {
  const problem = (given: unknown) =>
    orUndefined(() => targetsIn(given as string))
      ? undefined
      : `must be the output \`access\` of ${of}`;
  return z.unknown().superRefine(refuseIf(problem));
}

function isOverHttp(inputs: CredentialVerificationInputs): inputs is HttpVerificationInputs {
  return "http" in inputs && isSet(inputs.http);
}

/** Problems with inputs that only the other form has, and with one that this form lacks. */
function formProblems(inputs: Partial<AccessInputs & HttpVerificationInputs>): InputProblem[] {
  const [form, required, others] = isSet(inputs.http)
    ? (["http", "credential", ["access", "connection"]] as const)
    : (["access", "access", ["credential", "saveCredentials", "triggerValue"]] as const);
  const given = others.filter((property) => isSet(inputs[property]));
  const problem = "is required: set access, or credential and http";
  return [
    ...(isSet(inputs[required]) ? [] : [{ property: required, problem }]),
    ...given.map((property) => ({ property, problem: `cannot be used with ${form}` })),
  ];
}

/** As for a rotation: a password is never sent in plain text, and what is wrong is reported before anything is sent. */
function checkAccess({ access, connection }: AccessInputs, run: Run): InputProblem[] {
  const own = connectionIn(connection);
  // While the access is unknown, the host may be that of the rotation.
  if (isUnknown(connection) || (isUnknown(access) && own?.host === undefined)) return [];
  const connections = isUnknown(access)
    ? [own]
    : targetsIn(access, own).map(({ subject, connection: used }) =>
        subject.kind === databasePassword ? used : undefined,
      );
  const problem = connections
    .map((one) => plainTextProblem(one, run.options.settings.databaseHost))
    .find(isSet);
  return problem === undefined ? [] : [{ property: "connection.tls", problem }];
}

function planForAccess(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection }: AccessInputs,
  run: Run,
): Planned {
  if (isUnknown(access)) return { changes: true, notices: [] };
  const before = entriesIn(saved);
  const isPlaceKnown = !isUnknown(connection);
  const targets = triedIn(access, isPlaceKnown ? connectionIn(connection) : {});
  const due = targets.filter((target) => isDue(target, before.get(keyOf(target))));
  const notices = due.flatMap((target) => {
    const place = isPlaceKnown && target.current && endpointOfTarget(target, run);
    if (!place || !("reason" in place)) return [];
    const text = `\`up\` will fail: ${place.reason}. ${place.advice}`;
    return noticeAbout(target.subject, { text, isWarning: true });
  });
  return { changes: !saved || targets.length !== before.size || due.length > 0, notices };
}

/** The secrets to try. No read shows one that is not saved while two are valid, or that of a Redis user. */
function triedIn(access: string, connection: Connection | undefined): Target[] {
  return targetsIn(access, connection).map((target) => {
    const { retire, subject, current } = target;
    const isHidden = retire !== undefined || subject.kind.readsShowHashes === true;
    return isHidden && current?.value === undefined ? { ...target, current: undefined } : target;
  });
}

async function applyForAccess(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection, withinSeconds }: AccessInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { clock } = run.options;
  const before = entriesIn(saved);
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const queue = run.platform.queueWithin();
  const tools: Tools = { run, endsAtMs, queue };
  const entryOf = (target: Target) => before.get(keyOf(target));
  const results = await Promise.all(
    triedIn(access, connectionIn(connection)).map((target) =>
      verifyTarget(target, entryOf(target), tools),
    ),
  );
  const isNew = results.some(({ target, entry }) => target.current && entryOf(target) !== entry);
  // Of other secrets, nothing is claimed.
  const lastAt = results.some(({ target }) => entryOf(target)) ? saved?.verifiedAt : undefined;
  const failure = failureOf(results);
  const verifiedAt = isNew && !failure ? clock.now().toISOString() : lastAt;
  const open = results.flatMap(({ target }) => (target.current ? [] : target.name));
  const verified = !failure && open.length === 0;
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified,
    verifiedAt,
    formerRefused: verified ? areFormersRefused(results) : undefined,
    memory: JSON.stringify(
      Object.fromEntries(results.map(({ target, entry }) => [keyOf(target), entry])),
    ),
  };
  const notices = results.flatMap((one) => one.notices ?? []);
  if (open.length > 0) {
    // For example after a reset that was not confirmed.
    const text = `Not verified, because the current credential is not known, or not saved and not shown: ${named(open).join(", ")}.`;
    notices.push({ text, isWarning: true });
  }
  return { outputs, failure, notices };
}

/** True if all credentials that resets have replaced were refused; undefined if one was not, or none was replaced. */
function areFormersRefused(results: readonly Verified[]): true | undefined {
  const replaced = results.filter(
    ({ target: { former, count } }) => former !== undefined || count > 1,
  );
  return (replaced.length > 0 && replaced.every(({ entry }) => entry.formerRefused)) || undefined;
}

/** What is remembered. What is damaged is verified again, and nothing is claimed of it. */
function entriesIn(saved: CredentialVerificationOutputs | undefined): Entries {
  const entries = Object.entries((parsed(saved?.memory) ?? {}) as Record<string, Entry>);
  return new Map(entries.filter(([, entry]) => isObject(entry)));
}

function failureOf(results: readonly Verified[]): RekeyError | undefined {
  const failures = results.flatMap(({ target, entry: { failure } }) =>
    failure ? [{ target, failure }] : [],
  );
  if (failures.length === 0) return undefined;
  const lines = named(failures.map(({ target, failure }) => `${target.name}: ${failure.reason}`));
  const advice = failures.map(({ target, failure }) => {
    const { subject, current } = target;
    if (!current || !isLasting(failure, target)) return failure.advice;
    return `${failure.advice} The old ${credentialNoun(current)} is not saved, so no later run can try it, and every \`up\` fails until the next reset. Set a new version, which resets the ${subject.kind.word}.`;
  });
  const isAll = failures.every(({ target, failure }) => isLasting(failure, target));
  const next = isAll ? "fails again" : "verifies again";
  const text = `Not verified:\n  ${lines.join("\n  ")}\nThe rotation itself is saved. ${outputsAreFormer} The next \`up\` ${next} and resets nothing. ${[...new Set(advice)].join(" ")}`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

/** Secrets that are named in one message. */
const maxNamed = 20;

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed
    ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`]
    : lines;
}
