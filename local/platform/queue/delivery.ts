import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type Message } from "./messages";

/** How one try to deliver a message ended: with an answer, or with an error. */
export interface Attempt {
  /** Whether the destination took it: it answered 2xx. */
  readonly ok: boolean;
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string[] | undefined>> | undefined;
  /** The first bytes of the answer's body, at most `mostBodyBytes`. */
  readonly body?: Buffer | undefined;
  /** What went wrong. */
  readonly error?: string | undefined;
}

/** More of an answer's body than this is not kept for callbacks. */
const mostBodyBytes = 1_000_000;

/**
 * Sends messages to their destinations. Redirects are not followed: they would lead past the rule which destinations
 * are allowed.
 */
export class Sender {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });
  readonly #open = new Set<ClientRequest>();
  /** Set by `close`: what it cut has failed for no fault of the destination. */
  isClosed = false;

  send(message: Message): Promise<Attempt> {
    return new Promise((resolve) => {
      const { destination, method, body } = message;
      const isHttps = destination.startsWith("https:");
      const sent = (isHttps ? httpsRequest : httpRequest)(destination, {
        method,
        agent: isHttps ? this.#https : this.#http,
        headers: headersOf(message),
      });
      const timeout = setTimeout(
        () => sent.destroy(new Error(`no answer within ${message.timeout} s`)),
        Math.min(message.timeout * 1000, 2 ** 31 - 1),
      );
      const end = (attempt: Attempt) => {
        clearTimeout(timeout);
        this.#open.delete(sent);
        resolve(attempt);
      };
      this.#open.add(sent);
      sent.on("error", ({ message: error }) => end({ ok: false, error }));
      // Without this, an answer of 101 would end neither in an answer nor in an error.
      sent.on("upgrade", ({ statusCode: status }, socket) => {
        socket.destroy();
        end({ ok: false, status, error: `the destination answered ${status}` });
      });
      sent.on("response", (response) => void answered(response).then(end));
      sent.end(method === "GET" ? undefined : body);
    });
  }

  /** Cuts everything that is under way. */
  close(): void {
    this.isClosed = true;
    this.#open.forEach((sent) => sent.destroy());
    this.#http.destroy();
    this.#https.destroy();
  }
}

function headersOf({
  headers,
  messageId,
  retried,
  scheduleId,
  method,
  body,
}: Message): Record<string, string | number> {
  return {
    ...headers,
    "upstash-message-id": messageId,
    "upstash-retried": retried,
    ...(scheduleId === undefined ? {} : { "upstash-schedule-id": scheduleId }),
    ...(method === "GET" ? {} : { "content-length": body.length }),
  };
}

function answered(response: IncomingMessage): Promise<Attempt> {
  return new Promise((resolve) => {
    const { statusCode: status = 0, headersDistinct: headers } = response;
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      if (bytes < mostBodyBytes) {
        chunks.push(chunk);
      }
      bytes += chunk.length;
    });
    response.on("error", ({ message: error }) => resolve({ ok: false, status, headers, error }));
    response.on("end", () => {
      const ok = status >= 200 && status < 300;
      const body = Buffer.concat(chunks).subarray(0, mostBodyBytes);
      resolve({ ok, status, headers, body, ...(ok ? {} : { error: `the destination answered ${status}` }) });
    });
  });
}
