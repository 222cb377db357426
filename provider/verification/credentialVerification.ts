import { credentialNoun } from "../domain/endpoint";
import { outputsAreFormer, RekeyError } from "../domain/errors";
import { ownerOf } from "../domain/secretKind";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import {
  type InputProblem,
  type Notice,
  type Planned,
  type Resource,
  type Result,
} from "../resource/resource";
import { type AccessCredential, plainTextProblem } from "../rotation/access";
import { type Desired } from "../rotation/desired";
import { parsed } from "../rotation/state";
import { connectionInput } from "../rotation/rotationInputs";
import { type Run } from "../run/run";
import { type Failure, type Tools, verify } from "./attempts";
import { formersOf, isFormerRefused } from "./formers";
import { connectionIn, connectionsIn, type Target, targetsIn } from "./targets";

export interface CredentialVerificationInputs extends Pick<Desired, "connection"> {
  /** JSON text of one `Access`, or of a map of names to them. */
  readonly access: string;
  readonly withinSeconds?: number | null | undefined;
}

/** What a CredentialVerification saves. */
export interface CredentialVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string | undefined;
  readonly formerRefused?: true | undefined;
  /** JSON text of a map of secrets to what is remembered of them. */
  readonly memory: string;
}

/** What is saved of one secret: what was verified last, and the result. */
interface Entry {
  /** Confirmed resets, and the mark of the current credential; undefined if that was not known. */
  readonly count: number;
  readonly mark?: string | undefined;
  readonly failure?: Failure | undefined;
  readonly formerRefused?: true | undefined;
  /**
   * The credential that the last successful verification has accepted, with its value if the rotation saves values:
   * after the next reset, it must be refused.
   */
  readonly accepted?: AccessCredential | undefined;
}

type Entries = ReadonlyMap<string, Entry>;

/** What was found for one secret. */
interface Verified {
  readonly target: Target;
  readonly entry: Entry;
}

const defaultWithinSeconds = 30;

export const credentialVerification: Resource<
  CredentialVerificationInputs,
  CredentialVerificationOutputs
> = {
  idInput: "subject",
  onlyId: "verification",
  outputs: {
    subject: "plain",
    verified: "plain",
    verifiedAt: "plain",
    formerRefused: "plain",
    memory: "secret",
  },
  inputs: (schemas) => {
    const access = schemas.z.unknown().superRefine(schemas.refuseIf(accessProblem));
    const seconds = "must be a number of seconds above 0";
    const withinSeconds = schemas.z.number(seconds).positive(seconds);
    return {
      required: ["access"],
      schemas: { access, ...connectionInput(schemas), withinSeconds },
    };
  },
  check,
  plan,
  apply,
};

/** As for a rotation: a password is never sent in plain text, and what is wrong is reported before anything is sent. */
function check({ access, connection }: CredentialVerificationInputs, run: Run): InputProblem[] {
  const own = connectionIn(connection);
  // While the access is unknown, the host may be that of the rotation.
  if (isUnknown(connection) || (isUnknown(access) && own.host === undefined)) return [];
  const connections = isUnknown(access) ? [own] : connectionsIn(targetsIn(access, own));
  const problems = connections.map((one) =>
    plainTextProblem(one, run.options.settings.databaseHost),
  );
  const problem = problems.find(isSet);
  return problem === undefined
    ? []
    : [{ property: "connection", problem: `is invalid: its tls ${problem}` }];
}

/** What is wrong with an input `access`. It is a secret, so nothing of it is shown. */
function accessProblem(given: unknown): string | undefined {
  try {
    targetsIn(given as string);
    return undefined;
  } catch {
    return "must be the output `access` of a rotation or a fleet";
  }
}

function plan(
  saved: CredentialVerificationOutputs | undefined,
  { access }: CredentialVerificationInputs,
): Planned {
  if (!saved || isUnknown(access)) return { changes: true, notices: [] };
  const before = entriesIn(saved);
  const targets = targetsIn(access);
  const isAnyDue = targets.some((target) => isDue(target, before.get(ownerOf(target.subject))));
  return { changes: targets.length !== before.size || isAnyDue, notices: [] };
}

/** Whether a secret is to be verified, because it was changed or failed; or must be saved without its value. */
function isDue(target: Target, entry: Entry | undefined): boolean {
  if (!entry || entry.failure || !isAbout(entry, target)) return true;
  return withoutUnsaved(entry.accepted, target) !== entry.accepted;
}

/** Whether an entry is about the credential that is current now. */
function isAbout({ count, mark }: Entry, target: Target): boolean {
  return count === target.count && mark === target.current?.mark;
}

/** A credential without its value if the rotation no longer saves values: its mark is enough to compare it. */
function withoutUnsaved(accepted: Entry["accepted"], { current }: Target): Entry["accepted"] {
  if (accepted?.value === undefined || !current || current.value !== undefined) return accepted;
  return { ...accepted, value: undefined };
}

