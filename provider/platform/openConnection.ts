import { once } from "node:events";
import { readFileSync } from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import { type Socket, connect, isIP } from "node:net";
import { connect as connectSecurely, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { hostWithoutBrackets } from "./endpoint";

/** A connection that could not be opened, or was lost before it was used: nothing was sent to the platform. */
export class ConnectionError extends Error {
  readonly code?: string | undefined;
  /** The proxy's status, if the proxy is what failed. */
  readonly proxy?: number | "unreachable" | undefined;

  constructor({ code, proxy }: Pick<ConnectionError, "code" | "proxy">) {
    super(`no connection (${code ?? proxy})`);
    this.code = code;
    this.proxy = proxy;
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
  const { proxy, secureContext, session, timeoutMs } = options;
  const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
  const host = hostWithoutBrackets(url.hostname);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const shared = {
    // NODE_TLS_REJECT_UNAUTHORIZED=0, which pipelines set for other tools, must not apply here.
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
    // For each address but the last one. Node's default of 250 ms is too short for a distant host.
    autoSelectFamilyAttemptTimeout: Math.max(1, Math.floor(timeoutMs / 4)),
    // A request would wait until the last message of the handshake is acknowledged.
    noDelay: true,
  };
  let socket: Socket | undefined;
  try {
    if (proxy === undefined) {
      socket = guarded(connect({ ...shared, host, port }));
      await once(socket, "connect", { signal });
    } else socket = guarded(await openTunnel(proxy, `${url.hostname}:${port}`, shared, signal));
    if (url.protocol !== "https:") return socket;
    const servername = isIP(host) ? "" : host;
    socket = guarded(connectSecurely({ ...shared, socket, host, servername, ...(session && { session }) }));
    await once(socket, "secureConnect", { signal });
    return socket;
  } catch (error) {
    socket?.destroy();
    if (error instanceof ConnectionError) throw error;
    const code = signal.aborted ? "ETIMEDOUT" : (error as NodeJS.ErrnoException).code;
    throw new ConnectionError({ code });
  }
}

/** A connection may fail while nothing waits for it: that must not end the process. */
function guarded(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

/** @param target host and port to which the proxy opens a tunnel */
async function openTunnel(proxy: string, target: string, shared: object, signal: AbortSignal): Promise<Socket> {
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const request = (protocol === "https:" ? https : http).request({
    ...shared,
    host: hostWithoutBrackets(hostname),
    ...(port && { port }),
    method: "CONNECT",
    path: target,
    headers: { Host: target, ...(username && { "Proxy-Authorization": `Basic ${credentials}` }) },
    agent: false,
  });
  request.end();
  let opened: [response: http.IncomingMessage, socket: Socket];
  try {
    opened = (await once(request, "connect", { signal })) as typeof opened;
  } catch {
    request.on("error", () => undefined).destroy();
    throw new ConnectionError({ proxy: "unreachable" });
  }
  const [{ statusCode = 0 }, socket] = opened;
  if (statusCode === 200) return socket;
  socket.destroy();
  throw new ConnectionError({ proxy: statusCode });
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
