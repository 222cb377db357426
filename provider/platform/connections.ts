import * as http from "node:http";
import { type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { ConnectionError, type ConnectionOptions, openConnection, trusting } from "./openConnection";

/** Milliseconds, longest wait for a connection. */
const maxConnectMs = 10_000;
/** Milliseconds for which a connection may be unused. Strict servers close it after a second, which begins earlier. */
const maxUnusedMs = 800;
/** Milliseconds after the first response in which a server that closes each connection after its response does so. */
const trialMs = 10;

/** What a request needs of its connection. */
interface Use {
  /** The deadline of the request with all its attempts, in the time of `performance.now()`. */
  readonly endsAtMs: number;
  /** Whether it is opened for this request, and closed after the response. */
  readonly isOwn: boolean;
  /** Called when the connection is ready, immediately before the first byte. Nothing is sent if it throws. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

export interface ConnectionSettings extends Pick<ConnectionOptions, "proxy"> {
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
}

/** The connections of requests to the platform, through the proxy if there is one. */
export class Connections {
  readonly #origins = new Map<string, Origin>();
  #trust: ReturnType<typeof trusting> | undefined;

  constructor(private readonly settings: ConnectionSettings = {}) {}

  /**
   * A connection on which a request can be sent at once: a kept one, or else a new one. There are as many as requests
   * under way, which the queue limits.
   *
   * @throws ConnectionError, or what `beforeSend` throws: nothing was sent
   */
  async take(url: URL, { endsAtMs, isOwn, beforeSend }: Use): Promise<Connection> {
    const origin = this.#origins.get(url.origin) ?? { free: [], isKept: true };
    this.#origins.set(url.origin, origin);
    for (;;) {
      await allSeen(origin);
      let connection = isOwn ? undefined : takeUsable(origin.free);
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
      if (!connection.isReused && connection.isFresh) throw new ConnectionError({ code: "ECONNRESET" });
    }
  }

  /** Opens a connection without a request. @throws ConnectionError */
  open(url: URL, options: Pick<ConnectionOptions, "session" | "timeoutMs">): Promise<Socket> {
    const { proxy, extraCertificates } = this.settings;
    // Made once: it reads some hundred certificates.
    this.#trust ??= trusting(extraCertificates);
    return openConnection(url, { ...options, proxy, ...this.#trust });
  }
}

/** What is known of the server at one origin. */
interface Origin {
  /** Connections that carry no request, the last used one at the end. */
  readonly free: Connection[];
  /** Whether the server leaves free connections open. */
  isKept: boolean;
  /** Ends when the server has had the time to close its first free connection. */
  trial?: Promise<void>;
  /** The TLS session to resume. */
  session?: Buffer;
}

/** One use of a connection, for one request. After it, the connection is free for another use, or closed. */
export class Connection {
  /** Whether the request was handed over: from here on it may have arrived. */
  isSent = false;
  /** Whether the response was recognized as the one to this request. Only then the connection is used again. */
  isRecognized = false;
  /** Whether it has carried another request before. */
  readonly isReused: boolean;
  readonly #readyAt = performance.now();
  #response: http.IncomingMessage | undefined;

  /** @param former the use before this one */
  constructor(
    private readonly socket: Socket,
    private readonly origin: Origin,
    private former?: Connection,
  ) {
    this.isReused = former !== undefined;
    // What the server sends without a request could be taken for the response to the next one.
    socket.once("data", this.close).once("close", this.#closed);
  }

  /** Whether the whole response has arrived. */
  get isComplete(): boolean {
    return this.#response?.complete === true;
  }

  /** The status of the response, as soon as its headers have arrived. */
  get status(): number | undefined {
    return this.#response?.statusCode;
  }

  get isUsable(): boolean {
    const { isReused, former, origin, socket } = this;
    const isKept = !isReused || (former?.isRecognized === true && origin.isKept);
    return socket.readyState === "open" && this.isFresh && isKept;
  }

  /** Whether it was opened or used a short time ago. */
  get isFresh(): boolean {
    return performance.now() - this.#readyAt <= maxUnusedMs;
  }

  readonly close = (): void => {
    this.socket.off("close", this.#closed).destroy();
  };

  /** Sends a request. This is what axios calls a transport. */
  request(options: http.RequestOptions, onResponse: (response: http.IncomingMessage) => void): http.ClientRequest {
    const { socket } = this;
    socket.off("data", this.close).off("close", this.#closed).ref();
    this.former = undefined;
    this.isSent = true;
    const defaultPort = options.protocol === "https:" ? 443 : 80;
    // TLS is a matter of the socket.
    const plain = { ...options, protocol: "http:", defaultPort, agent: undefined, createConnection: () => socket };
    return http
      .request(plain, (response) => {
        this.#response = response;
        onResponse(response);
      })
      .once("close", () => this.#release());
  }

  #release(): void {
    const { origin, socket } = this;
    if (!this.isComplete || socket.readyState !== "open" || !origin.isKept) return this.close();
    origin.free.push(new Connection(socket.unref(), origin, this));
    origin.trial ??= sleep(trialMs);
  }

  /** A server that closes a free connection so early may close others at the moment at which a reset is written. */
  readonly #closed = (): void => {
    if (this.former?.isRecognized && this.isFresh) this.origin.isKept = false;
  };
}

/** Takes the first connection that can be used, and closes those before it. */
function takeUsable(free: Connection[]): Connection | undefined {
  for (let next = free.shift(); next; next = free.shift()) {
    if (next.isUsable) return next;
    next.close();
  }
  return undefined;
}

/** Resolves when what had arrived before has been read, after the second turn: the first may have looked before. */
async function allSeen(origin: Origin): Promise<void> {
  await nextTurn();
  await origin.trial;
  await nextTurn();
}
