import { z } from "zod";
import { type CredentialsInAnswer } from "./databaseRoutes";
import { count, database, databaseId, text } from "./databaseOptions";
import { type DatabaseRecord } from "./databaseRecord";
import { type SavedDatabase } from "./databases";
import { type Fault } from "./faults";
import { type FlowControlRecord, longestPeriod } from "./flowControl";
import { type PlatformRequest } from "./requests";
import { type PlatformSeed } from "./seed";

/** How a local platform is to be. Everything has a default. */
export interface PlatformOptions {
  /** Address to listen at. Default: `127.0.0.1`, so that no other machine reaches it. */
  readonly host?: string | undefined;
  /** Port to listen at; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined;
  /** User name of the management interface, without a colon. Default: a random one for each start. */
  readonly username?: string | undefined;
  /** Password (API key) of the management interface. Default: a random one for each start. */
  readonly password?: string | undefined;
  /** Token of the queue interface: visible ASCII. Default: a random one for each start. */
  readonly queueToken?: string | undefined;
  /**
   * Databases: an id, fields to put over the sample values, or a record as it is, with its state, as `platform.state()`
   * gives it. Default: `db-quickstart` and `db-sessions`.
   */
  readonly databases?: readonly (string | DatabaseRecord | SavedDatabase)[] | undefined;
  /**
   * A real Redis, in which each database is an ACL user whose password a reset replaces: `true` starts a
   * `redis-server`, which ends with the platform; an address (`redis://…`, with a user who may administer) attaches one
   * that runs, of version 6.2 or newer. Default: none.
   */
  readonly redis?: boolean | string | undefined;
  /** Flow-control keys: a key with sample counters, or exactly the given fields. Default: `orders` and `emails`. */
  readonly flowControlKeys?: readonly (string | FlowControlRecord)[] | undefined;
  /** Global parallelism. Defaults: a maximum of 100, and as count the sum over the keys. */
  readonly globalParallelism?:
    | {
        /** Messages that may run at the same time. */
        readonly parallelismMax?: number | undefined;
        /** Messages that run. */
        readonly parallelismCount?: number | undefined;
      }
    | undefined;
  /** More requests in one second than this are answered 429. Default: no limit. */
  readonly requestsPerSecond?: number | undefined;
  /** Where messages may be sent: to this machine alone, or anywhere. Default: `loopback`. */
  readonly destinations?: "loopback" | "any" | undefined;
  /**
   * Seconds before a delivery that failed is tried again; each further retry waits twice as long, a day at most.
   * Default: 1.
   */
  readonly retryDelay?: number | undefined;
  /**
   * Whether a reset answers `password`, `rest_token` and `read_only_rest_token`. `never` is the document's shape,
   * `always` an older public one. Default: `never`.
   */
  readonly credentialsInAnswer?: CredentialsInAnswer | undefined;
  /**
   * A bare array, or the `{"flowControls": […]}` of older texts. Default: `array`, as in section 4.2 of the interface.
   */
  readonly flowControlListShape?: "array" | "object" | undefined;
  /** Section 4.4 of the interface, or the `waitListSize` alone that it replaced. Default: `new`. */
  readonly globalParallelismShape?: "new" | "old" | undefined;
  /** Called with each request when it was answered or its connection was cut. */
  readonly onRequest?: ((request: PlatformRequest) => void) | undefined;
}

/** An option, or a part of one, that the local platform cannot use. */
export class PlatformOptionError extends Error {
  /** Name of the class. */
  override readonly name = "PlatformOptionError";

