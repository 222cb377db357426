import assert from "node:assert/strict";
import { type Socket } from "node:net";
import { startPlatform } from "../../local/platform/index";
import { settingsFor, rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { testRow } from "./describeFaults";
import { act } from "./phases";
import { type Behaviour, once } from "../support/httpServer";
import { type Fixture } from "./fixture";

const reset = ({ host }: Fixture, id: string) => host.create(rotation(id));
const succeeds = async (fixture: Fixture, ids: readonly string[]) => {
  for (const result of await Promise.all(ids.map((id) => reset(fixture, id)))) expectKind("done", result);
};
const meet = ({ server }: Fixture, ids: readonly string[], behaviour: Behaviour) => {
  for (const id of ids) server.behave("POST", id, behaviour);
};
const posts = ({ server }: Fixture) => server.requests.filter(({ method }) => method === "POST").length;

describe("faults: the request queue", () => {
  const stale = "stale keep-alive socket";
  testRow([8, stale, "read, counter reset", "bounded retry, then passes; 2 sent"], async (fixture) => {
    const { server } = await fixture.start();
    const used = new WeakSet<Socket>();
    for (const key of ["orders", "emails"]) {
      for (const method of ["GET", "POST"]) {
        server.behave(method, key, ({ socket, answer }) => {
          if (used.has(socket)) return void socket.resetAndDestroy();
          used.add(socket);
          answer(200);
        });
      }
    }
    await fixture.read("orders");
    assert.equal(expectKind("done", await fixture.read("orders")).outs["exists"], true);
    assert.equal(server.count("GET", "orders"), 3);
    expectKind("done", await act("counter reset", fixture, "emails"));
    assert.equal(server.count("POST", "emails"), 2);
  });

  testRow([25, "429 with 1 second", "all requests", "the whole queue waits"], async (fixture) => {
    await fixture.start({ settings: () => ({ maxConcurrency: 1 }) });
    let limitedAt = 0;
    const times: number[] = [];
    const limited = once(({ answer }) => {
      limitedAt = performance.now();
      answer(429, { "retry-after": "1" }, "{}");
    });
    meet(fixture, ["limited"], limited);
    meet(fixture, ["b", "c"], ({ answer }) => {
      times.push(performance.now());
      answer(200);
    });
    const first = succeeds(fixture, ["limited"]);
    await until(() => limitedAt > 0);
    await Promise.all([first, succeeds(fixture, ["b", "c"])]);
    for (const time of times) assert.ok(time - limitedAt > 950, `sent ${time - limitedAt} ms after the response`);
    assert.equal(posts(fixture), 4);
  });

  const burst = "429 with Burst-RateLimit-Reset, and the preset";
  testRow([25, burst, "create", "the whole queue waits, then passes"], async (fixture) => {
    const keys = Array.from({ length: 12 }, (_, nth) => `key-${nth}`);
    const platform = fixture.closes(await startPlatform({ requestsPerSecond: 4, databases: keys }));
    const settings = settingsFor(platform, { platform: "upstash", databasePath: "none" });
    const host = await fixture.startHost({ settings });
    const results = await Promise.all(keys.map((key) => host.create(rotation(key))));
    for (const result of results) expectKind("done", result);
    assert.equal(platform.resetCount, keys.length);
  });

  testRow([10, "slow responses", "queued", "a deadline starts when a request is first sent"], async (fixture) => {
    await fixture.start({ deadlineSeconds: 4, settings: () => ({ maxConcurrency: 1 }) });
    const ids = ["a", "b", "c"];
    meet(fixture, ids, ({ answer }) => void setTimeout(() => answer(200), 2_000));
    await succeeds(fixture, ids);
  });

  testRow([52, "more resets than maxResetsPerRun", "create", "fails, state kept; 0 sent"], async (fixture) => {
    await fixture.start({ settings: () => ({ maxResetsPerRun: 2 }) });
    await succeeds(fixture, ["a", "b"]);
    const { message } = expectKind("failed", await reset(fixture, "c"));
    assert.match(message, /nothing was changed.*rekey:maxResetsPerRun/);
    assert.equal(posts(fixture), 2);
  });
});
