import { isIP } from "node:net";

/** The credential to try: a password of a database, a token of its REST interface, or of an index or the queue. */
export interface Credential {
  readonly name: "password" | "restToken" | "token";
  readonly value: string;
  /** Of a password. Without a name, it is the default user. */
  readonly username?: string | undefined;
}

/** Where clients connect to a database. */
export interface ClientEndpoint {
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** A GET that needs a token. */
export interface HttpProbe {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly service: "database" | "index" | "queue";
  readonly path: string;
}

/** Where a credential is tried. */
export type ProbeEndpoint = ClientEndpoint | HttpProbe;

export function credentialNoun({ name }: Pick<Credential, "name">): string {
  return name === "restToken" ? "REST token" : name;
}

/** Where a credential is tried, in messages: `rediss://db.example.com:6379` */
export function shownEndpoint(endpoint: ProbeEndpoint, { name }: Pick<Credential, "name">): string {
  if ("path" in endpoint) return endpoint.baseUrl;
  return name === "password" ? addressOf(endpoint) : restAddressOf(endpoint);
}

/** The address of an endpoint, which may be shown. */
export function addressOf({ host, port, tls }: ClientEndpoint): string {
  return `${tls ? "rediss" : "redis"}://${hostInUrl(host)}:${port}`;
}

/** The address of the REST interface at an endpoint, which may be shown. */
export function restAddressOf(endpoint: ClientEndpoint): string {
  return addressOf(endpoint).replace(/^redis/, "http");
}

/**
 * The URL of an index's REST interface; undefined if its endpoint is not known, is not a host or a plain URL, or if
 * clients would send the token in plain text.
 *
 * @param host of an endpoint that is a slug. Default: the endpoint itself
 */
export function indexUrl(
  { endpoint }: Readonly<Record<string, unknown>>,
  host = "{endpoint}",
): string | undefined {
  if (typeof endpoint !== "string" || endpoint === "") return undefined;
  if (endpoint.includes("://")) return isSafeUrl(endpoint) ? endpoint : undefined;
  const whole = /[.:]/.test(endpoint) ? endpoint : host.replace("{endpoint}", () => endpoint);
  return hostProblem(whole) === undefined ? `https://${hostInUrl(whole)}` : undefined;
}

/** True if a token may be sent to a URL, or to a path below it: it has no user, no query and no fragment. */
export function isSafeUrl(url: string): boolean {
  if (/[\s@?#\\]/.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (hostProblem(hostname) !== undefined) return false;
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** Why a text cannot be a host with `{endpoint}` or `{id}` in it, if it cannot. */
export function hostTemplateProblem(template: string): string | undefined {
  if (typeof template !== "string") return "must be a string";
  return hostProblem(template.replace(/\{(endpoint|id)\}/g, "x"));
}

export function hostProblem(host: string): string | undefined {
  const isName = /^[a-z\d_-]+(\.[a-z\d_-]+)*\.?$/i.test(host);
  const isAddress = isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0 && !host.includes("%");
  return isName || isAddress ? undefined : "must be a host name or an IP address, without a port";
}

export function portProblem(port: number): string | undefined {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
    ? undefined
    : "must be a whole number from 1 to 65535";
}

export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

export function hostWithoutBrackets(host: string): string {
  return host.replace(/[[\]]/g, "");
}

/** A host as it is compared with others: in one spelling, and with one name for this machine. */
export function comparedHost(host: string): string {
  const url = `http://${hostInUrl(hostWithoutBrackets(host))}`;
  const spelled = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  const name = spelled.replace(/\.$/, "");
  return ["127.0.0.1", "[::1]"].includes(name) ? "localhost" : name;
}

export function isLoopback(host: string): boolean {
  return /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/i.test(host);
}
