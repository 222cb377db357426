import { type ClientHttp2Session, connect } from "node:http2";
import { Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { RequestError, type RequestFacts } from "../domain/errors";
import { activeHandles } from "./pulumiInternals";

/** Milliseconds to wait for the engine's response: it runs on this machine. */
const timeoutMs = 5_000;

/**
 * Milliseconds for which one response of the engine counts, and so for which a reset may be sent after the engine was
 * killed: less than a reset takes on a network. Its connection closes once the system has freed its memory, which may
 * take longer. If each reset waited for a call of its own, 200 of them would take 100 ms longer (`npm run bench`).
 */
export const freshnessMs = 25;

/** Milliseconds between two calls: the next one ends before the last response stops counting, so no reset waits. */
const pauseMs = 12;

/** Milliseconds after a reset in which the calls go on: the next one may begin when the last one has a response. */
const activeMs = 250;

/** Milliseconds until a connection that the engine closed is opened again. */
const reconnectMs = 100;

/** An empty message as gRPC frames it: not compressed, of length 0. */
const emptyMessage = Buffer.alloc(5);

/**
 * Makes sure that the engine that requested a reset is still running and can save its result. A provider host outlives
 * an engine that was killed, and would continue to send resets.
 *
 * It keeps one connection for as long as the host lives. The operating system closes it with the engine's process, and
 * another process that takes over the port cannot take over the connection. A call on it shows that the other side is a
 * gRPC server and responds.
 */
export class EngineWatch {
  readonly #session: ClientHttp2Session;
  /** The call that is under way. */
  #call: Promise<boolean> | undefined;
  /** When the last call that the engine responded to began, and when a reset was last to be sent. */
  #confirmed = -Infinity;
  #asked = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** @param onGone called once the engine has closed its connection and does not respond on a new one */
  constructor(address: string, onGone: () => void) {
    this.#session = connectToEngine(address);
    void untilGone(address, this.#session).then(onGone);
  }

  readonly requireEngine = async (facts: RequestFacts): Promise<void> => {
    this.#asked = performance.now();
    const isFresh = this.#asked - this.#confirmed <= freshnessMs;
    if ((isFresh || (await (this.#call ?? this.#ask()))) && !this.#session.destroyed) return;
    throw new RequestError("not sent", facts, {
      happened: "the engine that requested it has ended and could not save the result",
      advice: "Run again.",
      code: "REKEY_ENGINE_GONE",
    });
  };

  #ask(): Promise<boolean> {
    clearTimeout(this.#timer);
    const began = performance.now();
    const next = () => {
      if (performance.now() - this.#asked <= activeMs) void this.#ask();
    };
    return (this.#call = isGrpcServer(this.#session).then((responds) => {
      this.#call = undefined;
      if (!responds) return false;
      this.#confirmed = began;
      this.#timer = setTimeout(next, pauseMs).unref();
      return true;
    }));
  }
}

function connectToEngine(address: string): ClientHttp2Session {
  // The next call sees whether the session failed.
  const session = connect(`http://${address}`).on("error", () => undefined);
  session.unref();
  return session;
}

/** A living engine may close a connection that is not used: only a new one shows whether it is gone. */
async function untilGone(address: string, session: ClientHttp2Session): Promise<void> {
  let closed = closeOf(session);
  do {
    await closed;
    await sleep(reconnectMs);
    session = connectToEngine(address);
    closed = closeOf(session);
  } while (await isGrpcServer(session));
  session.destroy();
}

function closeOf(session: ClientHttp2Session): Promise<unknown> {
  return new Promise((resolve) => session.once("close", resolve));
}

function isGrpcServer(session: ClientHttp2Session): Promise<boolean> {
  if (session.closed || session.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Any gRPC server responds to this call, if only with "unimplemented".
    const call = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    call.setTimeout(timeoutMs, () => call.close());
    call.once("response", (headers) => {
      resolve(String(headers["content-type"]).startsWith("application/grpc"));
      call.resume();
    });
    call.on("error", () => undefined).once("close", () => resolve(false));
    call.end(emptyMessage);
  });
}

/**
 * Ends this process as soon as nothing but its servers keeps it running. Its requests in flight finish first, and so
 * does the work of other providers in Pulumi's dynamic provider host.
 */
export function endWhenIdle(): void {
  for (const handle of activeHandles()) if (handle instanceof Server) handle.unref();
}

/**
 * Ignores errors of what this process prints. Once the engine is gone, the pipe has no reader, and Pulumi's dynamic
 * provider host prints each uncaught error, so that one would cause the next, without an end.
 */
export function ignoreUnreadOutput(): void {
  // Once, although a process may have many runs.
  for (const stream of [process.stdout, process.stderr]) {
    stream.off("error", ignore).on("error", ignore);
  }
}

const ignore = (): void => undefined;
