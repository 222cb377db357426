import { hostInUrl } from "../records/fields";

/** Where clients connect to a database. */
export interface ClientEndpoint {
  /** A host name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** The address of an endpoint, which may be shown. */
export function addressOf({ host, port, tls }: ClientEndpoint): string {
  return `${tls ? "rediss" : "redis"}://${hostInUrl(host)}:${port}`;
}

/** The address of the REST interface at an endpoint, which may be shown. */
export function restAddressOf(endpoint: ClientEndpoint): string {
  return addressOf(endpoint).replace(/^redis/, "http");
}
