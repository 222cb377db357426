import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { NotSentError } from "../../provider/api/errors/notSentError";
import { freshness, requireEngine } from "../../provider/engineWatch";

const consequences = { "not sent": "nothing changed", rejected: "nothing changed", "maybe applied": "it may have" };
const facts = { purpose: "reset a password", method: "POST", url: "http://127.0.0.1/", consequences } as const;

describe("the engine's watch", () => {
  it("looks once for all that ask at the same time, and anew after that", async () => {
    const later = () => new Promise((resolve) => setTimeout(resolve, 2 * freshness));
    let connections = 0;
    const server = createServer((socket) => void (connections++, socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await Promise.all(Array.from({ length: 8 }, () => requireEngine(address, facts)));
    await later();
    await requireEngine(address, facts);
    await new Promise((resolve) => server.close(resolve));
    await later();
    assert.equal(connections, 2);
    await assert.rejects(requireEngine(address, facts), NotSentError);
  });
});
