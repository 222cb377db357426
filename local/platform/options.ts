import { z } from "zod";
import { type DatabaseRecord } from "./databaseRecord";
import { fault, type Fault } from "./fault";
import { type FlowControlRecord, keyPattern, keyProblem, longestPeriodSeconds } from "./flowControl";
import { type PlatformRequest } from "./requests";
import { type TokenResourceRecord } from "./tokenRecord";

/** Which responses contain credentials: to a reset (`once`), to a read (`read`), to both (`always`) or to neither. */
export type CredentialDelivery = "always" | "read" | "once" | "never";

/** Options of a local platform. All of them are optional. */
export interface PlatformOptions {
  /** Port to listen on, on this machine only; 0 selects a free port. Default: 0. */
  readonly port?: number | undefined;
  /** User name of the management interface, without a colon. Default: random. */
  readonly username?: string | undefined;
  /** Password (API key) of the management interface. Default: random. */
  readonly password?: string | undefined;
  /** Token of the queue interface, which is that of the first queue user: visible ASCII characters. Default: random. */
  readonly queueToken?: string | undefined;
  /** Databases: an id, or fields that override the sample values. Default: `db-quickstart` and `db-sessions`. */
  readonly databases?: readonly (string | DatabaseRecord)[] | undefined;
  /** Vector indexes: an id, or fields that override the sample values. Default: `idx-vectors`. */
  readonly vectorIndexes?: readonly (string | TokenResourceRecord)[] | undefined;
  /** Search indexes, like `vectorIndexes`. Default: `idx-search`. */
  readonly searchIndexes?: readonly (string | TokenResourceRecord)[] | undefined;
  /**
   * Users of the queue, at least one, like `vectorIndexes`. The queue accepts the tokens of the first one. Default: one
   * user with the id `00000000-0000-4000-8000-000000000001`.
   */
  readonly queueUsers?: readonly (string | TokenResourceRecord)[] | undefined;
  /**
   * Whether the operations `next-token` and `roll-token` exist, with which a queue user has two valid tokens. Default:
   * true.
   */
  readonly nextToken?: boolean | undefined;
  /**
   * URL of a Redis of version 6.2 or newer (`redis://…` or `rediss://…`, with an administrator's credentials), in which
   * each database is an ACL user whose password a reset replaces, and which cannot make users. Default: none; the
   * platform then listens for the Redis protocol itself, but only knows `AUTH`, `PING` and `ACL`.
   */
  readonly redis?: string | undefined;
  /**
   * Flow-control keys: a name, which gets sample counters that a reset brings down, or a record. Default: `orders` and
   * `emails`.
   */
  readonly flowControlKeys?: readonly (string | FlowControlRecord)[] | undefined;
  /** Maximum number of requests per second; the response to further ones is 429. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /**
   * Path of an operation that reads a database, with `{id}` as a segment: `/v2/redis/database/{id}`. Default: none;
   * there is no such operation.
   */
  readonly databasePath?: string | undefined;
  /**
   * Which responses contain passwords, tokens and signing keys. The response to a reset of an index never contains
   * them. Default: `never`, as the interface specifies.
   */
  readonly credentials?: CredentialDelivery | undefined;
  /** Called with each request after the response was sent or the connection was closed. */
  readonly onRequest?: ((request: PlatformRequest) => void) | undefined;
}

/** The content of a seed file: the platform's data and credentials, under the names of the options. */
export type PlatformSeed = Pick<
  PlatformOptions,
  | "username"
  | "password"
  | "queueToken"
  | "databases"
  | "vectorIndexes"
  | "searchIndexes"
  | "queueUsers"
  | "flowControlKeys"
>;

/** An option of the local platform is invalid. The platform was not started. */
export class PlatformOptionError extends Error {
  /** Name of the class. */
  override readonly name = "PlatformOptionError";

