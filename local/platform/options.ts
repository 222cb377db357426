import { z } from "zod";
import { type CredentialDelivery } from "./credentialDelivery";
import { database, databaseId } from "./databaseOptions";
import { type DatabaseRecord } from "./databaseRecord";
import { type SavedDatabase } from "./databases";
import { fault, type Fault } from "./fault";
import { type FlowControlRecord, keyPattern, keyProblem, longestPeriodSeconds } from "./flowControl";
import { count, text, visible } from "./optionTypes";
import { type PlatformRequest } from "./requests";
import { type SavedSigningKeys } from "./signingKeys";
import { tokenResource, tokenResourceId } from "./tokenResourceOptions";
import { type SavedTokenResource, type TokenResourceRecord } from "./tokenResources";

/** Options of a local platform. All of them are optional. */
export interface PlatformOptions {
  /** Address to listen on. Default: `127.0.0.1`, which other machines cannot reach. */
  readonly host?: string | undefined;
  /** Port to listen on; 0 selects a free port. Default: 0. */
  readonly port?: number | undefined;
  /** User name of the management interface, without a colon. Default: random. */
  readonly username?: string | undefined;
  /** Password (API key) of the management interface. Default: random. */
  readonly password?: string | undefined;
  /** Token of the queue interface: visible ASCII characters. Default: that of the first queue user, or random. */
  readonly queueToken?: string | undefined;
  /**
   * Databases: an id, fields that override the sample values, or a record with its state, as `platform.state()` returns
   * it. Default: `db-quickstart` and `db-sessions`.
   */
  readonly databases?: readonly (string | DatabaseRecord | SavedDatabase)[] | undefined;
  /**
   * Vector indexes: an id, fields that override the sample values, or a record with its state, as `platform.state()`
   * returns it. Default: `idx-vectors`.
   */
  readonly vectorIndexes?: readonly (string | TokenResourceRecord | SavedTokenResource)[] | undefined;
  /** Search indexes, like `vectorIndexes`. Default: `idx-search`. */
  readonly searchIndexes?: readonly (string | TokenResourceRecord | SavedTokenResource)[] | undefined;
  /**
   * Users of the queue, at least one, like `vectorIndexes`. The queue accepts the tokens of the first one. Default: one
   * user with the id `00000000-0000-4000-8000-000000000001`.
   */
  readonly queueUsers?: readonly (string | TokenResourceRecord | SavedTokenResource)[] | undefined;
  /** Keys that sign messages: visible ASCII characters. Default: random. */
  readonly signingKeys?: SavedSigningKeys | undefined;
  /**
   * A real Redis, in which each database is an ACL user and a reset replaces the password of that user. `true` starts a
   * `redis-server`, which ends with the platform. A URL (`redis://…`, with an administrator's credentials) uses a
   * running Redis of version 6.2 or newer. Default: none; the platform then listens for the Redis protocol itself, but
   * only knows `AUTH` and `PING`.
   */
  readonly redis?: boolean | string | undefined;
  /**
   * Flow-control keys: a name, which gets sample counters that a reset brings down, or a record. Default: `orders` and
   * `emails`.
   */
  readonly flowControlKeys?: readonly (string | FlowControlRecord)[] | undefined;
  /** Global parallelism. Default: a maximum of 100, and the sum over all keys as the count. */
  readonly globalParallelism?:
    | {
        /** Maximum number of messages that run at the same time. */
        readonly parallelismMax?: number | undefined;
        /** Number of messages that are running. */
        readonly parallelismCount?: number | undefined;
      }
    | undefined;
  /** Maximum number of requests per second; the response to further ones is 429. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Where messages may be sent: only to this machine, or anywhere. Default: `loopback`. */
  readonly destinations?: "loopback" | "any" | undefined;
  /**
   * Seconds before the first retry of a failed delivery. The delay doubles with each further retry, up to a day.
   * Default: 1.
   */
  readonly retryDelay?: number | undefined;
  /**
   * Path of an operation that reads a database, with `{id}` as a segment: `/v2/redis/database/{id}`. Default: none;
   * there is no such operation.
   */
  readonly databasePath?: string | undefined;
  /**
   * Which responses contain passwords, tokens and signing keys: those to a reset and to a read (`always`), only to a
   * read (`read`), only to a reset (`once`), or none (`never`). The response to a reset of an index never contains
   * them. Default: `never`, as the interface specifies.
   */
  readonly credentials?: CredentialDelivery | undefined;
  /**
   * The list of flow-control keys: an array, or `{"flowControls": […]}`. Default: `array`, as the interface specifies.
   */
  readonly flowControlListShape?: "array" | "object" | undefined;
  /** The global parallelism as the interface specifies it, or the older `waitListSize` alone. Default: `new`. */
  readonly globalParallelismShape?: "new" | "old" | undefined;
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
  | "signingKeys"
  | "flowControlKeys"
  | "globalParallelism"
>;

/** An option of the local platform is invalid. The platform was not started. */
export class PlatformOptionError extends Error {
  /** Name of the class. */
  override readonly name = "PlatformOptionError";

