import { nameOf, type Credential } from "../platform/endpoint";
import { outputsAreFormer, RekeyError } from "../platform/errors";
import { databasePassword, ownerOf, kinds, secretOf } from "../platform/secretKind";
import { isObject, isSet } from "../records/fields";
import { isUnknown } from "../records/properties";
import { type InputProblem, type Planned, type Resource, type Result } from "../resource";
import { type Access, type AccessCredential, plainTextProblem, restConnection, usernameFor } from "../rotation/access";
import { saltedMark } from "../rotation/marks";
import { type Connection, parsed } from "../rotation/memory";
import { type Desired } from "../rotation/desired";
import { connectionInput } from "../rotation/rotationInputs";
import { type Run } from "../run";
import { type Failure, isSameCredential, type Target, verify } from "./attempts";

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

/** What is remembered of one secret. It has no value that the rotation does not save. */
interface Entry {
  /** Confirmed resets when it was last tried. */
  readonly count: number;
  /** The current credential, if all of it was verified. */
  readonly accepted?: Tried;
  /** Otherwise, the last one that was. */
  readonly former?: Tried | undefined;
  /** Whether the former ones were refused; false if one was not tried, undefined if there was none. */
  readonly formerRefused?: boolean | undefined;
  /** A failure that no later run can try again, because the former credential is not saved. */
  readonly failed?: LastingFailure | undefined;
}

/** A failure that stays one for as long as the same credential is the current one. */
type LastingFailure = Failure & { readonly current: AccessCredential };

/** A credential, the confirmed resets when it was the current one, and its user. */
type Tried = AccessCredential & { readonly count: number; readonly username?: string | undefined };

type Memory = ReadonlyMap<string, Entry>;

/** What was found for one secret. */
interface Verified {
  readonly target: Target;
  readonly entry: Entry;
  readonly failure?: Failure | undefined;
}

const defaultWithinSeconds = 30;

export const credentialVerification: Resource<CredentialVerificationInputs, CredentialVerificationOutputs> = {
  idInput: "subject",
  onlyId: "verification",
  outputs: { subject: "plain", verified: "plain", verifiedAt: "plain", formerRefused: "plain", memory: "secret" },
  inputs: (schemas) => {
    const access = schemas.z.unknown().superRefine(schemas.refuse(accessProblem));
    const seconds = "must be a number of seconds above 0";
    const withinSeconds = schemas.z.number(seconds).positive(seconds);
    return { required: ["access"], schemas: { access, ...connectionInput(schemas), withinSeconds } };
  },
  check,
  plan,
  apply,
};

/** As for a rotation: a password is never sent in plain text, and what is wrong is reported before anything is sent. */
function check({ access, connection }: CredentialVerificationInputs, run: Run): InputProblem[] {
  const own = ownConnection(connection);
  // While the access is unknown, the host may be that of the rotation.
  if (isUnknown(connection) || (isUnknown(access) && own.host === undefined)) return [];
  const connections = isUnknown(access) ? [own] : targetsIn(access, own).flatMap(connectionOfDatabase);
  const problems = connections.map((one) => plainTextProblem(one, run.options.settings.databaseHost));
  const problem = problems.find(isSet);
  return problem === undefined ? [] : [{ property: "connection", problem: `has a tls that ${problem}` }];
}

/** Only that of a database is used. */
function connectionOfDatabase({ subject, connection }: Target): Connection[] {
  return subject.kind === databasePassword && connection ? [connection] : [];
}

