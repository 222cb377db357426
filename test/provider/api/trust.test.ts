import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo } from "node:net";
import { mock } from "node:test";
import tls from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { Connections } from "../../../provider/api/connections";
import { type ConnectionError } from "../../../provider/api/openConnection";
import { trusting } from "../../../provider/api/openConnection";
import { caFile, certificate } from "../../faults/certificates";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/runAsync";

const foreign = String(certificate("foreign").cert);

describe("TLS with rekey:caFile", () => {
  const named = process.env["NODE_EXTRA_CA_CERTS"];
  before(() => delete process.env["NODE_EXTRA_CA_CERTS"]);
  after(() => named === undefined || (process.env["NODE_EXTRA_CA_CERTS"] = named));

  it("trusts it in addition to the well-known certificates, which are read once for all connections", async () => {
    const server = createServer(certificate("good")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const made = mock.method(tls, "createSecureContext");
    const connections = new Connections({ extraCertificates: foreign });
    for (let request = 0; request < 3; request++) {
      const use = { timeoutMs: 5_000, state: { sent: false }, beforeSend: async () => undefined };
      const sending = connections.transportFor(url, use).request({ host: url.hostname }, () => undefined);
      const [{ code }] = (await once(sending, "error")) as [ConnectionError];
      assert.deepEqual([code, use.state.sent], ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", false]);
    }
    server.close();
    assert.equal(made.mock.callCount(), 1);
    const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
    made.mock.restore();
    assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, foreign]));
  });

  for (const [what, file, named] of [
    ["the file of NODE_EXTRA_CA_CERTS", caFile, [readFileSync(caFile, "utf8")]],
    ["nothing else if that file cannot be read", "/nowhere/ca.pem", []],
    ["nothing else if it is not set", "", []],
  ] as const) {
    it(`adds ${what} to the trusted certificates`, () => {
      const made = mock.method(tls, "createSecureContext");
      process.env["NODE_EXTRA_CA_CERTS"] = file;
      try {
        trusting(foreign);
        const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
        assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, ...named, foreign]));
      } finally {
        delete process.env["NODE_EXTRA_CA_CERTS"];
        made.mock.restore();
      }
    });
  }

  for (const [whom, file, expected] of [
    ["what NODE_EXTRA_CA_CERTS names, too", caFile, "200"],
    ["nobody else", "", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    ["nobody else where NODE_EXTRA_CA_CERTS names no file", "/nowhere/ca.pem", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ] as const) {
    it(`trusts ${whom}`, async () => {
      const server = createServer(certificate("good"), (_, answer) => answer.end()).listen(0, "127.0.0.1");
      await once(server, "listening");
      const source = `
        const { trusting } = require("./provider/api/openConnection");
        const port = ${(server.address() as AddressInfo).port};
        const trust = trusting(${JSON.stringify(foreign)});
        require("node:https").get({ host: "127.0.0.1", port, ...trust }, ({ statusCode }) => console.log(statusCode))
          .on("error", ({ code }) => console.log(code));`;
      const args = ["-r", "ts-node/register/transpile-only", "-e", source];
      const run = await runAsync(process.execPath, args, { cwd: projectRoot, env: { NODE_EXTRA_CA_CERTS: file } });
      server.close();
      assert.equal(run.output.trim().split("\n").at(-1), expected);
    });
  }
});
