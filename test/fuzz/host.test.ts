import assert from "node:assert/strict";
import fc from "fast-check";
import { Host } from "../support/host";
import { type Behaviour, type HttpServer, responding, startServer } from "../support/httpServer";
import { configurationFor, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { fuzz } from "./settings";

const credentials = { username: "admin", password: "canary-password", queueToken: "canary-token" };

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

  it("handles whatever bytes the platform sends, with one request", async () => {
    let version = 0;
    const bytes = fc.uint8Array({ maxLength: 200 });
    const encoding = fc.constantFrom(undefined, "gzip", "br", "deflate", "identity", "x-unknown", "gzip, gzip");
    const status = fc.constantFrom(200, 201, 202, 204, 299, 301, 303, 304, 400, 404, 409, 451, 500, 599);
    await fc.assert(
      fc.asyncProperty(bytes, encoding, status, async (body, contentEncoding, code) => {
        const before = server.requests.length;
        const sent = code === 204 || code === 304 ? "" : body;
        reply = responding(code, sent, contentEncoding === undefined ? {} : { "content-encoding": contentEncoding });
        const result = await host.create(rotation("db", { version: String(version++) }));
        assert.notEqual(result.kind, "done");
        assert.equal(server.requests.length - before, 1);
        assert.ok(!`${JSON.stringify(result)}${host.stderr}`.includes("canary"));
      }),
      fuzz(60),
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
    assert.match(tooLong.kind === "done" ? "" : tooLong.message, /^Could not reset the password of database "/);
    reply = responding(500, "{}");
    const result = await host.create(rotation("é".repeat(1_500)));
    assert.match(expectKind("init error", result).message, /may have been changed/);
  });
});