/** What the program sets of a connection. */
function ownConnection(connection: CredentialVerificationInputs["connection"]): Connection {
  return Object.fromEntries(Object.entries(connection ?? {}).filter(([, value]) => isSet(value)));
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

/**
 * The secrets of the output `access` of a rotation or a fleet.
 *
 * @param own takes precedence over the connection of the rotation
 */
function targetsIn(text: string, own: Connection = {}): Target[] {
  const given: unknown = JSON.parse(text);
  if (!isObject(given)) throw new Error("it is not an object");
  if (typeof given["id"] === "string") return [targetOf(given, own)];
  return Object.entries(given).map(([name, access]) => ({ ...targetOf(access, own), name: JSON.stringify(name) }));
}

function targetOf(given: unknown, own: Connection): Target {
  const access = (given ?? {}) as Access;
  const { id, of, count, current } = access;
  const kind = Object.values(kinds).find(({ noun }) => noun === of);
  if (!kind || typeof id !== "string" || typeof count !== "number") throw new Error("it is of no secret");
  const subject = { kind, id };
  const { connection: declared = {} } = access;
  const connection: Connection = { ...(current?.name === "restToken" ? restConnection(declared) : declared), ...own };
  const isNamed = current?.name === "password" && connection.username !== undefined;
  const username = isNamed ? usernameFor({ databaseId: id }, connection) : undefined;
  return { ...access, connection, subject, name: ownerOf(subject), username };
}

function plan(saved: CredentialVerificationOutputs | undefined, { access }: CredentialVerificationInputs): Planned {
  if (!saved || isUnknown(access)) return { changes: true, notices: [] };
  const before = readMemory(saved);
  const targets = targetsIn(access);
  return { changes: targets.length !== before.size || targets.some((one) => isDue(one, before)), notices: [] };
}

/** Whether a secret was reset, has another credential, or failed, since it was verified. */
function isDue({ subject, count, current }: Target, before: Memory): boolean {
  const entry = before.get(ownerOf(subject));
  if (entry?.count !== count) return true;
  const { accepted } = entry;
  if (!accepted || !current) return accepted !== current;
  // A value that is not saved any more is replaced by its mark.
  return "value" in accepted !== "value" in current || !isSameCredential(accepted, current);
}

/** Only secrets that are due are contacted. */
async function apply(
  saved: CredentialVerificationOutputs | undefined,
  { access, connection, withinSeconds }: CredentialVerificationInputs,
  run: Run,
): Promise<Result<CredentialVerificationOutputs>> {
  const { clock } = run.options;
  const before = readMemory(saved);
  const endsAtMs = clock.elapsedMs() + (withinSeconds ?? defaultWithinSeconds) * 1000;
  const tools = { run, endsAtMs, queue: run.platform.queueWithin() };
  const targets = targetsIn(access, ownConnection(connection));
  const results = await Promise.all(
    targets.map(async (target): Promise<Verified> => {
      const entry = before.get(ownerOf(target.subject));
      if (entry && !isDue(target, before)) return { target, entry };
      return failedBefore(target, entry) ?? verifyTarget(target, entry, tools);
    }),
  );
  const failure = failureOf(results);
  const open = targets.flatMap(({ current, name }) => (current ? [] : name));
  const isVerified = !failure && targets.some((target) => target.current && isDue(target, before));
  const refused = results.map(({ entry }) => entry.formerRefused);
  const outputs: CredentialVerificationOutputs = {
    subject: "verification",
    verified: failure === undefined && open.length === 0,
    verifiedAt: isVerified ? clock.now().toISOString() : saved?.verifiedAt,
    formerRefused: failure || !refused.includes(true) || refused.includes(false) ? undefined : true,
    memory: JSON.stringify(Object.fromEntries(results.map(({ target, entry }) => [ownerOf(target.subject), entry]))),
  };
  // For example after a reset that was not confirmed.
  const text = `Not verified, because no current credential is known: ${named(open).join(", ")}.`;
  return { outputs, failure, notices: open.length > 0 ? [{ text, isWarning: true }] : [] };
}

/** The result of a secret whose former failure stays, if it has one. */
function failedBefore(target: Target, entry: Entry | undefined): Verified | undefined {
  const { current } = target;
  if (!entry?.failed || !current || !isSameCredential(entry.failed.current, current)) return undefined;
  return { target, entry, failure: entry.failed };
}

/** A failure as it stays: if a former credential is not saved, no later run can show that it is refused by now. */
function lastingFailure(failure: Failure, { subject, current }: Target, run: Run): LastingFailure | undefined {
  if (!failure.isOfFormer || !current || "value" in current) return undefined;
  const { word } = subject.kind;
  const stays = `The former ${nameOf(current)} is not saved, so no later run can try it: this stays a failure until the next reset. Set a new version, which resets the ${word}.`;
  return { reason: run.redacted(failure.reason), advice: `${failure.advice} ${stays}`, current };
}

/** A credential that was accepted, as it is remembered: without a value that the rotation does not save any more. */
function remembered(former: Tried | undefined, current: AccessCredential): Tried | undefined {
  if (!former || !("value" in former) || !("mark" in current)) return former;
  const { value, ...others } = former;
  return { ...others, mark: saltedMark(current.salt, value), salt: current.salt };
}

/** Verifies one secret, and returns what to remember of it. */
async function verifyTarget(
  target: Target,
  entry: Entry | undefined,
  tools: Parameters<typeof verify>[3],
): Promise<Verified> {
  const { subject, count, current, username } = target;
  const former = entry?.accepted ?? entry?.former;
  if (!current) return { target, entry: { count, former } };
  const { name } = current;
  const isSame = former !== undefined && isSameCredential(former, current);
  // What resets of this run have replaced, if it is not saved: no later run can try it.
  const replaced =
    "value" in current
      ? []
      : (tools.run.shared.replaced.get(secretOf(subject)) ?? []).flatMap(({ [name]: value }) => value ?? []);
  const others = [...new Set(replaced)].map((value): Credential => ({ name, value, username }));
  if (former && "value" in former && former.name === name) others.push(former);
  const tries = others.filter((one) => !isSameCredential(one, current));
  const failure =
    isSame && former.count < count ? returnedAgain(target, current) : await verify(target, current, tries, tools);
  if (failure) {
    const failed = lastingFailure(failure, target, tools.run);
    return { target, entry: { count, former: remembered(former, current), failed }, failure: failed ?? failure };
  }
  // A reset that was not verified has replaced one that is not known here.
  const isGap = entry !== undefined && ![0, 1].includes(count - (former?.count ?? NaN));
  const isTried = !former || isSame || tries.some((one) => isSameCredential(former, one));
  const formerRefused = isGap || !isTried ? false : tries.length > 0 || undefined;
  return { target, entry: { count, accepted: { ...current, count, username }, formerRefused } };
}

function returnedAgain({ subject }: Target, current: AccessCredential): Failure {
  const reason = `the former ${nameOf(current)} is still accepted: the platform returned it as the new one`;
  return { reason, advice: `Set a new version, which resets the ${subject.kind.word} again.` };
}

/** What is damaged is not known: it is verified again, and nothing is claimed from it. */
function readMemory(saved: CredentialVerificationOutputs | undefined): Memory {
  const entries = parsed(saved?.memory);
  const isEntry = ([, one]: [string, unknown]) => isObject(one) && typeof one["count"] === "number";
  return new Map(isObject(entries) ? (Object.entries(entries).filter(isEntry) as [string, Entry][]) : []);
}

function failureOf(results: readonly Verified[]): RekeyError | undefined {
  const failures = results.flatMap(({ target, failure }) => (failure ? { name: target.name, ...failure } : []));
  if (failures.length === 0) return undefined;
  const lines = named(failures.map(({ name, reason }) => `${name}: ${reason}`));
  const advice = [...new Set(failures.map((failure) => failure.advice))].join(" ");
  const next = results.every(({ failure, entry }) => !failure || entry.failed) ? "fails again" : "verifies again";
  const text = `Not verified:\n  ${lines.join("\n  ")}\nThe rotation itself is saved. ${outputsAreFormer} The next \`up\` ${next}, and resets nothing. ${advice}`;
  return new RekeyError("REKEY_VERIFICATION_FAILED", text, "not sent");
}

/** Secrets that are named in one message. */
const maxNamed = 20;

function named(lines: readonly string[]): readonly string[] {
  return lines.length > maxNamed ? [...lines.slice(0, maxNamed), `and ${lines.length - maxNamed} more`] : lines;
}
