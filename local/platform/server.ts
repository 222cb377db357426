import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { json, refusal, router } from "./responses";
import { authenticate, type ManagementCredentials, schemes, type TokenSources } from "./authentication";
import { type Database, Databases, type DatabaseServer } from "./databases";
import { addDatabaseRoutes } from "./databaseRoutes";
import { addFaultRoutes } from "./faultRoutes";
import { Faults } from "./faults";
import { addFlowControlRoutes } from "./flowControlRoutes";
import { addIndexRoutes } from "./indexRoutes";
import { openIndexes } from "./indexes";
import { addInspectionRoutes } from "./inspectionRoutes";
import {
  checkFault,
  checkFlowControlKey,
  checkOptions,
  PlatformOptionError,
  type PlatformOptions,
  type PlatformSeed,
} from "./options";
import { type Platform } from "./platform";
import { MessageQueue } from "./queue/messageQueue";
import { addMessageRoutes } from "./queue/routes";
import { QueueUsers } from "./queueUsers";
import { rateLimit } from "./rateLimit";
import { RedisUsers } from "./redis";
import { RedisListener } from "./redisListener";
import { Refused } from "./refused";
import { RequestLog } from "./requests";
import { newSecret } from "./secrets";
import { addSigningKeyRoutes } from "./signingKeyRoutes";
import { SigningKeyStore } from "./signingKeys";
import { addTokenRoutes } from "./tokenRoutes";

/**
 * Starts a local platform with the operations of the interface. All of them require its credentials.
 *
 * @throws PlatformOptionError that names the option if one is invalid, the address or port is not available, or the
 * Redis cannot be used
 */
export async function startPlatform(given: PlatformOptions = {}): Promise<Platform> {
  const options = checkOptions(given);
  const management: ManagementCredentials = {
    username: options.username ?? `local-${newSecret(4)}@example.com`,
    password: options.password ?? newSecret(),
  };
  const refuseRedis = (cause: Error): never => {
    throw new PlatformOptionError("redis", cause.message, { cause });
  };
  const databaseServer: DatabaseServer = options.redis
    ? await RedisUsers.open(options.redis).catch(refuseRedis)
    : await RedisListener.open();
  const signingKeys = new SigningKeyStore(options.signingKeys);
  const state: State = {
    requests: new RequestLog(),
    faults: new Faults(),
    databases: new Databases(options.databases ?? ["db-quickstart", "db-sessions"], databaseServer),
    vectorIndexes: openIndexes("vector", options.vectorIndexes ?? ["idx-vectors"], () => url),
    searchIndexes: openIndexes("search", options.searchIndexes ?? ["idx-search"], () => url),
    queueUsers: new QueueUsers(options.queueUsers, options.queueToken),
    signingKeys,
    queue: new MessageQueue({
      flowControlKeys: options.flowControlKeys ?? ["orders", "emails"],
      globalParallelism: {
        parallelismMax: options.globalParallelism?.parallelismMax ?? 100,
        parallelismCount: options.globalParallelism?.parallelismCount,
      },
      retryDelay: options.retryDelay ?? 1,
      signingKeys,
    }),
  };
  const { databases, vectorIndexes, searchIndexes, queueUsers } = state;
  const otherSecrets = [vectorIndexes, searchIndexes, queueUsers, signingKeys];
  const currentState = (): PlatformSeed => ({
    ...management,
    queueToken: queueUsers.queueToken,
    databases: databases.saved,
    vectorIndexes: vectorIndexes.saved,
    searchIndexes: searchIndexes.saved,
    queueUsers: queueUsers.saved,
    signingKeys: signingKeys.newest,
    flowControlKeys: state.queue.flowControlKeys(),
    globalParallelism: options.globalParallelism,
  });
  const app = application(state, management, options, currentState);
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    // The process of a test must keep its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: () => refusal(400, "request", "its target or its Host header is malformed"),
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const url: string = await databases
    .restore()
    .catch(refuseRedis)
    .then(() => listen(server, options.host ?? "127.0.0.1", options.port ?? 0))
    .catch(async (error: unknown) => {
      await databaseServer.close();
      throw error;
    });
  let closed: Promise<void> | undefined;
  const database = (id: string): Database => {
    const found = databases.all.get(id);
    if (found === undefined) {
      throw new RangeError(`Local platform: database ${JSON.stringify(id)} does not exist`);
    }
    return found;
  };

  return {
    url,
    ...management,
    get queueToken() {
      return queueUsers.queueToken;
    },
    requests: state.requests.all,
    databases: databases.all,
    get vectorIndexes() {
      return vectorIndexes.all;
    },
    get searchIndexes() {
      return searchIndexes.all;
    },
    get queueUsers() {
      return queueUsers.all;
    },
    get signingKeys() {
      return signingKeys.newest;
    },
    get flowControlKeys() {
      return new Map(state.queue.flowControlKeys().map((record) => [record.flowControlKey, record]));
    },
    redisUrl: databaseServer.url?.(),
    get resetCount() {
      return [databases, ...otherSecrets].reduce((sum, { resetCount }) => sum + resetCount, 0);
    },
    database,
    changePassword: async (id) => databases.changePassword(database(id)),
    changeVectorIndexTokens: (id) => vectorIndexes.change(id),
    changeSearchIndexTokens: (id) => searchIndexes.change(id),
    changeQueueUserTokens: (id) => queueUsers.change(id),
    changeSigningKeys: () => signingKeys.change(),
    changeRecord: (id, fields) => databases.changeRecord(database(id), fields),
    setFlowControlKey: (record) => state.queue.setFlowControlKey(checkFlowControlKey(record)),
    failNext: (fault) => state.faults.add(checkFault(fault)),
    reset() {
      state.faults.clear();
      state.queue.restore();
      state.requests.clear();
      otherSecrets.forEach((secrets) => secrets.restore());
      return databases.restore();
    },
    state: currentState,
    close() {
      state.faults.clear();
      [databases, ...otherSecrets].forEach((secrets) => secrets.stop());
      state.queue.close();
      closed ??= new Promise<void>((resolve) => server.close(() => resolve())).then(() => databaseServer.close());
      server.closeAllConnections();
      return closed;
    },
  };
}

/** The state of a platform. */
export interface State extends TokenSources {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly databases: Databases;
  readonly signingKeys: SigningKeyStore;
  readonly queue: MessageQueue;
}

/** The operations of a platform, and the middleware before them. */
export function application(
  state: State,
  management: ManagementCredentials,
  options: PlatformOptions,
  current: () => PlatformSeed,
) {
  const schemeOf = schemes(management, state, options.databasePath);
  const app = router();

  app.use(async (c, next) => {
    const { method = "", url: path = "/" } = c.env.incoming;
    const authorized = schemeOf(c.req.path)?.accepts(c.req.header("authorization"), method) ?? false;
    const { entry, setStatus } = state.requests.add({ method, path, authorized });
    await next();
    if (!c.env.incoming.socket.destroyed) {
      setStatus(c.res.status);
    }
    options.onRequest?.(entry);
  });

  app.use(state.faults.middleware);

  app.use(authenticate(schemeOf));
  if (options.requestsPerSecond !== undefined) {
    app.use(rateLimit(options.requestsPerSecond));
  }
  const delivery = options.credentials ?? "never";
  addDatabaseRoutes(app, state.databases, delivery, options.databasePath);
  addTokenRoutes(app, state, delivery);
  addIndexRoutes(app, state.vectorIndexes, state.searchIndexes);
  addSigningKeyRoutes(app, state.signingKeys, delivery);
  addInspectionRoutes(app, state.databases, current);
  addFaultRoutes(app, state.faults);
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
