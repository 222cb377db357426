import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { type Result } from "../support/host";
import { databasePath, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { databaseBody, databaseText } from "../support/platformBodies";
import { revealed } from "../support/wire";
import { type ServerOptions } from "../support/httpServer";
import { type Fixture } from "./fixture";

const maxConcurrency = 4;
const secure = { tls: certificate("good") };

/** How often each database was reset, by its path. */
const generations = new Map<string, number>();

/** The record of a database, whose password says how often it was reset. */
function bodyOfGeneration(method: string, path: string): string {
  const id = path.split("/").at(-1) ?? "";
  if (method === "POST") generations.set(id, (generations.get(id) ?? 0) + 1);
  return databaseText({ database_id: id, password: `pw-${generations.get(id) ?? 0}` });
}

describe("faults: connections that are kept", function () {
  /** A platform that can be read, so that resets have the connections of reads: other first resets have new ones. */
  const start = (fixture: Fixture, server: ServerOptions, more: Record<string, string | number> = {}) =>
    fixture.start({
      server,
      settings: () => ({ databasePath, maxConcurrency, ...(server.tls && { caFile }), ...more }),
    });

  const resetAll = ({ host }: Fixture, count: number, from = 0): Promise<Result[]> =>
    Promise.all(Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${from + nth}`))));

  function expectAllDone(results: readonly Result[], { server }: Fixture): void {
    for (const result of results) expectKind("done", result);
    assert.equal(server.count("POST", "reset-password"), results.length);
  }

  for (const [what, extra] of Object.entries({
    "the record of another database": databaseBody("another", { password: "canary-of-another" }),
    "a record without its id": JSON.stringify({ password: "canary-of-another" }),
  })) {
    const shifted = `a response to no request, ${what}, precedes that to a reset`;
    testRow(
      [33, shifted, "create", "never taken for that to the reset, what a read shows is saved"],
      async (fixture) => {
        const { server, host } = await start(fixture, { bodyOf: bodyOfGeneration }, { maxConcurrency: 1 });
        const kept = new Set<Socket>();
        let shifts = 0;
        server.behave("GET", "database", ({ socket, answer }) => {
          kept.add(socket);
          answer(200);
        });
        server.behave("POST", "reset-password", ({ socket, answer, body }) => {
          if (kept.has(socket)) answer(200, {}, extra);
          if (kept.has(socket)) shifts++;
          answer(200, {}, body);
        });
        for (const id of ["a", "b", "c", "d", "e", "f"]) {
          const { outs } = expectKind("done", await host.create(rotation(`${id}-${fixture.adapter}-${extra.length}`)));
          assert.equal(revealed(outs)["password"], "pw-1");
          assert.ok(!JSON.stringify(outs).includes("canary-of-another"));
        }
        assert.equal(shifts, 6);
        assert.equal(server.count("POST", "reset-password"), 6);
      },
    );
  }

  testRow(
    [60, "the server limits connections, and closes those above", "create", "passes; 1 sent"],
    async (fixture) => {
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
    },
  );
});
