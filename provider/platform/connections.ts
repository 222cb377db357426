import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { connect, isIP, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  connect as connectSecurely,
  createSecureContext,
  rootCertificates,
  type SecureContext,
} from "node:tls";
import { hostWithoutBrackets } from "../domain/endpoint";
import { orUndefined } from "../records/fields";

/** Milliseconds, longest wait for a connection. */
export const maxConnectMs = 10_000;
/** Milliseconds for which a connection may be unused. Strict servers close it after a second, which begins earlier. */
const maxUnusedMs = 800;
/** Milliseconds after the first response in which a server that closes each connection after its response does so. */
const trialMs = 10;

/** A connection that could not be opened, or was lost before it was used: nothing was sent to the platform. */
export class ConnectionError extends Error {
  readonly code?: string | undefined;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;

  constructor({ code, proxy }: Pick<ConnectionError, "code" | "proxy">) {
    super(`no connection (${code ?? proxy})`);
    this.code = code;
    this.proxy = proxy;
  }
}

/** The demands of a request on its connection. */
interface Use {
  /** The deadline of the request with all its attempts, in the time of `performance.now()`. */
  readonly endsAtMs: number;
  /** It is opened for this request. */
  readonly isNew: boolean;
  /** Called when the connection is ready, immediately before the first byte. Nothing is sent if it throws. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

export interface ConnectionSettings {
  /** Address of an HTTP proxy that opens tunnels (CONNECT), for https: http is only to this machine. */
  readonly proxy?: string | undefined;
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
}

/** The connections to the platform, databases and indexes, through the proxy if there is one. */
export class Connections {
  readonly #origins = new Map<string, Origin>();
  #secureContext: SecureContext | undefined;

  constructor(private readonly settings: ConnectionSettings = {}) {}

  /**
   * A connection on which a request can be sent at once: a kept one, or else a new one. There are as many as requests
   * under way, which the queue limits.
   *
   * @throws ConnectionError, or what `beforeSend` throws: nothing was sent
   */
  async take(url: URL, { endsAtMs, isNew, beforeSend }: Use): Promise<Connection> {
    const origin = this.#origins.get(url.origin) ?? { free: [], isKept: true };
    this.#origins.set(url.origin, origin);
    for (;;) {
      await allSeen(origin);
      let connection = isNew ? undefined : origin.free.shift();
      if (connection && !connection.isUsable) {
        connection.close();
        continue;
      }
      if (!connection) {
        // There is time for two more attempts.
        const timeoutMs = Math.min(maxConnectMs, (endsAtMs - performance.now()) / 3);
        const socket = await this.open(url, { session: origin.session, timeoutMs });
        socket.on("session", (session: Buffer) => (origin.session = session));
        connection = new Connection(socket, origin);
        await allSeen(origin);
      }
      try {
        await beforeSend?.();
        if (performance.now() >= endsAtMs) throw new ConnectionError({ code: "ETIMEDOUT" });
      } catch (error) {
        connection.close();
        throw error;
      }
      if (connection.isUsable) return connection;
      connection.close();
      if (!connection.isReused && connection.isFresh) {
        throw new ConnectionError({ code: "ECONNRESET" });
      }
    }
  }

  /** Opens a connection on which a request can be sent at once: for https, the TLS handshake is complete. */
  async open(
    url: URL,
    options: { readonly session?: Buffer | undefined; readonly timeoutMs: number },
  ): Promise<Socket> {
    const { session, timeoutMs } = options;
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
    const shared = this.#socketOptions(timeoutMs);
    let late = "ETIMEDOUT";
    try {
      const socket = await this.#connect(url, shared, signal);
      if (url.protocol !== "https:") return socket;
      // As Node calls it on its servers.
      late = "ERR_TLS_HANDSHAKE_TIMEOUT";
      const host = hostWithoutBrackets(url.hostname);
      const servername = isIP(host) ? "" : host;
      const secured = connectSecurely({
        ...shared,
        socket,
        host,
        servername,
        ...(session && { session }),
      });
      return await untilReady(secured, "secureConnect", signal);
    } catch (error) {
      if (error instanceof ConnectionError) throw error;
      throw new ConnectionError({
        code: signal.aborted ? late : (error as NodeJS.ErrnoException).code,
      });
    }
  }

  #socketOptions(timeoutMs: number) {
    const { extraCertificates } = this.settings;
    // Made once: it reads some hundred certificates.
    if (extraCertificates !== undefined && !this.#secureContext) {
      // Node itself trusts these, too. If they cannot be read, it printed a warning when it started.
      const file = process.env["NODE_EXTRA_CA_CERTS"] ?? "";
      const ofNode = orUndefined(() => readFileSync(file, "utf8")) ?? [];
      const ca = [...rootCertificates, ofNode, extraCertificates].flat();
      this.#secureContext = createSecureContext({ ca });
    }
    return {
      // NODE_TLS_REJECT_UNAUTHORIZED=0, which pipelines set for other tools, must not apply here.
      rejectUnauthorized: true,
      secureContext: this.#secureContext,
      // For each address but the last one. Node's default of 250 ms is too short for a distant host.
      autoSelectFamilyAttemptTimeout: Math.max(1, Math.floor(timeoutMs / 4)),
      // A request would wait until the last message of the handshake is acknowledged.
      noDelay: true,
    };
  }

  /** A TCP connection to the platform, or a tunnel through the proxy. */
  async #connect(
    { protocol, hostname, port }: URL,
    shared: object,
    signal: AbortSignal,
  ): Promise<Socket> {
    const { proxy } = this.settings;
    const target = Number(port || (protocol === "https:" ? 443 : 80));
    if (proxy !== undefined && protocol === "https:") {
      return guarded(await openTunnel(proxy, `${hostname}:${target}`, shared, signal));
    }
    const socket = connect({ ...shared, host: hostWithoutBrackets(hostname), port: target });
    return untilReady(socket, "connect", signal);
  }
}