  constructor(
    /** Path of the option, such as `databases[1].database_id`. */
    readonly option: string,
    /** What is wrong with it. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`Local platform: ${option}: ${problem}`, options);
  }
}

const visible = z.string().regex(/^[\x21-\x7e]+$/, "must be visible ASCII without spaces, and not empty");

const flowControlKey = z.strictObject({
  flowControlKey: text,
  waitListSize: count.optional(),
  parallelismMax: count.optional(),
  parallelismCount: count.optional(),
  rateMax: count.optional(),
  rateCount: count.optional(),
  ratePeriod: z.int().min(1).max(longestPeriod, `must be at most ${longestPeriod} seconds, a week`).optional(),
  ratePeriodStart: count.optional(),
  isPaused: z.boolean().optional(),
  isPinnedParallelism: z.boolean().optional(),
  isPinnedRate: z.boolean().optional(),
}) satisfies z.ZodType<FlowControlRecord>;

const redisForms = "must be true, or an address: redis://… or rediss://…";

const options = z.strictObject({
  host: text.optional(),
  port: z.int().min(0).max(65_535).optional(),
  username: z
    .string()
    .regex(/^[^:]+$/, "must not be empty, nor hold a colon: it ends the user name in Basic authentication")
    .optional(),
  password: text.optional(),
  queueToken: visible.optional(),
  databases: z.array(database).superRefine(unique(databaseId)).optional(),
  redis: z.union([z.boolean(), z.string().regex(/^rediss?:\/\/[^/]/, redisForms)], redisForms).optional(),
  flowControlKeys: z
    .array(z.union([text, flowControlKey], "must be a key, or an object with a flowControlKey"))
    .superRefine(unique((given) => (typeof given === "string" ? given : given.flowControlKey)))
    .optional(),
  globalParallelism: z
    .strictObject({ parallelismMax: count.optional(), parallelismCount: count.optional() })
    .optional(),
  requestsPerSecond: z.int().min(1).optional(),
  destinations: z.enum(["loopback", "any"]).optional(),
  retryDelay: z.number().min(0).optional(),
  credentialsInAnswer: z.enum(["never", "always"]).optional(),
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
  flowControlKeys: true,
  globalParallelism: true,
}) satisfies z.ZodType<PlatformSeed>;

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/, "must be the name of a header");
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must be Latin-1 text of one line");

const fault = z.strictObject({
  method: z
    .string()
    .regex(/^[A-Z]+$/, "must be a method in capitals")
    .optional(),
  path: z.union([z.string().startsWith("/", "must begin with a slash"), z.instanceof(RegExp)]).optional(),
  // Node's timers know no longer wait.
  delayMs: count.max(2 ** 31 - 1).optional(),
  dropConnection: z.enum(["before-apply", "after-apply", "within-answer"]).optional(),
  garble: z.boolean().optional(),
  status: z.int().min(200).max(599).optional(),
  headers: z.record(headerName, headerValue).optional(),
  body: z.unknown().optional(),
  times: z.int().min(1).optional(),
}) satisfies z.ZodType<Fault>;

/** The options, if all of them can be used. @throws PlatformOptionError that names the first one that cannot */
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

/** Of "a text, or an object" the object is what can be wrong inside: its own issue says more than that of the union. */
function innermost(issue: z.core.$ZodIssue | undefined): { path: PropertyKey[]; message: string } {
  if (issue?.code === "invalid_union") {
    const inner = issue.errors.flat().find(({ path, code }) => path.length > 0 || code === "unrecognized_keys");
    return inner === undefined ? issue : innermost({ ...inner, path: [...issue.path, ...inner.path] });
  }
  if (issue?.code === "invalid_key") {
    return { path: issue.path, message: issue.issues[0]?.message ?? issue.message };
  }
  return issue ?? { path: [], message: "cannot be used" };
}

function unique<T>(nameOf: (item: T) => string) {
  return (items: T[], context: z.RefinementCtx): void => {
    const names = items.map(nameOf);
    const index = names.findIndex((name, position) => names.indexOf(name) !== position);
    if (index >= 0) {
      const message = `there is another ${JSON.stringify(names[index])} before it`;
      context.addIssue({ code: "custom", path: [index], message });
    }
  };
}
