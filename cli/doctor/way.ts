import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { type ConnectionSettings } from "../../provider/api/connections";
import { trusting } from "../../provider/api/trust";

/** What kept a connection from coming up, in the provider's terms. */
export interface Obstacle {
  readonly code?: string;
  readonly proxy?: number | "unreachable";
}

/** Milliseconds, longest wait for the whole way. */
const patience = 10_000;

/** Opens the way that a request would take to an address (the name, the proxy, TLS), and sends no request on it. */
export async function findObstacle(address: string, settings: ConnectionSettings): Promise<Obstacle | undefined> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const signal = AbortSignal.timeout(patience);
  const tls = trusting(settings.extraCertificates);
  let socket: Socket | undefined;
  try {
    if (settings.proxy === undefined) {
      socket = connect({ host, port, signal });
      await once(socket, "connect", { signal });
    } else {
      const opened = await throughProxy(settings.proxy, `${url.hostname}:${port}`, tls, signal);
      if (!("socket" in opened)) return opened;
      socket = opened.socket;
    }
    if (url.protocol === "https:") {
      const secure = connectSecurely({ socket, host, ...(isIP(host) ? {} : { servername: host }), ...tls });
      await once(secure, "secureConnect", { signal });
    }
    return undefined;
  } catch (error) {
    return { code: signal.aborted ? "deadline" : ((error as NodeJS.ErrnoException).code ?? "unknown") };
  } finally {
    socket?.destroy();
  }
}

async function throughProxy(
  proxy: string,
  target: string,
  tls: ReturnType<typeof trusting>,
  signal: AbortSignal,
): Promise<{ socket: Socket } | Obstacle> {
  const { protocol, username, password } = new URL(proxy);
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const headers = { Host: target, ...(username && { "Proxy-Authorization": `Basic ${credentials}` }) };
  const options = { method: "CONNECT", path: target, headers, agent: false, signal };
  const request =
    protocol === "https:" ? https.request(proxy, { ...options, ...tls }) : http.request(proxy, { ...options });
  request.end();
  try {
    const [answer, socket] = (await once(request, "connect")) as [http.IncomingMessage, Socket];
    if (answer.statusCode === 200) return { socket };
    socket.destroy();
    return { proxy: answer.statusCode ?? 0 };
  } catch {
    return { proxy: "unreachable" };
  }
}
