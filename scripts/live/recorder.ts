import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";

/** The addresses of an account's two services, without a slash at the end. */
export type Services = Readonly<Record<"management" | "queue", string>>;

/** A request that was forwarded, and its response. */
export interface Exchange {
  readonly method: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  readonly text: string;
  readonly endedAtMs: number;
}

const timeoutMs = 60_000;

/**
 * Stands between Rekey and an account, and records what they exchange. It forwards reads, and each permitted POST once:
 * nothing else can reach the account, whatever Rekey sends.
 */
export class Recorder {
  readonly exchanges: Exchange[] = [];
  readonly #permitted: Set<string>;
  readonly #server: Server;

  private constructor(
    private readonly targets: Services,
    permitted: readonly string[],
  ) {
    this.#permitted = new Set(permitted);
    this.#server = createServer((incoming, outgoing) => void this.#respond(incoming, outgoing));
  }

  /** @param permitted paths of POSTs, with their query */
  static async start(targets: Services, permitted: readonly string[]): Promise<Recorder> {
    const recorder = new Recorder(targets, permitted);
    await new Promise<void>((resolve) => recorder.#server.listen(0, "127.0.0.1", resolve));
    return recorder;
  }

  /** The addresses to use instead of those of the account. */
  get services(): Services {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return { management: `${url}/management`, queue: `${url}/queue` };
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "" } = incoming;
    const [, service, path = ""] = /^\/(management|queue)(\/.*)$/s.exec(url) ?? [];
    const isPermitted = method === "GET" || (method === "POST" && this.#permitted.delete(path));
    if (service === undefined || !isPermitted) {
      return void outgoing.writeHead(403, { "content-type": "application/json" }).end('{"error":"not permitted here"}');
    }
    const target = new URL(this.targets[service as keyof Services] + path);
    const response = await forward(target, incoming).catch(() => undefined);
    const text = response && (await textOf(response).catch(() => undefined));
    const status = text === undefined ? undefined : response?.statusCode;
    this.exchanges.push({ method, path, status, text: text ?? "", endedAtMs: performance.now() });
    if (status === undefined) return void outgoing.destroy();
    const { "content-length": _length, "transfer-encoding": _encoding, connection: _, ...headers } = response!.headers;
    outgoing.writeHead(status, headers).end(text);
  }
}

/** Sends a request without a body once, on a new connection. */
function forward(target: URL, { method, headers }: IncomingMessage): Promise<IncomingMessage> {
  const request = target.protocol === "https:" ? httpsRequest : httpRequest;
  const { connection: _, ...others } = headers;
  return new Promise((resolve, reject) => {
    const sent = request(target, {
      method,
      headers: { ...others, host: target.host, "accept-encoding": "identity" },
      agent: false,
      timeout: timeoutMs,
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", reject).on("response", resolve).end();
  });
}
