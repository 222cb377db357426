import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { json, refusal, router } from "./responses";
import { authenticate, type Credentials, schemes } from "./authentication";
import { refuseOtherOrigins } from "./console/otherPages";
import { addConsoleRoutes, consoleUrl } from "./console/routes";
import { type Database, Databases, type DatabaseServer } from "./databases";
import { addDatabaseRoutes } from "./databaseRoutes";
import { addDescriptionRoutes } from "./descriptionRoutes";
import { addFaultRoutes } from "./faultRoutes";
import { type Fault } from "./fault";
import { Faults } from "./faults";
import { type FlowControlRecord } from "./flowControl";
import { addFlowControlRoutes } from "./flowControlRoutes";
import { addInspectionRoutes } from "./inspectionRoutes";
import {
  checkFault,
  checkFlowControlKey,
  checkOptions,
  PlatformOptionError,
  type PlatformOptions,
  type PlatformSeed,
} from "./options";
import { MessageQueue } from "./queue/messageQueue";
import { addMessageRoutes } from "./queue/routes";
import { rateLimit } from "./rateLimit";
import { RedisUsers } from "./redis";
import { RedisListener } from "./redisListener";
import { Refused } from "./refused";
import { type PlatformRequest, RequestLog } from "./requests";

/** A local platform that runs in this process, for development and tests. It keeps all data in memory. */
export interface Platform extends Credentials {
  /** URL of both interfaces: `http://127.0.0.1:49152`. */
  readonly url: string;
  /** URL of the console for a browser. It contains the credentials, so keep it secret. */
  readonly consoleUrl: string;
  /**
   * The requests since the start or the last `reset()`, in the order of their arrival, without malformed ones and the
   * reads of the console. At least the newest 10,000 are kept.
   */
  readonly requests: readonly PlatformRequest[];
  /** The databases, by id. */
  readonly databases: ReadonlyMap<string, Database>;
  /** The flow-control keys with their current counters, by name. */
  readonly flowControlKeys: ReadonlyMap<string, FlowControlRecord>;
  /**
   * URL of the Redis, without credentials; undefined if there is none. `database(id).redisUrl` contains those of a
   * database.
   */
  readonly redisUrl: string | undefined;
  /** Number of password resets of all databases since the start or the last `reset()`. */
  readonly resetCount: number;
  /** The database with this id. @throws RangeError if it does not exist */
  database(id: string): Database;
  /**
   * Replaces the password and the tokens of a database, as someone else does in a console. It is not counted as a
   * reset, and a reset that is not applied yet is never applied.
   *
   * @throws RangeError if the database does not exist; Error if the Redis did not confirm it
   */
  changePassword(id: string): Promise<void>;
  /**
   * Changes fields of the record of a database, as someone else does in a console. `undefined` removes a field. Which
   * passwords the database accepts is unchanged, whatever its `state`.
   *
   * @throws RangeError if the database does not exist
   */
  changeRecord(id: string, fields: Readonly<Record<string, unknown>>): void;
  /** Adds a flow-control key, or replaces its limits and counters. */
  setFlowControlKey(record: FlowControlRecord): void;
  /** Applies a fault to the next matching request. Faults are applied in the order in which they were added. */
  failNext(fault: Fault): void;
  /**
   * Restores the initial data, with new database passwords if none were given, and removes all requests and faults. The
   * credentials of the platform are unchanged. Without a Redis, this is done synchronously.
   */
  reset(): Promise<void>;
  /** The current data and credentials, including passwords. A platform can be started with them. */
  state(): PlatformSeed;
  /** Stops the server and closes all connections. */
  close(): Promise<void>;
}

/**
 * Starts a local platform with the operations of the interface. All of them require its credentials.
 *
 * @throws PlatformOptionError that names the option if one is invalid, the address or port is not available, or the
 * Redis cannot be used
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
  const databaseServer: DatabaseServer = options.redis
    ? await RedisUsers.open(options.redis).catch(refuseRedis)
    : await RedisListener.open();
  const state: State = {
    requests: new RequestLog(),
    faults: new Faults(),
    databases: new Databases(options.databases ?? ["db-quickstart", "db-sessions"], databaseServer),
    queue: new MessageQueue({
      flowControlKeys: options.flowControlKeys ?? ["orders", "emails"],
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
    // The process of a test must keep its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: () => refusal(400, "request", "its target or its Host header is malformed"),
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const url = await state.databases
    .restore()
    .catch(refuseRedis)
    .then(() => listen(server, options.host ?? "127.0.0.1", options.port ?? 0))
    .catch(async (error: unknown) => {
      await databaseServer.close();
      throw error;
    });
  let closed: Promise<void> | undefined;
  const database = (id: string): Database => {
    const found = state.databases.all.get(id);
    if (found === undefined) {
      throw new RangeError(`Local platform: database ${JSON.stringify(id)} does not exist`);
    }
    return found;
  };

  return {
    url,
    ...credentials,
    consoleUrl: consoleUrl(url, credentials),
    requests: state.requests.all,
    databases: state.databases.all,
    get flowControlKeys() {
      return new Map(state.queue.flowControlKeys().map((record) => [record.flowControlKey, record]));
    },
    redisUrl: databaseServer.url?.(),
    get resetCount() {
      return state.databases.resetCount;
    },
    database,
    changePassword: async (id) => state.databases.changePassword(database(id)),
    changeRecord: (id, fields) => state.databases.changeRecord(database(id), fields),
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
      state.databases.stop();
      state.queue.close();
      closed ??= new Promise<void>((resolve) => server.close(() => resolve())).then(() => databaseServer.close());
      server.closeAllConnections();
      return closed;
    },
  };
}

/** The state of a platform. */
export interface State {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly databases: Databases;
  readonly queue: MessageQueue;
}

/** The operations of a platform, and the middleware before them. */
export function application(
  state: State,
  credentials: Credentials,
  options: PlatformOptions,
  current: () => PlatformSeed,
) {
  const schemeOf = schemes(credentials, options.databasePath);
  const authenticated = authenticate(schemeOf);
  const app = router();

  addConsoleRoutes(app, state, authenticated);

  app.use(async (c, next) => {
    const authorized = schemeOf(c.req.path)?.accepts(c.req.header("authorization")) ?? false;
    const { method, url: path = "/" } = c.env.incoming;
    const { entry, setStatus } = state.requests.add({ method: method ?? "", path, authorized });
    await next();
    if (!c.env.incoming.socket.destroyed) {
      setStatus(c.res.status);
    }
    options.onRequest?.(entry);
  });

  app.use(refuseOtherOrigins);
  app.use(state.faults.middleware);

  app.use(authenticated);
  if (options.requestsPerSecond !== undefined) {
    app.use(rateLimit(options.requestsPerSecond));
  }
  addDatabaseRoutes(app, state.databases, options.credentials ?? "never", options.databasePath);
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
      const problem = `cannot listen on ${host}, port ${port}: ${cause.message}. Choose another, or omit it to use ${option === "port" ? "a free port" : "127.0.0.1"}`;
      reject(new PlatformOptionError(option, problem, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: listening } = server.address() as AddressInfo;
  // A client cannot connect to the wildcard address.
  const reachable = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${reachable}]` : reachable}:${listening}`;
}

function random(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}
