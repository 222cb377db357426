import { hostProblem, hostTemplateProblem, portProblem } from "../../domain/endpoint";
import { canonical, ownerOf, type SecretKind, type Subject } from "../../domain/secretKind";
import { isObject } from "../../records/fields";
import { type Claim, type InputProblem, type Schemas } from "../../resource/resource";
import { type InputTable } from "../../resource/schema";
import { type Run } from "../../run/run";
import { addressProblem } from "../../settings/table";
import { recipientsProblem } from "../memory/ageFile";
import { contextOf } from "./context";
import { plainTextProblem } from "./databaseEndpoint";
import { isDuration, readOverlap } from "./formers";
import { type AdminValues, type Connection } from "../memory/memory";
import { type Program, savesNone } from "./program";
import { dueAt, futureProblem, readDate, readInterval } from "../memory/schedule";

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
function addressSchemas(
  { z, refuseIf, expected, flag }: Schemas,
  problemOfHost: (host: string) => string | undefined,
) {
  const host = z.string(expected("a string")).superRefine(refuseIf(problemOfHost));
  const port = z.number(expected("a number")).superRefine(refuseIf(portProblem));
  return { host, port, tls: flag };
}

function connectionOf({ z, expected, refuseWrong }: Schemas, schemas: InputTable["schemas"]) {
  const parts = refuseWrong({ required: [], schemas });
  return { connection: z.custom<object>(isObject, expected("an object")).superRefine(parts) };
}

/** The input `admin`. It is a secret, so messages about it show none of its values. */
export function adminInput(of: Schemas) {
  const { z, refuseIf, refuseWrong, expected } = of;
  const text = z.string(expected("a string"));
  const filled = text.superRefine(
    refuseIf((value: string) => (value === "" ? "must not be empty" : undefined)),
  );
  const schemas = {
    ...addressSchemas(of, hostProblem),
    username: text,
    password: filled,
  } satisfies Record<keyof AdminValues, unknown>;
  const ofValues = refuseWrong({ required: ["host", "port", "password"], schemas });
  // A value that is not an object is checked when it is read.
  return z.unknown().superRefine((given, context) => {
    if (isObject(given)) ofValues(given, context);
  });
}

export function intervalOf({ z, attempt, expected }: Schemas, orZero: boolean) {
  const written = z.string(expected("a duration written as a string"));
  return written.superRefine(attempt((interval: string) => readInterval(interval, { orZero })));
}

export function overlapInput({ z, attempt, expected }: Schemas) {
  const written = z.string(expected('"retirement", "none" or a duration written as a string'));
  return written.superRefine(attempt(readOverlap));
}

export function queueUrlInput({ z, refuseIf, expected }: Schemas) {
  return z.string(expected("a string")).superRefine(refuseIf(addressProblem));
}

/** The problems of inputs that the schema accepts, as far as they are known. */
export function rotationProblems(program: Program, kind: SecretKind, run: Run): InputProblem[] {
  const { rotatedSince, rotateEvery, overlap, form, connection, unknown, adds } = program;
  const { now, canRead } = contextOf(kind, run);
  const problems: InputProblem[] = [];
  // The next rotation must not come before the former one is retired.
  const endOf = (interval: string) => dueAt(now.toISOString(), interval);
  if (rotateEvery && isDuration(overlap) && endOf(overlap) >= endOf(rotateEvery)) {
    problems.push({ property: "overlap", problem: "must be shorter than rotateEvery" });
  }
  // A wrong setting is reported before anything is sent.
  const plain = kind.connects && plainTextProblem(connection, run.options.settings.databaseHost);
  if (plain) problems.push({ property: "connection.tls", problem: plain });
  const inFuture = rotatedSince === undefined ? undefined : futureProblem(rotatedSince, now);
  if (inFuture) problems.push({ property: "rotatedSince", problem: inFuture });
  if (!savesNone(form) || unknown.has("encryptFor")) return problems;
  const [until, advice] = kind.paths?.reset
    ? [" until it is the only one", '. Set encryptFor, or `overlap: "none"`']
    : ["", ""];
  const lost = !canRead
    ? "because this platform cannot be read (rekey:databasePath) and new credentials would be lost"
    : adds && !unknown.has("overlap")
      ? `because nothing shows the new ${kind.word}${until}: it would be lost${advice}`
      : undefined;
  if (lost) {
    const problem = `must not be false without encryptFor, ${lost}`;
    problems.push({ property: "saveCredentials", problem });
  }
  return problems;
}

/** The claim of a resource for a secret. */
export function claimOf(subject: Subject): Claim {
  const { word } = subject.kind;
  const why = `each reset by one invalidates the ${word} of the other. Remove one of them. If both have reset it, the saved ${word} of one is stale: set a new version on the one that you keep.`;
  return { subject: ownerOf(canonical(subject)), code: "REKEY_DUPLICATE_SECRET", why };
}
