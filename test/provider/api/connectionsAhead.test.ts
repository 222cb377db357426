import assert from "node:assert/strict";
import { once } from "node:events";
import { type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type RequesterOptions } from "../../../provider/api/requester";
import { PlatformClient } from "../../../provider/api/platformClient";
import { type SettingName, Settings } from "../../../provider/settings";
import { caFile, certificate } from "../../faults/certificates";
import { bodyOf } from "../../faults/platformBodies";
import { Proxy } from "../../faults/proxy";
import { type Exchange, RawServer, type ServerOptions } from "../../faults/rawServer";
import { until } from "../../support/results";

const maxConcurrency = 2;
/** Connections that may be ready or on their way in addition to those of the requests under way. */
const mostAhead = 3 * maxConcurrency;

describe("api: connections opened ahead of resets, over real sockets", () => {
  const { random } = Math;
  before(() => (Math.random = () => 0));
  after(() => (Math.random = random));

  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  /** A server that answers resets once it is told to, and what it has seen. */
  async function startServer(options: Partial<ServerOptions> = {}) {
    const server = await RawServer.start({ bodyOf, ...options });
    opened.push(server);
    const held: Exchange[] = [];
    let holds = true;
    server.behave("POST", "reset-password", (exchange) => {
      if (holds) held.push(exchange);
      else exchange.answer(200);
    });
    const release = (): void => {
      holds = false;
      held.splice(0).forEach(({ answer }) => answer(200));
    };
    return { server, held, release };
  }

  function clientOf(
    url: string,
    settings: Partial<Record<SettingName, string>> = {},
    beforeReset?: RequesterOptions["beforeReset"],
  ): PlatformClient {
    const values = { baseUrl: url, queueUrl: url, username: "ops", password: "pw", queueToken: "token" };
    const all: Partial<Record<SettingName, string>> = { ...values, maxConcurrency: `${maxConcurrency}`, ...settings };
    return new PlatformClient(new Settings((name) => all[name]), beforeReset);
  }

  const plain = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
  const secure = ({ port }: { port: number }) => `https://127.0.0.1:${port}`;
  const resetAll = (client: PlatformClient, count: number) =>
    Promise.all(Array.from({ length: count }, (_, nth) => client.databases.resetPassword(`db-${nth}`)));

  it("are as many as resets wait, and at most three times as many as requests may be under way", async () => {
    for (const [count, ahead] of [
      [maxConcurrency, 0],
      [maxConcurrency + 3, 3],
      [50, mostAhead],
    ] as const) {
      const { server, held, release } = await startServer();
      const resets = resetAll(clientOf(plain(server)), count);
      await until(() => held.length === maxConcurrency && server.connections >= maxConcurrency + ahead);
      await wait(50);
      assert.equal(server.connections, maxConcurrency + ahead);
      assert.equal(server.requests.length, maxConcurrency);
      release();
      await resets;
      assert.equal(server.requests.length, count);
    }
  });

  it("serve one reset each, and none is left open at the end", async () => {
    let mostOpen = 0;
    const onConnection = (): unknown => (mostOpen = Math.max(mostOpen, server.open));
    const { server } = await startServer({ tls: certificate("good"), onConnection });
    const sockets = new Set<Socket>();
    server.behave("POST", "reset-password", ({ socket, answer }) => {
      sockets.add(socket);
      answer(200, { connection: "keep-alive" });
    });
    await resetAll(clientOf(secure(server), { caFile }), 100);
    assert.equal(sockets.size, 100);
    assert.ok(mostOpen > maxConcurrency && mostOpen <= 4 * maxConcurrency, `${mostOpen}`);
    await until(() => server.open === 0);
  });
});
