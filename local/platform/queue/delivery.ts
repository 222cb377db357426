import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type Attempt, type Message } from "./messages";
import { signature } from "./signature";

/** Maximum number of bytes of a response body that are kept for callbacks. */
const mostBodyBytes = 1_000_000;

/**
 * Sends messages to their destinations. Redirects are not followed, because they could lead to destinations that are
 * not allowed.
 */
export class Sender {
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https = new HttpsAgent({ keepAlive: true });
  readonly #open = new Set<ClientRequest>();
  /** Set by `close`: the deliveries that it aborts have not failed because of the destination. */
  isClosed = false;

  /** @param signingKey the key that signs messages now */
  constructor(private readonly signingKey: () => string) {}

  /** @param now Unix time in milliseconds */
  send(message: Message, now: number): Promise<Attempt> {
    return new Promise((resolve) => {
      const { destination, method } = message;
      const body = method === "GET" ? undefined : message.body;
      const isHttps = destination.startsWith("https:");
      const sent = (isHttps ? httpsRequest : httpRequest)(destination, {
        method,
        agent: isHttps ? this.#https : this.#http,
        headers: {
          ...headersOf(message),
          "upstash-signature": signature(this.signingKey(), destination, body ?? "", now),
        },
      });
      const timeout = setTimeout(
        () => sent.destroy(new Error(`no response within ${message.timeoutSeconds} s`)),
        Math.min(message.timeoutSeconds * 1000, 2 ** 31 - 1),
      );
      const end = (attempt: Attempt) => {
        clearTimeout(timeout);
        this.#open.delete(sent);
        resolve(attempt);
      };
      this.#open.add(sent);
      sent.on("error", ({ message: error }) => end({ ok: false, error }));
      // Without this handler, a response of 101 would cause neither a response nor an error event.
      sent.on("upgrade", ({ statusCode: status }, socket) => {
        socket.destroy();
        end({ ok: false, status, error: `the destination responded with ${status}` });
      });
      sent.on("response", (response) => void readResponse(response).then(end));
      sent.end(body);
    });
  }

  /** Aborts all deliveries. */
  close(): void {
    this.isClosed = true;
    this.#open.forEach((sent) => sent.destroy());
    this.#http.destroy();
    this.#https.destroy();
  }
}

function headersOf({ headers, messageId, retried, method, body }: Message): Record<string, string | number> {
  return {
    ...headers,
    "upstash-message-id": messageId,
    "upstash-retried": retried,
    ...(method === "GET" ? {} : { "content-length": body.length }),
  };
}

function readResponse(response: IncomingMessage): Promise<Attempt> {
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
      resolve({ ok, status, headers, body, ...(ok ? {} : { error: `the destination responded with ${status}` }) });
    });
  });
}
