import { Connections, type ConnectionSettings } from "../platform/connections";

/** Connections to databases and indexes. One without TLS is to this machine, and so not through a proxy. */
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
