import { Connections, type ConnectionSettings } from "../platform/connections";

/** Connections to databases and indexes. Those without TLS are only to this machine, so they never use the proxy. */
export class ServerConnections {
  readonly #secure: Connections;
  readonly #plain = new Connections();

  constructor(settings: ConnectionSettings = {}) {
    this.#secure = new Connections(settings);
  }

  to({ protocol }: URL): Connections {
    return protocol === "https:" ? this.#secure : this.#plain;
  }
}
