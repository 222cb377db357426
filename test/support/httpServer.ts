import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

/** A request that the server received. */
interface Received {
  readonly method: string;
  /** The unchanged request target: percent-encoded, with the query. */
  readonly target: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** A response: a status with headers and a body, or a function that sends it. */
export type Scripted =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export interface HttpServer {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** A server on a real socket that sends the scripted responses in turn, then the last of them again and again. */
export async function startServer(...script: readonly Scripted[]): Promise<HttpServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { method = "", url: target = "", headers } = request;
      const scripted = script[Math.min(received.length, script.length - 1)] ?? {};
      received.push({ method, target, headers, body });
      if (typeof scripted === "function") return scripted(request, response);
      response.writeHead(scripted.status ?? 200, scripted.headers).end(scripted.body ?? "{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
