import * as http from "node:http";
import * as https from "node:https";
import { trusting } from "./trust";

export interface ConnectionSettings {
  /** Address of an HTTP proxy through which every request is tunnelled (CONNECT). */
  readonly proxy?: string | undefined;
  /** Certificates (PEM) that are trusted besides those Node trusts itself. */
  readonly extraCertificates?: string | undefined;
}

/** What is seen of one request's way to the platform. */
export interface Sighting {
  /** The connection (for https, the secure one) came up: from here on the request may have arrived. */
  connected: boolean;
  /** The proxy's answer to CONNECT, where there is a proxy and it answered. */
  tunnelStatus?: number;
}

/** Makes the connections of requests, and watches when they come up. */
export class Connections {
  readonly #settings: ConnectionSettings;
  /** By whether a connection serves one request alone. Secure ones, too, resume what an earlier one agreed upon. */
  readonly #agents = new Map<boolean, { http: http.Agent; https: https.Agent }>();
  #trust: ReturnType<typeof trusting> | undefined;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
  }

  get throughProxy(): boolean {
    return this.#settings.proxy !== undefined;
  }

  /** What axios needs for one request. A request that must not be repeated gets a connection of its own. */
  for(once: boolean, connectTimeout: number, sighting: Sighting) {
    // Made once: it reads some hundred certificates.
    const tls = (this.#trust ??= trusting(this.#settings.extraCertificates));
    const agents = this.#settings.proxy ? this.#proxied(this.#settings.proxy, tls, sighting) : this.#direct(once);
    return {
      httpAgent: agents.http,
      httpsAgent: agents.https,
      transport: {
        request(options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void): http.ClientRequest {
          const secure = options.protocol === "https:";
          // The agent for proxies uses its own TLS options towards the proxy alone.
          const request = secure ? https.request({ ...options, ...tls }, onAnswer) : http.request(options, onAnswer);
          watch(request, secure, connectTimeout, sighting);
          return request;
        },
      },
    };
  }

  #direct(once: boolean) {
    const agents = this.#agents.get(once) ?? {
      http: new http.Agent({ keepAlive: !once }),
      https: new https.Agent({ keepAlive: !once }),
    };
    this.#agents.set(once, agents);
    return agents;
  }

  #proxied(proxy: string, tls: https.AgentOptions, sighting: Sighting) {
    // Most have no proxy.
    const { HttpsProxyAgent } = require("https-proxy-agent") as typeof import("https-proxy-agent");
    const agent = new HttpsProxyAgent(proxy, tls);
    agent.on("proxyConnect", (answer: { statusCode: number }) => {
      sighting.tunnelStatus = answer.statusCode;
    });
    return { http: agent, https: agent };
  }
}

function watch(request: http.ClientRequest, secure: boolean, connectTimeout: number, sighting: Sighting): void {
  const timer = setTimeout(() => {
    request.destroy(Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" }));
  }, connectTimeout);
  const connected = (): void => {
    clearTimeout(timer);
    sighting.connected = true;
  };
  request.once("close", () => clearTimeout(timer));
  request.once("socket", (socket) => {
    if (request.reusedSocket) connected();
    else if (secure) socket.once("secureConnect", connected);
    else if (socket.connecting) socket.once("connect", connected);
    else connected();
  });
}
