import { type Socket } from "node:net";
import { ConnectionError } from "./openConnection";

/**
 * Milliseconds for which a ready connection waits for its reset: less than the second after which strict servers close a
 * connection that has carried no request.
 */
const maxReadyMs = 750;

export interface AheadOptions {
  /** Opens a connection on which a request can be sent at once. */
  readonly open: (signal: AbortSignal) => Promise<Socket>;
  /** Resets that wait for their turn. */
  readonly waiting: () => number;
  /** Connections that are ready or being opened ahead, at most. */
  readonly most: number;
  /** Whether one more connection may be opened ahead. */
  readonly hasRoom: () => boolean;
}

interface Taker {
  readonly resolve: (socket: Socket) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The connections to one origin that carry resets. While resets wait, the next connections are opened, so that a reset
 * does not wait for handshakes. Each connection carries one reset. One that closes or grows old before is thrown away:
 * nothing was sent on it.
 */
export class ConnectionsAhead {
  /** When each became ready, the oldest first. */
  readonly #ready = new Map<Socket, number>();
  readonly #opening = new Set<AbortController>();
  /** Resets whose turn has come, in order. Each has at least one connection on its way. */
  readonly #takers: Taker[] = [];
  #most: number;
  /** How many are opened ahead at the moment: as many as were lately used in time. */
  #target: number;

  constructor(private readonly options: AheadOptions) {
    this.#most = options.most;
    this.#target = options.most;
  }

  /**
   * A connection for one reset: one that is ready, or else the next that becomes ready.
   *
   * @param beforeSend called when the connection is ready; the connection is closed if this throws
   * @throws ConnectionError if none could be opened
   */
  async take(beforeSend: () => Promise<void>): Promise<Socket> {
    for (const [socket, readyAt] of this.#ready) {
      this.#ready.delete(socket);
      this.fill();
      if (!isUsable(socket, readyAt)) {
        socket.destroy();
        continue;
      }
      await orClose(socket, beforeSend);
      if (isUsable(socket, readyAt)) return socket;
      socket.destroy();
    }
    this.#target = Math.min(this.#target + 1, this.#most);
    const socket = await new Promise<Socket>((resolve, reject) => {
      this.#takers.push({ resolve, reject });
      this.fill();
    });
    await orClose(socket, beforeSend);
    if (socket.readyState === "open") return socket;
    // Closed while it was ready: the request has not been sent.
    socket.destroy();
    throw new ConnectionError("ECONNRESET");
  }

  /** Opens the connections that are missing. */
  fill(): void {
    const { waiting, hasRoom } = this.options;
    const wanted = Math.min(waiting(), this.#target);
    const ahead = () => this.#ready.size + this.#opening.size - this.#takers.length;
    while (this.#opening.size < this.#takers.length || (ahead() < wanted && hasRoom())) void this.#open();
  }

  /** Closes the connections that were not used. */
  close(): void {
    for (const opening of this.#opening) opening.abort();
    for (const socket of this.#ready.keys()) socket.destroy();
    for (const { reject } of this.#takers) reject(new ConnectionError("ECONNABORTED"));
    this.#opening.clear();
    this.#ready.clear();
    this.#takers.length = 0;
  }

  async #open(): Promise<void> {
    const opening = new AbortController();
    this.#opening.add(opening);
    let socket: Socket;
    try {
      socket = await this.options.open(opening.signal);
    } catch (error) {
      if (!this.#opening.delete(opening)) return;
      // The failure is that of a reset only if no other connection is on its way for it.
      if (this.#opening.size < this.#takers.length) this.#takers.shift()?.reject(error);
      else this.#refused();
      return;
    }
    if (!this.#opening.delete(opening)) return void socket.destroy();
    const taker = this.#takers.shift();
    if (taker) taker.resolve(socket);
    else this.#keep(socket);
  }

  #keep(socket: Socket): void {
    this.#ready.set(socket, performance.now());
    socket.once("close", () => {
      if (this.#ready.delete(socket)) this.#refused();
    });
    setTimeout(() => {
      if (!this.#ready.delete(socket)) return;
      socket.destroy();
      this.#target = Math.max(0, this.#target - 1);
    }, maxReadyMs).unref();
  }

  /** The platform, or something in front of it, may limit connections: it gets fewer of them from now on. */
  #refused(): void {
    this.#most = Math.floor(this.#most / 2);
    this.#target = Math.min(this.#target, this.#most);
  }
}

/** Whether the request can still be sent: bytes before it mean that the server has given up, and says why. */
function isUsable(socket: Socket, readyAt: number): boolean {
  return socket.readyState === "open" && socket.readableLength === 0 && performance.now() - readyAt < maxReadyMs;
}

async function orClose(socket: Socket, beforeSend: () => Promise<void>): Promise<void> {
  try {
    await beforeSend();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
