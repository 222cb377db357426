import { hostProblem, hostTemplateProblem, portProblem } from "../domain/endpoint";
import { canonical, ownerOf, type SecretKind, type Subject } from "../domain/secretKind";
import { isObject } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import { type Claim, type InputProblem, type Schemas } from "../resource/resource";
import { type InputTable } from "../resource/schema";
import { type Run } from "../run/run";
import { addressProblem } from "../settings/table";
import { plainTextProblem } from "./access";
import { recipientsProblem } from "./ageFile";
import { addsSecret, hasOverlap, isDuration, readOverlap } from "./formers";
import { type Connection } from "./memory";
import { noOverlap, readProgram, type RotationInputs, savesNone, untilVerified } from "./program";
import { dueAt, futureProblem, readDate, readInterval } from "./schedule";

/** The inputs that say when. */
export function triggerInputs(schemas: Schemas) {
  const { z, attempt, expected, trigger } = schemas;
  return {
    ...trigger,
    rotateEvery: intervalOf(schemas, false),
    rotatedSince: z.string(expected("a date written as a string")).superRefine(attempt(readDate)),
  };
}

export function rotationInputs(schemas: Schemas) {
  const { z, expected, flag, refuseIf } = schemas;
  return {
    ...triggerInputs(schemas),
    initialRotation: flag,
    saveCredentials: flag,
    encryptFor: z
      .array(z.unknown(), expected("a list of age recipients"))
      .superRefine(refuseIf(recipientsProblem)),
  };
}

/** The input that says where, and as which user, clients connect to a database. */
export function connectionInput(schemas: Schemas) {
  const { z, expected } = schemas;
  const username = z.string(expected("a string"));
  const all = { ...addressSchemas(schemas, hostTemplateProblem), username };
  return connectionOf(schemas, all satisfies Record<keyof Connection, unknown>);
}

/** The input that says where clients connect as a Redis user, whose name is not a part of it. */
export function addressInput(schemas: Schemas) {
  return connectionOf(schemas, addressSchemas(schemas, hostProblem));
}

/** The schemas of an address. */
export function addressSchemas(
  { z, refuseIf, expected, flag }: Schemas,
  problemOfHost: (host: string) => string | undefined,
) {
  const host = z.string(expected("a string")).superRefine(refuseIf(problemOfHost));
  const port = z.number(expected("a number")).superRefine(refuseIf(portProblem));
  return { host, port, tls: flag };
}

function connectionOf(
  { z, refuseIf, expected, checkTable }: Schemas,
  schemas: InputTable["schemas"],
) {
  const problemOf = (given: object) => {
    const [wrong] = checkTable({ required: [], schemas }, { ...given });
    return wrong && `is invalid: its ${wrong.property} ${wrong.problem}`;
  };
  return {
    connection: z.custom<object>(isObject, expected("an object")).superRefine(refuseIf(problemOf)),
  };
}

export function intervalOf({ z, attempt, expected }: Schemas, orZero: boolean) {
  const written = z.string(expected("a duration written as a string"));
  return written.superRefine(attempt((interval: string) => readInterval(interval, { orZero })));
}

export function overlapInput({ z, attempt, expected }: Schemas) {
  const written = z.string(expected('"verified", "none" or a duration written as a string'));
  return written.superRefine(attempt(readOverlap));
}

export function queueUrlInput({ z, refuseIf, expected }: Schemas) {
  return z.string(expected("a string")).superRefine(refuseIf(addressProblem));
}

/** What is wrong with the inputs of a rotation that the schema accepts. */
export function rotationProblems(
  inputs: RotationInputs,
  kind: SecretKind,
  run: Run,
): InputProblem[] {
  const { rotatedSince, saveCredentials, encryptFor, connection } = inputs;
  const problems: InputProblem[] = overlapProblems(inputs, kind, run);
  if (kind.connects) {
    // A wrong setting is reported before anything is sent.
    const setting = run.options.settings.databaseHost;
    const problem = isUnknown(connection) ? undefined : plainTextProblem(connection ?? {}, setting);
    if (problem !== undefined) {
      problems.push({ property: "connection", problem: `is invalid: its tls ${problem}` });
    }
  }
  const isDate = rotatedSince && !isUnknown(rotatedSince);
  const inFuture = isDate && futureProblem(rotatedSince, run.options.clock.now());
  if (inFuture) problems.push({ property: "rotatedSince", problem: inFuture });
  // Users of a server are not of a platform.
  const canRead = kind.shape === "redis" || run.options.settings.canRead(kind);
  if (saveCredentials === false && !encryptFor && !canRead) {
    const problem =
      "must not be false without encryptFor, because this platform cannot be read (rekey:databasePath) and new credentials would be lost";
    problems.push({ property: "saveCredentials", problem });
  }
  return problems;
}

/** What is wrong with the inputs of a secret that overlaps. */
function overlapProblems(inputs: RotationInputs, kind: SecretKind, run: Run): InputProblem[] {
  if (!hasOverlap(kind) || isUnknown(inputs.overlap)) return [];
  const problems: InputProblem[] = [];
  if (isTooLong(inputs, run.options.clock.now())) {
    problems.push({ property: "overlap", problem: "must be shorter than rotateEvery" });
  }
  const program = readProgram(inputs);
  const isNotSaved = program.form.saveCredentials === false;
  if (kind.shape === "redis" && isNotSaved && program.overlap === untilVerified) {
    const problem = `must not be false with overlap: "${untilVerified}", because no verification can try a password that is not saved: the server shows only its hash. Set overlap to a duration or "${noOverlap}"`;
    problems.push({ property: "saveCredentials", problem });
  }
  if (savesNone(program.form) && addsSecret(kind, program)) {
    const until = kind.paths ? " until it is the only one" : "";
    const advice = kind.paths ? '. Set encryptFor, or `overlap: "none"`' : "";
    const problem = `must not be false without encryptFor, because nothing shows the new ${kind.word}${until}: it would be lost${advice}`;
    problems.push({ property: "saveCredentials", problem });
  }
  return problems;
}

/** Whether the next rotation would come before the former one is retired. */
function isTooLong({ overlap, rotateEvery }: RotationInputs, now: Date): boolean {
  if (!overlap || !isDuration(overlap) || !rotateEvery || isUnknown(rotateEvery)) return false;
  const from = now.toISOString();
  return dueAt(from, overlap) >= dueAt(from, rotateEvery);
}

/** The claim of a resource for a secret. */
export function claimOf(subject: Subject): Claim {
  const { word } = subject.kind;
  const why = `each reset by one invalidates the ${word} of the other. Remove one of them. If both have reset it, the saved ${word} of one is stale: set a new version on the one that you keep.`;
  return { subject: ownerOf(canonical(subject)), code: "REKEY_DUPLICATE_SECRET", why };
}
