import { addressOf, type ClientEndpoint, restAddressOf } from "./address";

/** What is tried: a password of a database, a token of its REST interface, or a token of an index or of the queue. */
export type Credential =
  | { readonly username?: string | undefined; readonly password: string }
  | { readonly restToken: string }
  | { readonly token: string };

/** Where a credential is tried: at a database, or by a GET that needs the token. */
export type ProbeEndpoint = ClientEndpoint | HttpProbe;

export interface HttpProbe {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly service: "database" | "index" | "queue";
  readonly path: string;
}

/** The secret of a credential. */
export function secretOf(credential: Credential): string {
  if ("password" in credential) return credential.password;
  return "token" in credential ? credential.token : credential.restToken;
}

/** A credential in messages. */
export function nameOf(credential: Credential): string {
  if ("password" in credential) return "password";
  return "token" in credential ? "token" : "REST token";
}

/** Where a credential is tried, in messages: `rediss://db.example.com:6379` */
export function shownEndpoint(endpoint: ProbeEndpoint, credential: Credential): string {
  if ("path" in endpoint) return endpoint.baseUrl;
  return "password" in credential ? addressOf(endpoint) : restAddressOf(endpoint);
}
