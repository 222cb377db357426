import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { json, refusal, router } from "./answers";
import { authenticate, type Credentials, schemes } from "./authentication";
import { refuseOtherOrigins } from "./console/otherPages";
import { addConsoleRoutes, consoleUrl } from "./console/routes";
import { type Database, Databases } from "./databases";
import { addDatabaseRoutes } from "./databaseRoutes";
import { addDescriptionRoutes } from "./descriptionRoutes";
import { addFaultRoutes } from "./faultRoutes";
import { type Fault, Faults } from "./faults";
import { type FlowControlRecord, sampleKey } from "./flowControl";
import { addFlowControlRoutes } from "./flowControlRoutes";
import { addInspectionRoutes } from "./inspectionRoutes";
import { checkFault, checkFlowControlKey, checkOptions, PlatformOptionError, type PlatformOptions } from "./options";
import { MessageQueue } from "./queue/messageQueue";
import { addMessageRoutes } from "./queue/routes";
import { rateLimit } from "./rateLimit";
import { RedisUsers } from "./redis";
import { Refused } from "./refused";
import { type PlatformRequest, RequestLog } from "./requests";
import { type PlatformSeed } from "./seed";

/**
 * A platform that runs in this process, on one machine. It keeps everything in memory, and is for development and
 * tests.
 */