  constructor(
    /** Path of the option: `databases[1].database_id`. */
    readonly option: string,
    /** What is wrong with it. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`Local platform: ${option}: ${problem}`, options);
  }
}

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

const redisForms = "must be true or a URL: redis://… or rediss://…";

const options = z.strictObject({
  host: text.optional(),
  port: z.int().min(0).max(65_535).optional(),
  username: z
    .string()
    .regex(/^[^:]+$/, "must not be empty or contain a colon, which ends the user name in Basic authentication")
    .optional(),
  password: text.optional(),
  queueToken: visible.optional(),
  databases: z.array(database).superRefine(unique(databaseId)).optional(),
  vectorIndexes: z.array(tokenResource).superRefine(unique(tokenResourceId)).optional(),
  searchIndexes: z.array(tokenResource).superRefine(unique(tokenResourceId)).optional(),
  queueUsers: z
    .array(tokenResource)
    .min(1, "must have at least one user")
    .superRefine(unique(tokenResourceId))
    .optional(),
  signingKeys: z
    .strictObject({ current: visible.optional(), next: visible.optional(), rolls: count.optional() })
    .optional(),
  redis: z.union([z.boolean(), z.string().regex(/^rediss?:\/\/[^/]/, redisForms)], redisForms).optional(),
  flowControlKeys: z
    .array(z.union([keyName, flowControlKey], "must be a name, or an object with a flowControlKey"))
    .superRefine(unique((given) => (typeof given === "string" ? given : given.flowControlKey)))
    .optional(),
  globalParallelism: z
    .strictObject({ parallelismMax: count.optional(), parallelismCount: count.optional() })
    .optional(),
  requestsPerSecond: z.int().min(1).optional(),
  destinations: z.enum(["loopback", "any"]).optional(),
  retryDelay: z.number().min(0).optional(),
  databasePath: z
    .string()
    .regex(
      /^(\/[\w.~-]+)*\/\{id\}(\/[\w.~-]+)*$/,
      "must be a path such as /v2/redis/database/{id}: {id} once, as a segment, and others of letters, digits and -._~",
    )
    .optional(),
  credentials: z.enum(["always", "read", "once", "never"]).optional(),
  flowControlListShape: z.enum(["array", "object"]).optional(),
  globalParallelismShape: z.enum(["new", "old"]).optional(),
  onRequest: z
    .custom<PlatformOptions["onRequest"]>((value) => typeof value === "function", "must be a function")
    .optional(),
}) satisfies z.ZodType<PlatformOptions>;

const seed = options.pick({
  username: true,
  password: true,
  queueToken: true,
  databases: true,
  vectorIndexes: true,
  searchIndexes: true,
  queueUsers: true,
  signingKeys: true,
  flowControlKeys: true,
  globalParallelism: true,
}) satisfies z.ZodType<PlatformSeed>;

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
  if (result.success) {
    return result.data;
  }
  const issue = innermost(result.error.issues[0]);
  throw new PlatformOptionError(z.core.toDotPath(issue.path) || whole, issue.message, { cause: result.error });
}

/** The issue inside the object of a union such as "a text or an object": it is more precise than that of the union. */
function innermost(issue: z.core.$ZodIssue | undefined): { path: PropertyKey[]; message: string } {
  if (issue?.code === "invalid_union") {
    const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === "unrecognized_keys");
    return inner === undefined ? issue : innermost({ ...inner, path: [...issue.path, ...inner.path] });
  }
  if (issue?.code === "invalid_key") {
    return { path: issue.path, message: issue.issues[0]?.message ?? issue.message };
  }
  return issue ?? { path: [], message: "is invalid" };
}

function unique<T>(nameOf: (item: T) => string) {
  return (items: T[], context: z.RefinementCtx): void => {
    const names = items.map(nameOf);
    const index = names.findIndex((name, position) => names.indexOf(name) !== position);
    if (index >= 0) {
      const message = `${JSON.stringify(names[index])} is given twice`;
      context.addIssue({ code: "custom", path: [index], message });
    }
  };
}
