import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Result } from "../support/host";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { databaseBody } from "../support/platformBodies";
import { type Properties, revealed } from "../support/wire";
import { type Behaviour, type Exchange, type ServerOptions } from "../support/httpServer";
import { type Fixture } from "./fixture";

const maxConcurrency = 4;
const plain = {};
const secure = { tls: certificate("good") };

const idIn = (outs: Properties) => (revealed(outs)["record"] as { readonly databaseId: string }).databaseId;

describe("faults: connections that are kept", function () {
  const start = (fixture: Fixture, server: ServerOptions, more: Record<string, string | number> = {}) =>
    fixture.start({ server, settings: () => ({ maxConcurrency, ...(server.tls && { caFile }), ...more }) });

  const resetAll = ({ host }: Fixture, count: number, from = 0): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${from + nth}`))));

  /** Starts 40 resets, and holds their responses until as many are under way as may be. */
  async function heldResets(fixture: Fixture) {
    const { server } = fixture;
    const held: Exchange[] = [];
    server.behave("POST", "reset-password", (exchange) => void held.push(exchange));
    const results = resetAll(fixture, 40);
    await until(() => held.length === maxConcurrency);
    return (behaviour: Behaviour = ({ answer }) => answer(200)): Promise<Result[]> => {
      server.behave("POST", "reset-password", behaviour);
      held.forEach(({ answer }) => answer(200));
      return results;
    };
  }

  function expectAllDone(results: readonly Result[], { server }: Fixture): void {
    for (const result of results) expectKind("done", result);
    assert.equal(server.requests.length, results.length);
  }

  const passes = "passes; 1 sent";
  const unconfirmed = "may have been applied: saved by an init error; 1 sent";
  for (const [kind, platform] of Object.entries({ http: plain, TLS: secure })) {
    testRow([8, `kept connections close while they are free (${kind})`, "create", passes], async (fixture) => {
      const { server } = await start(fixture, platform);
      const results = await resetAll(fixture, maxConcurrency);
      server.cut();
      await wait(50);
      results.push(...(await resetAll(fixture, 2 * maxConcurrency, maxConcurrency)));
      expectAllDone(results, fixture);
    });

    const closes = `a kept connection closes as the request is written (${kind})`;
    testRow([8, closes, "create", unconfirmed], async (fixture) => {
      const { server } = await start(fixture, platform);
      const release = await heldResets(fixture);
      let closed: string | undefined;
      const results = await release(({ socket, path, answer }) => {
        if (closed !== undefined) return answer(200);
        closed = path.split("/").at(-1);
        socket.destroy();
      });
      assert.equal(results.filter(({ kind }) => kind === "done").length, 39);
      const unknown = results.findIndex(({ kind }) => kind === "init error");
      assert.equal(`db-${unknown}`, closed);
      assert.equal(server.count("POST", `db-${unknown}`), 1);
    });
  }

  for (const [what, extra] of Object.entries({
    "the record of another database": databaseBody("another", { password: "canary-of-another" }),
    "a record without its id": JSON.stringify({ password: "canary-of-another" }),
  })) {
    const shifted = `a response to no request, ${what}, shifts those after it`;
    const result = "taken for no record: that of one reset is unconfirmed, and its connection is closed";
    testRow([33, shifted, "create", result], async (fixture) => {
      const { server, host } = await start(fixture, plain, { maxConcurrency: 1 });
      const waiting = new Map<Socket, string[]>();
      server.behave("POST", "reset-password", ({ socket, answer, body }) => {
        const bodies = waiting.get(socket);
        waiting.set(socket, bodies ?? [extra]);
        bodies?.push(body);
        answer(200, {}, bodies?.shift() ?? body);
      });
      const ids = ["a", "b", "c", "d", "e", "f"];
      const results: Result[] = [];
      for (const id of ids) results.push(await host.create(rotation(id)));
      assert.ok(!JSON.stringify(results).includes("canary-of-another"));
      assert.deepEqual(
        results.map((result) => (result.kind === "done" ? idIn(result.outs) : result.kind)),
        ["a", "init error", "c", "init error", "e", "init error"],
      );
      assert.deepEqual({ sent: server.requests.length, connections: server.connections }, { sent: 6, connections: 3 });
    });
  }

  const unused = "the server closes connections that are free for one second";
  testRow([59, unused, "create", passes], async (fixture) => {
    const closing = new Map<Socket, NodeJS.Timeout>();
    const { server } = await start(fixture, {});
    server.behave("POST", "reset-password", ({ socket, answer }) => {
      clearTimeout(closing.get(socket));
      answer(200);
      const close = (): unknown => socket.destroy();
      // What has arrived is read first, however late the timer is.
      closing.set(socket, setTimeout(() => setImmediate(close), 1000).unref());
    });
    const results: Result[] = [];
    for (let pauseMs = 700; pauseMs <= 1300; pauseMs += 50) {
      results.push(...(await resetAll(fixture, 2 * maxConcurrency, pauseMs)));
      await wait(pauseMs);
    }
    expectAllDone(results, fixture);
    assert.ok(server.connections > maxConcurrency, "some were closed");
  });

  testRow([60, "the server limits connections, and closes those above", "create", passes], async (fixture) => {
    let open = 0;
    let refused = 0;
    await start(fixture, secure);
    fixture.server.server.on("connection", (socket: Socket) => {
      if (++open > maxConcurrency) {
        refused++;
        socket.destroy();
      }
      socket.once("close", () => open--);
    });
    expectAllDone(await resetAll(fixture, 100), fixture);
    assert.equal(refused, 0);
  });
});