/** Facts about the server at one origin. */
interface Origin {
  /** Connections that carry no request, the last used one at the end. */
  readonly free: Connection[];
  /** The server leaves free connections open. */
  isKept: boolean;
  /** Ends when the server has had the time to close its first free connection. */
  trial?: Promise<void>;
  /** The TLS session to resume. */
  session?: Buffer;
}

/** One use of a connection, for one request. After it, the connection is free for another use, or closed. */
export class Connection {
  /** The request was handed over: from here on it may have arrived. */
  isSent = false;
  /** The response was recognized as the one to this request. Only then the connection is used again. */
  isRecognized = false;
  /** Called when the request ends without a response. Of a switch of protocols, for example, Node reports only that. */
  onLost: (() => void) | undefined;
  /** It has carried another request before. */
  readonly isReused: boolean;
  readonly #readyAt = performance.now();
  #response: http.IncomingMessage | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly origin: Origin,
    private former?: Connection,
  ) {
    this.isReused = former !== undefined;
    // Data that the server sends without a request could be taken for the response to the next one.
    socket.once("data", this.close).once("close", this.#closed);
  }

  /** True if the whole response has arrived. */
  get isComplete(): boolean {
    return this.#response?.complete === true;
  }

  /** The status of the response, as soon as its headers have arrived. */
  get status(): number | undefined {
    return this.#response?.statusCode;
  }

  get isUsable(): boolean {
    const { isReused, origin, socket } = this;
    const isKept = !isReused || origin.isKept;
    return socket.readyState === "open" && this.isFresh && isKept;
  }

  /** True if it was opened or used a short time ago. */
  get isFresh(): boolean {
    return performance.now() - this.#readyAt <= maxUnusedMs;
  }

  readonly close = (): void => {
    this.socket.off("close", this.#closed).destroy();
  };

  /** Sends a request. This is what axios calls a transport. */
  request(
    options: http.RequestOptions,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    const { socket } = this;
    socket.off("data", this.close).off("close", this.#closed).ref();
    this.former = undefined;
    this.isSent = true;
    const defaultPort = options.protocol === "https:" ? 443 : 80;
    // TLS is a matter of the socket.
    const plain = {
      ...options,
      protocol: "http:",
      defaultPort,
      agent: undefined,
      createConnection: () => socket,
    };
    return http
      .request(plain, (response) => {
        this.#response = response;
        onResponse(response);
      })
      .once("close", () => void this.#release());
  }

  async #release(): Promise<void> {
    if (!this.#response) this.onLost?.();
    const { origin, socket } = this;
    if (!this.isComplete || socket.readyState !== "open" || !origin.isKept) return this.close();
    const next = new Connection(socket.unref(), origin, this);
    // The caller reads the response meanwhile.
    await nextTurn();
    if (!this.isRecognized) return next.close();
    origin.free.push(next);
    origin.trial ??= sleep(trialMs);
  }

  /** A server that closes a free connection so early may close others at the moment at which a reset is written. */
  readonly #closed = (): void => {
    if (this.former?.isRecognized && this.isFresh) this.origin.isKept = false;
  };
}

/** Resolves when what had arrived before has been read, after the second turn: the first may have looked before. */
async function allSeen(origin: Origin): Promise<void> {
  await nextTurn();
  await origin.trial;
  await nextTurn();
}

/** Waits until a socket can be used. One that cannot be used is closed. */
async function untilReady(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<Socket> {
  try {
    await once(guarded(socket), event, { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A connection may fail while nothing waits for it: that must not end the process. */
function guarded(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

/** @param target host and port to which the proxy opens a tunnel */
async function openTunnel(
  proxy: string,
  target: string,
  shared: object,
  signal: AbortSignal,
): Promise<Socket> {
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const credentials = Buffer.from(
    `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  ).toString("base64");
  const request = (protocol === "https:" ? https : http).request({
    ...shared,
    host: hostWithoutBrackets(hostname),
    ...(port && { port }),
    method: "CONNECT",
    path: target,
    headers: { Host: target, ...(username && { "Proxy-Authorization": `Basic ${credentials}` }) },
    agent: false,
  });
  request.end();
  let opened: [response: http.IncomingMessage, socket: Socket];
  try {
    opened = (await once(request, "connect", { signal })) as typeof opened;
  } catch {
    request.on("error", () => undefined).destroy();
    throw new ConnectionError({ proxy: "unreachable" });
  }
  const [{ statusCode = 0 }, socket] = opened;
  if (statusCode === 200) return socket;
  socket.destroy();
  throw new ConnectionError({ proxy: statusCode });
}