export interface Platform extends Credentials {
  /** Address of both interfaces, such as `http://127.0.0.1:49152`. */
  readonly url: string;
  /** Address of the console for a browser, which carries the credentials: as secret as they are. */
  readonly consoleUrl: string;
  /**
   * The requests since the start, or since `reset()`, in the order in which they arrived; without those that are no
   * valid HTTP, and without what the console reads. At least the newest 10,000 are kept.
   */
  readonly requests: readonly PlatformRequest[];
  /** The databases, by id. */
  readonly databases: ReadonlyMap<string, Database>;
  /** The flow-control keys with the counters that they have when this is read, by key. */
  readonly flowControlKeys: ReadonlyMap<string, FlowControlRecord>;
  /**
   * Address of the Redis, without credentials; undefined where there is none. `database(id).redisUrl` has those of a
   * database.
   */
  readonly redisUrl: string | undefined;
  /** How many passwords were reset since the start, or since `reset()`, over all databases. */
  readonly resetCount: number;
  /** The database with this id. @throws RangeError if there is none */
  database(id: string): Database;
  /** Adds a flow-control key, or replaces all that is known of it. */
  setFlowControlKey(record: FlowControlRecord): void;
  /**
   * The next request that matches meets this fault. Requests meet faults in the order in which these were asked for.
   */
  failNext(fault: Fault): void;
  /**
   * Back to the data of the start, with new database passwords where none were given; no requests, no faults. The
   * credentials stay. Only a platform with a Redis makes one wait for it.
   */
  reset(): Promise<void>;
  /** The data and the credentials as they are now, passwords included; a platform can be started with them. */
  state(): PlatformSeed;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

/**
 * Starts a local platform with the operations of the interface, section 4. Nobody but the holder of its credentials is
 * answered.
 *
 * @throws PlatformOptionError that names the option, also where the address or the port cannot be listened at, or the
 * Redis not be used
 */
export async function startPlatform(given: PlatformOptions = {}): Promise<Platform> {
  const options = checkOptions(given);
  const credentials: Credentials = {
    username: options.username ?? `local-${random(4)}@example.com`,
    password: options.password ?? random(16),
    queueToken: options.queueToken ?? random(16),
  };
  const refuseRedis = (cause: Error): never => {
    throw new PlatformOptionError("redis", cause.message, { cause });
  };
  const redis = options.redis ? await RedisUsers.open(options.redis).catch(refuseRedis) : undefined;
  const state: State = {
    requests: new RequestLog(),
    faults: new Faults(),
    databases: new Databases(options.databases ?? ["db-quickstart", "db-sessions"], redis),
    queue: new MessageQueue({
      flowControlKeys: (options.flowControlKeys ?? ["orders", "emails"]).map(asKey),
      globalParallelism: {
        parallelismMax: options.globalParallelism?.parallelismMax ?? 100,
        parallelismCount: options.globalParallelism?.parallelismCount,
      },
      retryDelay: options.retryDelay ?? 1,
    }),
  };
  const currentState = (): PlatformSeed => ({
    ...credentials,
    databases: state.databases.saved,
    flowControlKeys: state.queue.flowControlKeys(),
    globalParallelism: options.globalParallelism,
  });
  const app = application(state, credentials, options, currentState);
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    // A test that runs the platform in its own process keeps its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: () => refusal(400, "request", "its target or its Host header is malformed"),
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const url = await state.databases
    .restore()
    .catch(refuseRedis)
    .then(() => listen(server, options.host ?? "127.0.0.1", options.port ?? 0))
    .catch(async (error: unknown) => {
      await redis?.close();
      throw error;
    });
  let closed: Promise<void> | undefined;

  return {
    url,
    ...credentials,
    consoleUrl: consoleUrl(url, credentials),
    requests: state.requests.all,
    databases: state.databases.all,
    get flowControlKeys() {
      return new Map(state.queue.flowControlKeys().map((record) => [record.flowControlKey, record]));
    },
    redisUrl: redis?.url(),
    get resetCount() {
      return state.databases.resetCount;
    },
    database(id) {
      const database = state.databases.all.get(id);
      if (database === undefined) {
        throw new RangeError(`Local platform: there is no database ${JSON.stringify(id)}`);
      }
      return database;
    },
    setFlowControlKey: (record) => state.queue.setFlowControlKey(checkFlowControlKey(record)),
    failNext: (fault) => state.faults.add(checkFault(fault)),
    reset() {
      state.faults.clear();
      state.queue.restore();
      state.requests.clear();
      return state.databases.restore();
    },
    state: currentState,
    close() {
      state.faults.clear();
      state.queue.close();
      closed ??= new Promise<void>((resolve) => server.close(() => resolve())).then(() => redis?.close());
      server.closeAllConnections();
      return closed;
    },
  };
}

/** What a platform is made of. */
export interface State {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly databases: Databases;
  readonly queue: MessageQueue;
}

/** The operations of a platform, and what every request goes through before them. */
export function application(
  state: State,
  credentials: Credentials,
  options: PlatformOptions,
  current: () => PlatformSeed,
) {
  const schemeOf = schemes(credentials);
  const authenticated = authenticate(schemeOf);
  const app = router();

  addConsoleRoutes(app, state, authenticated);

  app.use(async (c, next) => {
    const authorized = schemeOf(c.req.path)?.accepts(c.req.header("authorization")) ?? false;
    const { method, url: path = "/" } = c.env.incoming;
    const { entry, answered } = state.requests.add({ method: method ?? "", path, authorized });
    await next();
    if (!c.env.incoming.socket.destroyed) {
      answered(c.res.status);
    }
    options.onRequest?.(entry);
  });

  app.use(refuseOtherOrigins);
  app.use(state.faults.middleware);

  app.use(authenticated);
  if (options.requestsPerSecond !== undefined) {
    app.use(rateLimit(options.requestsPerSecond));
  }
  addDatabaseRoutes(app, state.databases, options.credentialsInAnswer ?? "never");
  addInspectionRoutes(app, state.databases, current);
  addFaultRoutes(app, state.faults);
  addDescriptionRoutes(app);
  addFlowControlRoutes(app, state.queue, {
    list: options.flowControlListShape ?? "array",
    global: options.globalParallelismShape ?? "new",
  });
  addMessageRoutes(app, state.queue, options.destinations ?? "loopback");

  app.notFound(() => refusal(404, "path", "the platform has no such operation"));
  app.onError((error) =>
    error instanceof Refused
      ? refusal(error.status, error.field, error.problem)
      : json({ error: `internal: ${error.message}` }, 500),
  );
  return app;
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const option = cause.code === "EADDRINUSE" || cause.code === "EACCES" ? "port" : "host";
      const problem = `cannot listen at ${host}, port ${port}: ${cause.message}. Name another, or none for ${option === "port" ? "a free one" : "127.0.0.1"}`;
      reject(new PlatformOptionError(option, problem, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: listening } = server.address() as AddressInfo;
  // "Every address of this machine" is nothing that a client can connect to.
  const reachable = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${reachable}]` : reachable}:${listening}`;
}

function asKey(given: string | FlowControlRecord): FlowControlRecord {
  return typeof given === "string" ? sampleKey(given) : given;
}

function random(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
