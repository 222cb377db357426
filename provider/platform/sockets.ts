import * as http from "node:http";
import * as https from "node:https";
import { type Socket, connect, isIP } from "node:net";
import {
  TLSSocket,
  connect as connectSecurely,
  createSecureContext,
  rootCertificates,
  type SecureContext,
} from "node:tls";
import { Preconnector, ConnectionError } from "./preconnect";
import { ResetCount } from "./requestQueue";
import { hostWithoutBrackets } from "../records/fields";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface ConnectionSettings {
  /** Address of an HTTP proxy through which every request is tunnelled (CONNECT). */
  readonly proxy?: string | undefined;
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
  /** Requests under way at the same time. */
  readonly maxConcurrency: number;
}

/** What is known of one attempt to send a request. */
export interface AttemptState {
  /** Whether the request was handed to a connection: from here on it may have arrived. */
  sent: boolean;
  /** The response, as soon as its headers have arrived. */
  response?: http.IncomingMessage;
}

/** How a request gets its connection. */
export interface ConnectionUse {
  /** Milliseconds until the connection must be ready. */
  readonly timeoutMs: number;
  readonly state: AttemptState;
  /**
   * Set for a request that must not be repeated: it gets a connection that has carried no other, and this is called
   * when the connection is ready, immediately before the request's first byte. The request is not sent if it throws.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

type Created = (error: Error | null, socket?: Socket) => void;

/** Opens the connections of requests to the platform, through the proxy if there is one. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #agents = new Map<string, http.Agent>();
  readonly #preconnectors = new Map<string, Preconnector>();
  /** Connections that are open or being opened. */
  #open = 0;
  /** TLS sessions to resume, by origin. */
  readonly #sessions = new Map<string, Buffer>();
  #trust: ReturnType<typeof trusting> | undefined;

  /** @param resets those for which connections are opened ahead */
  constructor(
    settings: ConnectionSettings,
    private readonly resets = new ResetCount(),
  ) {
    this.#settings = settings;
    resets.onChange = () => {
      for (const preconnector of this.#preconnectors.values()) {
        if (resets.unfinished === 0) preconnector.close();
        else preconnector.fill();
      }
    };
  }

