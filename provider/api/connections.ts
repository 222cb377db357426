import * as http from "node:http";
import * as https from "node:https";
import { type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { ConnectionError, openConnection, trusting } from "./openConnection";

export interface ConnectionSettings {
  /** Address of an HTTP proxy through which every request is tunnelled (CONNECT). */
  readonly proxy?: string | undefined;
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
}

/** What is known of one attempt to send a request. */
export interface AttemptState {
  /** Whether the request was handed to a connection: from here on it may have arrived. */
  sent: boolean;
}

/** How a request gets its connection. */
export interface ConnectionUse {
  /** Milliseconds until the connection must be ready. */
  readonly timeoutMs: number;
  readonly state: AttemptState;
  /**
   * Set for a request that must not be repeated: it gets a separate connection, and this is called when the connection
   * is ready, immediately before the request's first byte. The request is not sent if it throws.
   */
  readonly beforeSend?: (() => Promise<void>) | undefined;
}

type Created = (error: Error | null, socket?: Socket) => void;

/** Opens the connections of requests to the platform, through the proxy if there is one. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #agents = new Map<string, http.Agent>();
  /** TLS sessions to resume, by origin. */
  readonly #sessions = new Map<string, Buffer>();
  #trust: ReturnType<typeof trusting> | undefined;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  /** What axios needs to send one request. */
  transportFor(url: URL, use: ConnectionUse) {
    return {
      request: (options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => {
        const connection = use.beforeSend
          ? { agent: undefined, createConnection: this.#opener(url, use.timeoutMs, use.beforeSend) }
          : { agent: this.#keptAlive(url, use.timeoutMs) };
        const { request } = url.protocol === "https:" ? https : http;
        // The types know no connection that is made later; Node does.
        return request({ ...options, ...(connection as object) }, onResponse).once("socket", () => {
          use.state.sent = true;
        });
      },
    };
  }

  /** Opens a connection and calls back when a request can be sent on it at once. */
  #opener(url: URL, timeoutMs: number, beforeSend?: () => Promise<void>) {
    const open = async (): Promise<Socket> => {
      const socket = await this.#open(url, timeoutMs);
      try {
        await beforeSend?.();
        // Closed while it was ready: the request has not been sent.
        if (socket.readyState !== "open") throw new ConnectionError("ECONNRESET");
        return socket;
      } catch (error) {
        socket.destroy();
        throw error;
      }
    };
    return (_options: unknown, created: Created): void => {
      open().then(
        (socket) => created(null, socket),
        (error: Error) => created(error),
      );
    };
  }

  async #open(url: URL, timeoutMs: number): Promise<Socket> {
    // Made once: it reads some hundred certificates.
    this.#trust ??= trusting(this.#settings.extraCertificates);
    const { proxy } = this.#settings;
    const session = this.#sessions.get(url.origin);
    const socket = await openConnection(url, { proxy, ...this.#trust, session, timeoutMs });
    if (socket instanceof TLSSocket) socket.on("session", (made) => this.#sessions.set(url.origin, made));
    return socket;
  }

  /** The agent whose connections serve one repeatable request after the other. */
  #keptAlive(url: URL, timeoutMs: number): http.Agent {
    const known = this.#agents.get(url.origin);
    if (known) return known;
    const agent = new (url.protocol === "https:" ? https : http).Agent({ keepAlive: true });
    Object.assign(agent, { createConnection: this.#opener(url, timeoutMs) });
    this.#agents.set(url.origin, agent);
    return agent;
  }
}
