import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo } from "node:net";
import { mock } from "node:test";
import tls from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { Connections } from "../../../provider/platform/agents";
import { type ConnectionError, trusting } from "../../../provider/platform/openConnection";
import { caFile, certificate } from "../../faults/certificates";

const foreign = String(certificate("foreign").cert);
const unverified = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";

describe("TLS with rekey:caFile", () => {
  const named = process.env["NODE_EXTRA_CA_CERTS"];
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer(certificate("good")).listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => delete process.env["NODE_EXTRA_CA_CERTS"]);
  afterEach(() => {
    delete process.env["NODE_EXTRA_CA_CERTS"];
    mock.restoreAll();
  });
  after(() => {
    server.close();
    if (named !== undefined) process.env["NODE_EXTRA_CA_CERTS"] = named;
  });

  it("trusts it in addition to the well-known certificates, which are read once for all connections", async () => {
    const url = new URL(`https://127.0.0.1:${port}`);
    const made = mock.method(tls, "createSecureContext");
    const connections = new Connections({ extraCertificates: foreign });
    for (let request = 0; request < 3; request++) {
      const deadline = { deadlineMs: 15_000, endsAtMs: performance.now() + 15_000 };
      const use = { deadline, state: { sent: false } };
      const sending = connections
        .transportFor(url, use)
        .request({ protocol: url.protocol, host: url.hostname }, () => undefined);
      const [{ code }] = (await once(sending, "error")) as [ConnectionError];
      assert.deepEqual({ code, sent: use.state.sent }, { code: unverified, sent: false });
    }
    assert.equal(made.mock.callCount(), 1);
    const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
    assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, foreign]));
  });

  for (const { title, file, added, expected } of [
    { title: "that file", file: caFile, added: [readFileSync(caFile, "utf8")], expected: "trusted" },
    { title: "nothing if that file cannot be read", file: "/nowhere/ca.pem", added: [], expected: unverified },
    { title: "nothing if it is empty", file: "", added: [], expected: unverified },
  ]) {
    it(`with NODE_EXTRA_CA_CERTS adds ${title}`, async () => {
      process.env["NODE_EXTRA_CA_CERTS"] = file;
      const made = mock.method(tls, "createSecureContext");
      const socket = tls.connect({ host: "127.0.0.1", port, ...trusting(foreign) });
      const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
      assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, ...added, foreign]));
      const failure = ({ code }: ConnectionError) => code;
      assert.equal(await once(socket, "secureConnect").then(() => "trusted", failure), expected);
      socket.destroy();
    });
  }
});
