import * as http from "node:http";
import * as https from "node:https";
import { type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { Preconnector } from "./preconnect";
import { openConnection, trusting } from "./openConnection";
import { ResetCount } from "./requestQueue";

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
        const { beforeSend, timeoutMs } = use;
        const connection = beforeSend
          ? {
              agent: undefined,
              createConnection: creating(() => this.#preconnectorOf(url, timeoutMs).take(beforeSend)),
            }
          : { agent: this.#keptAlive(url, timeoutMs) };
        const { request } = url.protocol === "https:" ? https : http;
        // The types know no connection that is made later; Node does.
        return request({ ...options, ...(connection as object) }, onResponse).once("socket", () => {
          use.state.sent = true;
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