  constructor(
    /** Path of the option: `databases[1].database_id`. */
    readonly option: string,
    /** The reason. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`Local platform: ${option}: ${problem}`, options);
  }
}

const text = z.string().min(1, "must not be empty");
const count = z.int().min(0);
const keyName = text.regex(keyPattern, keyProblem);

const flowControlKey = z.strictObject({
  flowControlKey: keyName,
  waitListSize: count.optional(),
  parallelismMax: count.optional(),
  parallelismCount: count.optional(),
  rateMax: count.optional(),
  rateCount: count.optional(),
  ratePeriod: z
    .int()
    .min(1)
    .max(longestPeriodSeconds, `must be at most ${longestPeriodSeconds} seconds (a week)`)
    .optional(),
  ratePeriodStart: count.optional(),
  isPaused: z.boolean().optional(),
  isPinnedParallelism: z.boolean().optional(),
  isPinnedRate: z.boolean().optional(),
}) satisfies z.ZodType<FlowControlRecord>;

/** Records or their names, each of them once. */
function records<T extends Record<F, string>, F extends string>(record: z.ZodType<T>, field: F, name = text) {
  return z
    .array(z.union([name, record], `must be a text, or an object with a ${field}`))
    .superRefine((items, context) => {
      const names = items.map((item) => (typeof item === "string" ? item : item[field]));
      const index = names.findIndex((one, position) => names.indexOf(one) !== position);
      if (index < 0) return;
      context.addIssue({ code: "custom", path: [index], message: `${JSON.stringify(names[index])} is given twice` });
    });
}

const tokenResources = records(z.looseObject({ id: text }), "id");

const seedFields = {
  username: z
    .string()
    .regex(/^[^:]+$/, "must not be empty or contain a colon, which ends the user name in Basic authentication")
    .optional(),
  password: text.optional(),
  queueToken: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "must consist of visible ASCII characters, without spaces")
    .optional(),
  databases: records(z.looseObject({ database_id: text }), "database_id").optional(),
  vectorIndexes: tokenResources.optional(),
  searchIndexes: tokenResources.optional(),
  queueUsers: tokenResources.min(1, "must have at least one user").optional(),
  flowControlKeys: records(flowControlKey, "flowControlKey", keyName).optional(),
};

const seed = z.strictObject(seedFields) satisfies z.ZodType<PlatformSeed>;

const options = z.strictObject({
  ...seedFields,
  port: z.int().min(0).max(65_535).optional(),
  nextToken: z.boolean().optional(),
  redis: z
    .string()
    .regex(/^rediss?:\/\/[^/]/, "must be a URL: redis://… or rediss://…")
    .optional(),
  requestsPerSecond: z.int().min(1).optional(),
  databasePath: z
    .string()
    .regex(
      /^(\/[\w.~-]+)*\/\{id\}(\/[\w.~-]+)*$/,
      "must be a path such as /v2/redis/database/{id}: {id} once, as a segment, and others of letters, digits and -._~",
    )
    .optional(),
  credentials: z.enum(["always", "read", "once", "never"]).optional(),
  onRequest: z
    .custom<PlatformOptions["onRequest"]>((value) => typeof value === "function", "must be a function")
    .optional(),
}) satisfies z.ZodType<PlatformOptions>;

/** Validates options. @throws PlatformOptionError that names the first invalid one */
export function checkOptions(given: PlatformOptions): PlatformOptions {
  return checked(options, given, "options");
}

/** @throws PlatformOptionError that names the field */
export function checkSeed(given: unknown): PlatformSeed {
  return checked(seed, given, "the whole file");
}

/** @throws PlatformOptionError */
export function checkFlowControlKey(given: FlowControlRecord): FlowControlRecord {
  return checked(flowControlKey, given, "setFlowControlKey");
}

/** @throws PlatformOptionError */
export function checkFault(given: Fault): Fault {
  return checked(fault, given, "failNext");
}

function checked<T>(schema: z.ZodType<T>, given: unknown, whole: string): T {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = innermost(result.error.issues[0]);
  throw new PlatformOptionError(z.core.toDotPath(issue.path) || whole, issue.message, { cause: result.error });
}

/** The issue inside the object of a union such as "a text or an object": it is more precise than that of the union. */
function innermost(issue: z.core.$ZodIssue | undefined): { path: PropertyKey[]; message: string } {
  if (issue?.code === "invalid_union") {
    const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code !== "invalid_type");
    return inner === undefined ? issue : innermost({ ...inner, path: [...issue.path, ...inner.path] });
  }
  if (issue?.code === "invalid_key") {
    return { path: issue.path, message: issue.issues[0]?.message ?? issue.message };
  }
  return issue ?? { path: [], message: "is invalid" };
}
