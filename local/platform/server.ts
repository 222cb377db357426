import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { authenticate, type ManagementCredentials, schemes } from "./authentication";
import { addFaultRoutes, Faults } from "./faults";
import { addFlowControlRoutes } from "./flowControlRoutes";
import { addIndexRoutes } from "./indexRoutes";
import { checkFault, checkFlowControlKey, checkOptions, PlatformOptionError, type PlatformOptions } from "./options";
import { addNextTokenRoutes } from "./nextTokenRoutes";
import { type Platform } from "./platform";
import { addEventRoutes } from "./queue/eventRoutes";
import { MessageQueue } from "./queue/messageQueue";
import { addPublishRoutes } from "./queue/publishRoutes";
import { rateLimit } from "./rateLimit";
import { RedisUsers } from "./redis";
import { RedisListener } from "./redisListener";
import { Refused } from "./refused";
import { RequestLog } from "./requests";
import { json, refusal, router } from "./responses";
import { addSecretRoutes } from "./secretRoutes";
import { newSecret } from "./secrets";
import { SecretStore } from "./secretStore";
import { type DatabaseServer, keysId, openStores, type Stores } from "./stores";

/**
 * Starts a local platform with the operations of the interface. All of them require its credentials.
 *
 * @throws PlatformOptionError that names the option if one is invalid, the port is not available, or the Redis cannot
 * be used
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
  const databaseServer: DatabaseServer =
    options.redis === undefined ? await RedisListener.open() : await RedisUsers.open(options.redis).catch(refuseRedis);
  const stores = openStores(options, databaseServer, () => url);
  const { databases, vectorIndexes, searchIndexes, queueUsers, signingKeys } = stores;
  const all = Object.values(stores).filter((one) => one instanceof SecretStore);
  const state: State = {
    requests: new RequestLog(),
    faults: new Faults(),
    stores,
    queue: new MessageQueue({
      flowControlKeys: options.flowControlKeys ?? ["orders", "emails"],
      signingKey: () => signingKeys.read(keysId)!.current,
    }),
  };
  const app = application(state, management, options);
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    // The process of a test must keep its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: () => refusal(400, "request", "its target or its Host header is malformed"),
  });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  const restore = () => {
    databaseServer.removeUsers?.();
    return Promise.all(all.map((store) => store.restore()));
  };
  const url: string = await restore()
    .catch(refuseRedis)
    .then(() => listen(server, options.port ?? 0))
    .catch(async (error: unknown) => {
      await databaseServer.close();
      throw error;
    });
  let closed: Promise<void> | undefined;

  return {
    url,
    ...management,
    get queueToken() {
      return queueUsers.all.get(stores.queueUserId)!.token;
    },
    requests: state.requests.all,
    get databases() {
      return databases.all;
    },
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
      const { current, next, resets: rolls } = signingKeys.all.get(keysId)!;
      return { current, next, rolls };
    },
    get flowControlKeys() {
      return new Map(state.queue.flowControlKeys().map((record) => [record.flowControlKey, record]));
    },
    get resetCount() {
      return all.reduce((count, store) => count + store.resetCount, 0);
    },
    database(id) {
      const found = databases.all.get(id);
      if (found === undefined) throw new RangeError(`Local platform: database ${JSON.stringify(id)} does not exist`);
      return found;
    },
    changePassword: async (id) => void (await databases.change(id)),
    changeVectorIndexTokens: (id) => void vectorIndexes.change(id),
    changeSearchIndexTokens: (id) => void searchIndexes.change(id),
    changeQueueUserTokens: (id) => void queueUsers.change(id),
    changeSigningKeys: () => void signingKeys.change(keysId),
    changeRecord: (id, fields) => databases.changeRecord(id, fields),
    setFlowControlKey: (record) => state.queue.setFlowControlKey(checkFlowControlKey(record)),
    failNext: (fault) => state.faults.add(checkFault(fault)),
    async reset() {
      state.faults.clear();
      state.requests.clear();
      state.queue.restore();
      await restore();
    },
    close: () =>
      (closed ??= new Promise<void>((resolve) => {
        state.faults.clear();
        state.queue.close();
        all.forEach((store) => store.stop());
        server.close(() => void databaseServer.close().then(resolve));
        server.closeAllConnections();
      })),
  };
}

interface State {
  readonly requests: RequestLog;
  readonly faults: Faults;
  readonly stores: Stores;
  readonly queue: MessageQueue;
}

/** The operations of a platform, and the middleware before them. */
function application(
  { requests, faults, stores, queue }: State,
  management: ManagementCredentials,
  options: PlatformOptions,
) {
  const schemeOf = schemes(management, stores, options.databasePath);
  const app = router();

  app.use(async (c, next) => {
    const { method = "", url: path = "/" } = c.env.incoming;
    const authorized = schemeOf(c.req.path)?.accepts(c.req.header("authorization"), method) ?? false;
    const { entry, setStatus } = requests.add({ method, path, authorized });
    await next();
    if (!c.env.incoming.socket.destroyed) setStatus(c.res.status);
    options.onRequest?.(entry);
  });

  app.use(faults.middleware);
  app.use(authenticate(schemeOf));
  if (options.requestsPerSecond !== undefined) app.use(rateLimit(options.requestsPerSecond));
  addSecretRoutes(app, stores, options.credentials ?? "never", options.databasePath);
  if (options.nextToken !== false) addNextTokenRoutes(app, stores, options.credentials ?? "never");
  addIndexRoutes(app, stores);
  addFaultRoutes(app, faults);
  addFlowControlRoutes(app, queue);
  addPublishRoutes(app, queue);
  addEventRoutes(app, queue);

  app.notFound(() => refusal(404, "path", "the platform has no such operation"));
  app.onError((error) =>
    error instanceof Refused
      ? refusal(error.status, error.field, error.problem)
      : json({ error: `internal: ${error.message}` }, 500),
  );
  return app;
}

/** Listens on this machine only. @returns the URL */
async function listen(server: Server, port: number): Promise<string> {
  const host = "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const problem = `cannot listen on ${host}, port ${port}: ${cause.message}. Choose another, or omit it to use a free port`;
      reject(new PlatformOptionError("port", problem, { cause }));
    });
    server.listen(port, host, resolve);
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}
