import * as http from "node:http";
import { type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { ConnectionError, type ConnectionOptions, openConnection, trusting } from "./openConnection";

declare module "http" {
  interface Agent {
    /** Node calls it for each request, and documents only what it calls in turn. */
    addRequest(request: http.ClientRequest, options: object): void;
  }
}

/** Milliseconds, longest wait for a connection. */
const maxConnectMs = 10_000;
/** Milliseconds for which a connection may be unused. Strict servers close it after a second, which begins earlier. */
const maxUnusedMs = 800;
/** Milliseconds after the first response in which a server that closes each connection after its response does so. */
const trialMs = 10;

/** The deadline of a request with all its attempts. */
export interface Deadline {
  readonly deadlineMs: number;
  /** In the time of `performance.now()`. */
  readonly endsAtMs: number;
}

/** What is known of one attempt to send a request. */
export interface AttemptState {
  /** Whether the request was handed to a connection: from here on it may have arrived. */
  sent: boolean;
  /** Whether its connection has carried another request before. */
  isReused?: boolean;
  /** The response, as soon as its headers have arrived. */
  response?: http.IncomingMessage;
  /** Whether the response was recognized as the one to this request. Only then does its connection carry another. */
  isRecognized?: boolean;
}

/** How a request gets its connection. */
export interface ConnectionUse {
  readonly deadline: Deadline;
  readonly state: AttemptState;
  /** Whether the request has a connection of its own, which is closed after the response. */
  readonly ownConnection?: boolean | undefined;
  /** Called when the connection is ready, immediately before the first byte. The request is not sent if it throws. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

export interface ConnectionSettings extends Pick<ConnectionOptions, "proxy"> {
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
}

/** The connections of requests to the platform, through the proxy if there is one. */
export class Connections {
  readonly #agents = new Map<string, KeptAlive>();
  #trust: ReturnType<typeof trusting> | undefined;

  constructor(private readonly settings: ConnectionSettings = {}) {}

  /** What axios needs to send one request. */
  transportFor(url: URL, use: ConnectionUse) {
    const { state } = use;
    const own = { agent: use.ownConnection ? new KeptAlive(url, this, false) : this.#agentOf(url), use };
    return {
      request: (options: http.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => {
        const request = http.request({ ...options, ...own }, (response) => {
          state.response = response;
          onResponse(response);
        });
        // After this event, Node writes the request.
        return request.once("socket", () => {
          state.sent = true;
          state.isReused = request.reusedSocket;
        });
      },
    };
  }

  /** Opens a connection without a request. @throws ConnectionError */
  open(url: URL, options: Pick<ConnectionOptions, "session" | "timeoutMs">): Promise<Socket> {
    const { proxy, extraCertificates } = this.settings;
    // Made once: it reads some hundred certificates.
    this.#trust ??= trusting(extraCertificates);
    return openConnection(url, { ...options, proxy, ...this.#trust });
  }

  #agentOf(url: URL): KeptAlive {
    const agent = this.#agents.get(url.origin) ?? new KeptAlive(url, this, true);
    this.#agents.set(url.origin, agent);
    return agent;
  }
}

/**
 * The connections to one origin, each of which carries one request after the other, or only one. A request gets its
 * connection when it can be sent on it. There are as many connections as requests under way, which the queue limits:
 * Node's own limit would give a request that waits the options of another.
 */
class KeptAlive extends http.Agent {
  /** Since when connections are free, and what they had received by then. */
  readonly #freed = new WeakMap<Socket, { readonly at: number; readonly bytesRead: number }>();
  /** The last request of each connection. */
  readonly #last = new WeakMap<Socket, AttemptState>();
  /** Whether the server leaves free connections open. */
  #isKept = true;
  #trial: Promise<void> | undefined;
  /** The TLS session to resume. */
  #session: Buffer | undefined;

  constructor(
    private readonly url: URL,
    private readonly connections: Connections,
    keepAlive: boolean,
  ) {
    super({ keepAlive, scheduling: "fifo" });
    const { protocol } = url;
    Object.assign(this, { protocol, defaultPort: protocol === "https:" ? 443 : 80 });
  }

  override addRequest(request: http.ClientRequest, options: AgentOptions): void {
    this.#assign(request, options).catch((error: unknown) => request.emit("error", error));
  }

  async #assign(request: http.ClientRequest, options: AgentOptions): Promise<void> {
    await this.#trial;
    await allSeen();
    if (this.#closeUnusable()) {
      await options.use.beforeSend?.();
      this.#closeUnusable();
    }
    request.once("socket", (socket) => this.#last.set(socket, options.use.state));
    // Takes a free connection, or else opens one.
    super.addRequest(request, options);
  }

  override createConnection(options: object, created?: (error: Error | null, socket: Socket) => void): undefined {
    this.#open((options as AgentOptions).use).then(
      (socket) => created?.(null, socket),
      (error: Error) => (created as ((error: Error) => void) | undefined)?.(error),
    );
  }

  override keepSocketAlive(socket: Socket): boolean {
    this.#trial ??= sleep(trialMs);
    this.#freed.set(socket, { at: performance.now(), bytesRead: socket.bytesRead });
    // The types omit that it returns whether the connection is kept.
    return this.#isKept && (super.keepSocketAlive(socket) as unknown as boolean);
  }

  override reuseSocket(socket: Socket, request: http.ClientRequest): void {
    this.#freed.delete(socket);
    super.reuseSocket(socket, request);
  }

  /**
   * Closes free connections that the server may have closed, or may be about to, and those whose last response was not
   * recognized: each further one may belong to the request before. Returns whether others are free.
   */
  #closeUnusable(): boolean {
    let usable = false;
    for (const socket of Object.values(this.freeSockets).flatMap((sockets = []) => sockets)) {
      const isUnchanged = socket.readyState === "open" && socket.bytesRead === this.#freed.get(socket)?.bytesRead;
      // It is closed, which says nothing about the server.
      if (!this.#last.get(socket)?.isRecognized) this.#freed.delete(socket);
      if (isUnchanged && this.#isKept && this.#isFresh(socket)) usable = true;
      else socket.destroy();
    }
    return usable;
  }

  /** Whether a connection is free, and was used a short time ago. */
  #isFresh(socket: Socket): boolean {
    return performance.now() - (this.#freed.get(socket)?.at ?? -Infinity) <= maxUnusedMs;
  }

  async #open({ deadline: { deadlineMs, endsAtMs }, beforeSend }: ConnectionUse): Promise<Socket> {
    for (;;) {
      const timeoutMs = Math.min(maxConnectMs, deadlineMs / 3, endsAtMs - performance.now());
      const socket = await this.connections.open(this.url, { session: this.#session, timeoutMs });
      const readyAt = performance.now();
      socket.on("session", (session: Buffer) => (this.#session = session));
      // A server that closes a free connection so early may close others at the moment at which a reset is written.
      socket.once("close", () => (this.#isKept &&= !this.#isFresh(socket)));
      try {
        await allSeen();
        await beforeSend?.();
        if (socket.readyState !== "open" || socket.readableLength > 0) {
          throw new ConnectionError({ code: "ECONNRESET" });
        }
      } catch (error) {
        socket.destroy();
        throw error;
      }
      if (performance.now() - readyAt <= maxUnusedMs) return socket;
      socket.destroy();
    }
  }
}

/** The options of a request, as far as its agent needs them. */
interface AgentOptions {
  readonly use: ConnectionUse;
}

/** Resolves when what had arrived before has been read, after the second turn: the first may have looked before. */
async function allSeen(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
