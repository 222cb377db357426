import { addressOf, type ClientEndpoint, restAddressOf } from "./address";

/** What is tried: a password of a database, a token of its REST interface, or a token of an index or of the queue. */
export interface Credential {
  readonly name: "password" | "restToken" | "token";
  readonly value: string;
  /** Of a password. Without a name, it is the default user. */
  readonly username?: string | undefined;
}

/** Where a credential is tried: at a database, or by a GET that needs the token. */
export type ProbeEndpoint = ClientEndpoint | HttpProbe;

export interface HttpProbe {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly service: "database" | "index" | "queue";
  readonly path: string;
}

/** A credential in messages. */
export function nameOf({ name }: Pick<Credential, "name">): string {
  return name === "restToken" ? "REST token" : name;
}

/** Where a credential is tried, in messages: `rediss://db.example.com:6379` */
export function shownEndpoint(endpoint: ProbeEndpoint, { name }: Pick<Credential, "name">): string {
  if ("path" in endpoint) return endpoint.baseUrl;
  return name === "password" ? addressOf(endpoint) : restAddressOf(endpoint);
}
