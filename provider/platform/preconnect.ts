import { type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A connection that could not be opened: nothing was sent to the platform. */
export class ConnectionError extends Error {
  constructor(
    readonly code?: string,
    /** The proxy's status, if the proxy is what failed. */
    readonly proxy?: number | "unreachable",
    /** Whether it was open, but without TLS. */
    readonly inHandshake?: boolean,
  ) {
    super(`no connection (${code ?? proxy})`);
  }
}

/**
 * Milliseconds from the moment at which a connection begins to be opened until it is thrown away unused. Strict servers
 * close a connection that has carried no request after a second, which begins later.
 */
const maxAgeMs = 800;

export interface PreconnectOptions {
  /** Opens a connection on which a request can be sent at once. */
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  /** Resets that wait for their turn. */
  readonly waiting: () => number;
  /** Connections that are ready or being opened ahead, at most. */
  readonly maxIdle: number;
  /** Whether one more connection may be opened ahead. */
  readonly hasRoom: () => boolean;
}

/** A connection that is being opened. */
interface Opening {
  readonly abort: () => void;
  /** Whether it was not opened for a reset whose turn had come. */
  readonly ahead: boolean;
  /** Whether opening it took so long that a reset no longer waits for it. */
  late: boolean;
}

/** A reset whose turn has come, and that waits for a connection. */
interface Waiter {
  readonly resolve: (opened: readonly [socket: Socket, beganAt: number]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The connections to one origin that carry resets. While resets wait, the next connections are opened, so that a reset
 * does not wait for handshakes. Each connection carries one reset. One that closes or grows old before is thrown away:
 * nothing was sent on it.
 */
export class Preconnector {
  /** When each began to be opened. */
  readonly #ready = new Map<Socket, number>();
  readonly #opening = new Set<Opening>();
  readonly #waiters: Waiter[] = [];
  #maxIdle: number;
  /** How many are opened ahead at the moment: as many as were lately used in time. */
  #target: number;

  constructor(private readonly options: PreconnectOptions) {
    this.#maxIdle = options.maxIdle;
    this.#target = options.maxIdle;
  }

  /**
   * A connection for one reset: one that is ready, or else the next that becomes ready.
   *
   * @param beforeSend called when the connection is ready; the connection is closed if this throws
   * @throws ConnectionError if none could be opened
   */
  async take(beforeSend: () => Promise<void>): Promise<Socket> {
    for (const [socket, beganAt] of this.#ready) {
      this.#ready.delete(socket);
      this.fill();
      if (isUsable(socket, beganAt)) await orClose(socket, beforeSend);
      if (isUsable(socket, beganAt)) return socket;
      socket.destroy();
    }
    this.#target = Math.min(this.#target + 1, this.#maxIdle);
    const [socket, beganAt] = await new Promise<readonly [Socket, number]>((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.fill();
    });
    await orClose(socket, beforeSend);
    if (socket.readyState === "open" && !isUsable(socket, beganAt)) {
      // The network is slow, or this process was busy: the server may have closed the connection. That is seen after
      // the second turn of the event loop, because the first may have looked before.
      await nextTurn();
      await nextTurn();
      await orClose(socket, beforeSend);
    }
    if (socket.readyState === "open") return socket;
    // Closed while it was ready: the request has not been sent.
    socket.destroy();
    throw new ConnectionError("ECONNRESET");
  }

  /** Opens the connections that are missing. */
  fill(): void {
    const { waiting, hasRoom } = this.options;
    while (this.#expected < this.#waiters.length) void this.#open(false);
    const wanted = Math.min(waiting(), this.#target) + this.#waiters.length;
    while (this.#ready.size + this.#opening.size < wanted && hasRoom()) void this.#open(true);
  }

  /** Closes the connections that were not used. */
  close(): void {
    for (const { abort } of this.#opening) abort();
    for (const socket of this.#ready.keys()) socket.destroy();
    for (const { reject } of this.#waiters) reject(new ConnectionError("ECONNABORTED"));
    this.#opening.clear();
    this.#ready.clear();
    this.#waiters.length = 0;
  }

  /** Connections that are being opened and that are not late. */
  get #expected(): number {
    return [...this.#opening].filter(({ late }) => !late).length;
  }

  async #open(ahead: boolean): Promise<void> {
    const controller = new AbortController();
    const beganAt = performance.now();
    const opening: Opening = { abort: () => controller.abort(), ahead, late: false };
    this.#opening.add(opening);
    const timer = setTimeout(() => {
      opening.late = ahead;
      this.fill();
    }, maxAgeMs).unref();
    try {
      const socket = await this.options.open(controller.signal);
      if (this.#opening.delete(opening)) this.#serve(socket, beganAt);
      else socket.destroy();
    } catch (error) {
      if (this.#opening.delete(opening)) this.#failed(opening, error);
    } finally {
      clearTimeout(timer);
    }
  }

  #serve(socket: Socket, beganAt: number): void {
    const waiter = this.#waiters.shift();
    if (waiter) waiter.resolve([socket, beganAt]);
    else this.#keep(socket, beganAt);
  }

  /** What was opened ahead fails no reset: the reset gets another one, whose failure counts. */
  #failed({ ahead }: Opening, error: unknown): void {
    if (ahead) {
      this.#refused();
      this.fill();
    } else if (this.#expected < this.#waiters.length) {
      this.#waiters.shift()?.reject(error);
    }
  }

  #keep(socket: Socket, beganAt: number): void {
    this.#ready.set(socket, beganAt);
    socket.once("close", () => {
      if (this.#ready.delete(socket)) this.#refused();
    });
    setTimeout(
      () => {
        if (!this.#ready.delete(socket)) return;
        socket.destroy();
        this.#target = Math.max(0, this.#target - 1);
      },
      beganAt + maxAgeMs - performance.now(),
    ).unref();
  }

  /** The platform, or something in front of it, may limit connections: it gets fewer of them from now on. */
  #refused(): void {
    this.#maxIdle = Math.floor(this.#maxIdle / 2);
    this.#target = Math.min(this.#target, this.#maxIdle);
  }
}

/** Whether the request can still be sent: if the server sent bytes first, it has given up and reports why. */
function isUsable(socket: Socket, beganAt: number): boolean {
  return socket.readyState === "open" && socket.readableLength === 0 && performance.now() - beganAt < maxAgeMs;
}

async function orClose(socket: Socket, beforeSend: () => Promise<void>): Promise<void> {
  try {
    await beforeSend();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