async function apply(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection, withinSeconds }: CredentialVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { clock } = run.options;
  const before = entriesIn(saved);
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const tools: Tools = { run, endsAtMs, queue: run.platform.queueWithin() };
  const results = await Promise.all(
    targetsIn(access, connectionIn(connection)).map(async (target): Promise<Verified> => {
      return {
        target,
        entry: await verifyTarget(target, before.get(ownerOf(target.subject)), tools),
      };
    }),
  );
  const isNew = results.some(
    ({ target, entry }) => target.current && before.get(ownerOf(target.subject)) !== entry,
  );
  const failure = failureOf(results);
  const verifiedAt = isNew && !failure ? clock.now().toISOString() : saved?.verifiedAt;
  const open = results.flatMap(({ target }) => (target.current ? [] : target.name));
  const verified = !failure && open.length === 0;
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified,
    verifiedAt,
    formerRefused: verified ? areFormersRefused(results) : undefined,
    memory: JSON.stringify(
      Object.fromEntries(results.map(({ target, entry }) => [ownerOf(target.subject), entry])),
    ),
  };
  return { outputs, failure, notices: open.length > 0 ? [notVerified(open)] : [] };
}

/** For example after a reset that was not confirmed. */
function notVerified(names: readonly string[]): Notice {
  const text = `Not verified, because no current credential is known: ${named(names).join(", ")}.`;
  return { text, isWarning: true };
}

/** Verifies one secret, if it is due, and returns what to save of it. */
async function verifyTarget(
  target: Target,
  entry: Entry | undefined,
  tools: Tools,
): Promise<Entry> {
  if (entry && !isDue(target, entry)) return entry;
  const { count, current } = target;
  const next: Entry = {
    count,
    mark: current?.mark,
    accepted: withoutUnsaved(entry?.accepted, target),
  };
  if (!current) return next;
  const lasting = lastingFailure(entry, target);
  if (lasting) return { ...next, failure: lasting };
  const formers = formersOf({ ...target, current }, entry ?? {}, tools.run);
  const failure = await verify(target, current, formers, tools);
  if (failure) {
    return { ...next, failure: { ...failure, reason: tools.run.redacted(failure.reason) } };
  }
  const formerRefused = isFormerRefused(target, entry, formers) || undefined;
  return { count, mark: current.mark, accepted: current, formerRefused };
}

/** The last failure, if no later run can show that it has ended. */
function lastingFailure(entry: Entry | undefined, target: Target): Failure | undefined {
  if (!entry?.failure || !isAbout(entry, target)) return undefined;
  return isLasting(entry.failure, target) ? entry.failure : undefined;
}

/** Whether a failure lasts until the next reset: no later run can try an old credential that is not saved. */
function isLasting({ isOfFormer }: Failure, { current }: Target): boolean {
  return isOfFormer === true && current?.value === undefined;
}

/** Whether all credentials that resets have replaced were refused; undefined if one was not, or none was replaced. */
function areFormersRefused(results: readonly Verified[]): true | undefined {
  const replaced = results.filter(
    ({ target: { former, count } }) => former !== undefined || count > 1,
  );
  return (replaced.length > 0 && replaced.every(({ entry }) => entry.formerRefused)) || undefined;
}

/** Entries that are damaged are left out: those secrets are verified again, and nothing is claimed about them. */
function entriesIn(saved: CredentialVerificationOutputs | undefined): Entries {
  const entries = parsed(saved?.memory);
  const isEntry = ([, one]: [string, unknown]) => isObject(one) && typeof one["count"] === "number";
  return new Map(
    isObject(entries) ? (Object.entries(entries).filter(isEntry) as [string, Entry][]) : [],
  );
}

function failureOf(results: readonly Verified[]): RekeyError | undefined {
  const failures = results.flatMap(({ target, entry: { failure } }) =>
    failure ? [{ target, failure }] : [],
  );
  if (failures.length === 0) return undefined;
  const lines = named(failures.map(({ target, failure }) => `${target.name}: ${failure.reason}`));
  const advice = [...new Set(failures.map(adviceFor))].join(" ");
  const isAll = failures.every(({ target, failure }) => isLasting(failure, target));
  const next = isAll ? "fails again" : "verifies again";
  const text = `Not verified:\n  ${lines.join("\n  ")}\nThe rotation itself is saved. ${outputsAreFormer} The next \`up\` ${next} and resets nothing. ${advice}`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

function adviceFor({
  target,
  failure,
}: {
  readonly target: Target;
  readonly failure: Failure;
}): string {
  const { subject, current } = target;
  if (!current || !isLasting(failure, target)) return failure.advice;
  return `${failure.advice} The old ${credentialNoun(current)} is not saved, so no later run can try it, and every \`up\` fails until the next reset. Set a new version, which resets the ${subject.kind.word}.`;
}

/** Secrets that are named in one message. */
const maxNamed = 20;

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed
    ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`]
    : lines;
}
