import * as http from "node:http";
import * as https from "node:https";
import { type Socket, connect, isIP } from "node:net";
import { connect as connectSecurely, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { hostWithoutBrackets } from "../records/fields";
import { once } from "node:events";
import { readFileSync } from "node:fs";

/** A connection that could not be opened, or was lost before it was used: nothing was sent to the platform. */
export class ConnectionError extends Error {
  readonly code?: string | undefined;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;
  /** Whether it was open, but without TLS. */
  readonly inHandshake?: boolean | undefined;

  constructor({ code, proxy, inHandshake }: Pick<ConnectionError, "code" | "proxy" | "inHandshake">) {
    super(`no connection (${code ?? proxy})`);
    this.code = code;
    this.proxy = proxy;
    this.inHandshake = inHandshake;
  }
}

export interface ConnectionOptions {
  /** Address of an HTTP proxy that opens a tunnel to the platform (CONNECT). */
  readonly proxy?: string | undefined;
  /** Which certificates are trusted; undefined for Node's own choice. */
  readonly secureContext?: SecureContext | undefined;
  /** A TLS session to resume. */
  readonly session?: Buffer | undefined;
  /** Milliseconds until the connection must be ready. */
  readonly timeoutMs: number;
}

/**
 * Opens a connection on which a request can be sent at once: for https, the TLS handshake is complete.
 *
 * @throws ConnectionError
 */
export async function openConnection(url: URL, options: ConnectionOptions): Promise<Socket> {
  const endsAt = performance.now() + options.timeoutMs;
  const shared = sharedOptions(options);
  const host = hostWithoutBrackets(url.hostname);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const { proxy } = options;
  const socket =
    proxy === undefined ? connect({ ...shared, host, port }) : await openTunnel(proxy, url, port, endsAt, shared);
  let inHandshake = false;
  try {
    if (socket.connecting) await ready(socket, "connect", endsAt);
    if (url.protocol !== "https:") return guarded(socket);
    inHandshake = true;
    const { session } = options;
    const servername = isIP(host) ? undefined : host;
    const secure = connectSecurely({
      ...shared,
      socket,
      host,
      ...(servername !== undefined && { servername }),
      ...(session && { session }),
    });
    await ready(secure, "secureConnect", endsAt);
    return guarded(secure);
  } catch (error) {
    socket.destroy();
    throw new ConnectionError({ code: (error as NodeJS.ErrnoException).code, inHandshake });
  }
}

/** What Node needs for each connection, to the platform, to a database or to a proxy. */
function sharedOptions({ secureContext, timeoutMs }: ConnectionOptions) {
  return {
    // NODE_TLS_REJECT_UNAUTHORIZED=0, which pipelines set for other tools, must not apply here.
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
    // For each address but the last one. Node's default of 250 ms is too short for a distant host.
    autoSelectFamilyAttemptTimeout: Math.max(1, Math.floor(timeoutMs / 4)),
  };
}

async function openTunnel(
  proxy: string,
  url: URL,
  port: number,
  endsAt: number,
  shared: ReturnType<typeof sharedOptions>,
): Promise<Socket> {
  const { protocol, hostname, port: proxyPort, username, password } = new URL(proxy);
  const target = `${url.hostname}:${port}`;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const request = (protocol === "https:" ? https : http).request({
    ...shared,
    host: hostWithoutBrackets(hostname),
    ...(proxyPort && { port: proxyPort }),
    method: "CONNECT",
    path: target,
    headers: { Host: target, ...(username && { "Proxy-Authorization": `Basic ${credentials}` }) },
    agent: false,
  });
  request.end();
  let opened: [response: http.IncomingMessage, socket: Socket];
  try {
    opened = (await ready(request, "connect", endsAt)) as typeof opened;
  } catch {
    throw new ConnectionError({ proxy: "unreachable" });
  }
  const [{ statusCode = 0 }, socket] = opened;
  if (statusCode === 200) return guarded(socket);
  socket.destroy();
  throw new ConnectionError({ proxy: statusCode });
}

/** Waits for an event. What fails or takes too long is destroyed. */
async function ready(opening: Socket | http.ClientRequest, event: string, endsAt: number): Promise<unknown[]> {
  const giveUp = (): void => {
    opening.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" }));
  };
  const timer = setTimeout(giveUp, endsAt - performance.now());
  try {
    return (await once(opening, event)) as unknown[];
  } finally {
    clearTimeout(timer);
  }
}

/** A ready connection may fail while it waits for its request: that must not end the process. */
function guarded(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

/**
 * TLS options that trust these certificates (PEM) in addition to the well-known ones and to those in
 * `NODE_EXTRA_CA_CERTS`, which Node itself trusts.
 */
export function trusting(certificates: string | undefined): { readonly secureContext?: SecureContext } {
  if (certificates === undefined) return {};
  return { secureContext: createSecureContext({ ca: [...rootCertificates, ...namedToNode(), certificates] }) };
}

/** Certificates in `NODE_EXTRA_CA_CERTS`, if any; if they cannot be read, Node printed a warning when it started. */
function namedToNode(): string[] {
  try {
    return [readFileSync(process.env["NODE_EXTRA_CA_CERTS"] ?? "", "utf8")];
  } catch {
    return [];
  }
}