  /** What axios needs to send one request. */
  transportFor(url: URL, use: ConnectionUse) {
    return {
      request: (options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => {
        const { beforeSend, timeoutMs, state } = use;
        const connection = beforeSend
          ? {
              agent: undefined,
              createConnection: creating(() => this.#preconnectorOf(url, timeoutMs).take(beforeSend)),
            }
          : { agent: this.#keptAlive(url, timeoutMs) };
        const { request } = url.protocol === "https:" ? https : http;
        // The types know no connection that is made later; Node does.
        return request({ ...options, ...(connection as object) }, (response) => {
          state.response = response;
          onResponse(response);
        }).once("socket", () => {
          state.sent = true;
        });
      },
    };
  }

  /** The connections of an origin's resets: at most three ahead of each request that may be under way. */
  #preconnectorOf(url: URL, timeoutMs: number): Preconnector {
    const known = this.#preconnectors.get(url.origin);
    if (known) return known;
    const { maxConcurrency } = this.#settings;
    const preconnector = new Preconnector({
      open: (signal) => this.#connect(url, timeoutMs, signal),
      waiting: () => this.resets.waiting,
      maxIdle: 3 * maxConcurrency,
      hasRoom: () => this.#open < 4 * maxConcurrency,
    });
    this.#preconnectors.set(url.origin, preconnector);
    return preconnector;
  }

  async #connect(url: URL, timeoutMs: number, signal?: AbortSignal): Promise<Socket> {
    // Made once: it reads some hundred certificates.
    this.#trust ??= trusting(this.#settings.extraCertificates);
    const { proxy } = this.#settings;
    const session = this.#sessions.get(url.origin);
    this.#open++;
    try {
      const socket = await openConnection(url, { proxy, ...this.#trust, session, timeoutMs, signal });
      socket.once("close", () => this.#open--);
      if (socket instanceof TLSSocket) socket.on("session", (made) => this.#sessions.set(url.origin, made));
      return socket;
    } catch (error) {
      this.#open--;
      throw error;
    }
  }

  /** The agent whose connections serve one repeatable request after the other. */
  #keptAlive(url: URL, timeoutMs: number): http.Agent {
    const known = this.#agents.get(url.origin);
    if (known) return known;
    const agent = new (url.protocol === "https:" ? https : http).Agent({ keepAlive: true });
    Object.assign(agent, { createConnection: creating(() => this.#connect(url, timeoutMs)) });
    this.#agents.set(url.origin, agent);
    return agent;
  }
}

/** Lets Node create a connection asynchronously. */
function creating(open: () => Promise<Socket>) {
  return (_options: unknown, created: Created): void => {
    open().then(
      (socket) => created(null, socket),
      (error: Error) => created(error),
    );
  };
}

export interface ConnectionOptions {
  /** Address of an HTTP proxy that opens a tunnel to the platform (CONNECT). */
  readonly proxy?: string | undefined;
  /** Which certificates are trusted; undefined for Node's own choice. */
  readonly secureContext?: SecureContext | undefined;
  /** A TLS session to resume. */
  readonly session?: Buffer | undefined;
  /** Milliseconds until the connection must be ready. */
  readonly timeoutMs: number;
  /** Gives up opening it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a connection on which a request can be sent at once: for https, the TLS handshake is complete.
 *
 * @throws ConnectionError
 */
export async function openConnection(url: URL, options: ConnectionOptions): Promise<Socket> {
  const endsAt = performance.now() + options.timeoutMs;
  const host = hostWithoutBrackets(url.hostname);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const { proxy } = options;
  const socket = proxy === undefined ? connect({ host, port }) : await openTunnel(proxy, url, port, options);
  let inHandshake = false;
  try {
    if (socket.connecting) await ready(socket, "connect", endsAt, options.signal);
    if (url.protocol !== "https:") return guarded(socket);
    inHandshake = true;
    const { secureContext, session } = options;
    const servername = isIP(host) ? undefined : host;
    const secure = connectSecurely({
      socket,
      host,
      ...(servername !== undefined && { servername }),
      ...(secureContext && { secureContext }),
      ...(session && { session }),
    });
    await ready(secure, "secureConnect", endsAt, options.signal);
    return guarded(secure);
  } catch (error) {
    socket.destroy();
    throw new ConnectionError((error as NodeJS.ErrnoException).code, undefined, inHandshake);
  }
}

async function openTunnel(proxy: string, url: URL, port: number, options: ConnectionOptions): Promise<Socket> {
  const { secureContext, timeoutMs, signal } = options;
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy);
  const target = `${url.hostname}:${port}`;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const request = (protocol === "https:" ? https : http).request({
    host: hostWithoutBrackets(hostname),
    ...(proxyPort && { port: proxyPort }),
    method: "CONNECT",
    path: target,
    headers: { Host: target, ...(username && { "Proxy-Authorization": `Basic ${credentials}` }) },
    agent: false,
    ...(secureContext && { secureContext }),
  });
  request.end();
  let opened: [response: http.IncomingMessage, socket: Socket];
  try {
    opened = (await ready(request, "connect", performance.now() + timeoutMs, signal)) as typeof opened;
  } catch {
    throw new ConnectionError(undefined, "unreachable");
  }
  const [{ statusCode = 0 }, socket] = opened;
  if (statusCode === 200) return guarded(socket);
  socket.destroy();
  throw new ConnectionError(undefined, statusCode);
}

/** Waits for an event. What fails, takes too long or is given up is destroyed. */
async function ready(
  opening: Socket | http.ClientRequest,
  event: string,
  endsAt: number,
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  const giveUp = (): void => {
    opening.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" }));
  };
  const timer = setTimeout(giveUp, endsAt - performance.now());
  signal?.addEventListener("abort", giveUp);
  if (signal?.aborted) giveUp();
  try {
    return (await once(opening, event)) as unknown[];
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  }
}

/** A ready connection may fail while it waits for its request: that must not end the process. */
function guarded(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

/**
 * TLS options that trust these certificates (PEM) in addition to the well-known ones and to those in
 * `NODE_EXTRA_CA_CERTS`, which Node itself trusts.
 */
export function trusting(certificates: string | undefined): { readonly secureContext?: SecureContext } {
  if (certificates === undefined) return {};
  return { secureContext: createSecureContext({ ca: [...rootCertificates, ...namedToNode(), certificates] }) };
}

/** Certificates in `NODE_EXTRA_CA_CERTS`, if any; if they cannot be read, Node printed a warning when it started. */
function namedToNode(): string[] {
  try {
    return [readFileSync(process.env["NODE_EXTRA_CA_CERTS"] ?? "", "utf8")];
  } catch {
    return [];
  }
}
