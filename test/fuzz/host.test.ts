import assert from "node:assert/strict";
import fc from "fast-check";
import { Host } from "../support/host";
import { type Behaviour, type HttpServer, responding, startServer } from "../support/httpServer";
import { configurationFor, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { isSecret } from "../support/wire";
import { type Answer, answer, databaseId } from "./answers";
import { assertCredentialsKept, isUsable } from "./assertions";
import { fuzz } from "./settings";

const credentials = { username: "admin", password: "canary-password", queueToken: "canary-token" };
/** Mostly the status of success: the others are read in the same way for every body. */
const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant(200) },
  { weight: 4, arbitrary: fc.constantFrom(201, 202, 204, 206, 299, 301, 303, 304, 400, 401, 403, 404, 409, 422, 451) },
  { weight: 1, arbitrary: fc.constantFrom(500, 501, 505, 599) },
);

describe("fuzz: the real host, over a socket", () => {
  let reply: Behaviour = () => undefined;
  let server: HttpServer;
  let host: Host;
  before(async () => {
    server = await startServer((exchange) => reply(exchange));
    const config = configurationFor({ url: server.url, ...credentials }, { deadlineSeconds: 5 });
    host = await Host.start({ config });
  });
  after(async () => {
    await host.stop();
    await server.close();
  });

  let run = 0;
  const create = (version = String(run++)) => host.create(rotation(databaseId, { version }));

  it("handles whatever the platform sends, with one request, and keeps each credential", async () => {
    await fc.assert(
      fc.asyncProperty(answer, status, async (sent, code) => {
        const before = server.requests.length;
        // On a kept connection, a record without an id is not used.
        reply = responding(code, code === 204 || code === 304 ? "" : sent.text, { connection: "close" });
        const result = await create();
        assert.equal(server.requests.length - before, 1);
        if (code === 200 || code === 201) assertHandled(sent, result);
        else assert.notEqual(result.kind, "done");
        assert.ok(!JSON.stringify(result).includes("canary"));
      }),
      fuzz(100),
    );
    assert.ok(!host.stderr.includes("canary"));
  });

  function assertHandled(sent: Answer, result: Awaited<ReturnType<typeof create>>): void {
    // Text that UTF-8 cannot encode was altered in transit.
    const arrived = Buffer.from(sent.text).toString() === sent.text;
    if (result.kind === "done") {
      if (!arrived) return;
      assertCredentialsKept(sent, result.outs);
      for (const name of ["password", "restToken", "otherFields"]) {
        assert.ok(result.outs[name] === undefined || isSecret(result.outs[name]), name);
      }
    } else {
      assert.equal(result.kind, "init error");
      assert.ok(!arrived || !isUsable(sent), "the reset was applied, but its response was not used");
    }
  }

  it("handles whatever bytes the platform sends", async () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    const encoding = fc.constantFrom(undefined, "gzip", "br", "deflate", "identity", "x-unknown", "gzip, gzip");
    await fc.assert(
      fc.asyncProperty(bytes, encoding, fc.constantFrom(200, 400, 500), async (body, contentEncoding, code) => {
        reply = responding(code, body, contentEncoding === undefined ? {} : { "content-encoding": contentEncoding });
        assert.notEqual((await create()).kind, "done");
      }),
      fuzz(30),
    );
  });

  it("shows an error however long its text is: a trailer that is too large would get no response", async () => {
    reply = responding(400, "{}");
    for (const id of ["x".repeat(8_000), "é".repeat(2_000), "\u0001".repeat(4_000)]) {
      const result = await host.create(rotation(id));
      assert.match(expectKind("failed", result).message, /^Could not reset the password of database "/);
    }
    // The server refuses a path that is too long, or cuts the connection.
    const tooLong = await host.create(rotation("x".repeat(100_000)));
    if (tooLong.kind === "done") assert.equal(tooLong.outs["outcome"], "unknown");
    else assert.match(tooLong.message, /^Could not reset the password of database "/);
    reply = responding(500, "{}");
    const result = await host.create(rotation("é".repeat(1_500)));
    assert.match(expectKind("init error", result).message, /may have been changed/);
  });
});
