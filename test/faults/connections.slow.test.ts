import { type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { freePort } from "../../local/platform/redisServer";
import { caFile, certificate } from "./certificates";
import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, fails, retriedThenFails, succeeds } from "./expected";
import { stuckListener } from "./stuckListener";
import { type WorldOptions } from "./world";

const at = (url: string) => () => ({ baseUrl: url, queueUrl: url });
const well: Pick<Fault, "platform"> = { platform: ({ answer }) => answer(200) };
const ip6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
const both = [
  { address: "::1", family: 6 },
  { address: "127.0.0.1", family: 4 },
] as const;

const refused = everywhere(retriedThenFails(0, /refused \(ECONNREFUSED\), 3 times/));
describeFaults("faults: refused on IPv4", async () => ({ settings: at(`http://127.0.0.1:${await freePort()}`) }), [
  { row: 1, fault: "connection refused (IPv4)", ...well, ...refused },
]);
if (ip6) {
  describeFaults("faults: refused on IPv6", async () => ({ settings: at(`http://[::1]:${await freePort()}`) }), [
    { row: 1, fault: "connection refused (IPv6)", ...well, ...refused },
  ]);
}
describeFaults(
  "faults: refused on both",
  async () => ({ settings: at(`https://platform.test:${await freePort()}`), lookup: both }),
  [{ row: 1, fault: "connection refused (IPv6 and IPv4)", ...well, ...refused }],
);

const tooLate = /(ETIMEDOUT|within the deadline).*[23] times/s;
const unknownHost = /host was not found/;
describeFaults("faults: host not found", { settings: at("https://platform.test"), lookup: "ENOTFOUND" }, [
  {
    row: 2,
    fault: "host not found",
    ...well,
    reset: fails(0, unknownHost, /rekey:baseUrl/),
    read: fails(0, unknownHost),
  },
]);
describeFaults("faults: name service busy", { settings: at("https://platform.test"), lookup: "EAI_AGAIN" }, [
  { row: 3, fault: "EAI_AGAIN", ...well, ...everywhere(retriedThenFails(0, /EAI_AGAIN.*3 times/s)) },
]);

const secure = (name: Parameters<typeof certificate>[0], trust = true): WorldOptions => ({
  server: { tls: certificate(name) },
  settings: () => (trust ? { caFile } : {}),
});
const untrusted = /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const noTls: WorldOptions = {
  server: { accept: (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")) },
  settings: ({ port }) => at(`https://127.0.0.1:${port}`)(),
};
const certificates: Record<string, { options: WorldOptions; says: RegExp }> = {
  "expired certificate": { options: secure("expired"), says: /CERT_HAS_EXPIRED/ },
  "certificate of another host": { options: secure("otherHost"), says: /ALTNAME_INVALID/ },
  "foreign certificate": { options: secure("foreign"), says: untrusted },
  "certificate of an authority that nobody named": { options: secure("good", false), says: untrusted },
  "no TLS there": { options: noTls, says: /EPROTO|ERR_SSL|no secure connection/ },
};
for (const [fault, { options, says }] of Object.entries(certificates)) {
  describeFaults(`faults: ${fault}`, options, [{ row: 4, fault, ...well, ...everywhere(fails(0, says)) }]);
}
describeFaults("faults: TLS with a named authority", secure("good"), [
  { row: 4, fault: "certificate of the authority in rekey:caFile", ...well, ...everywhere(succeeds()) },
]);
describeFaults(
  "faults: TLS on one of two addresses",
  {
    server: { tls: certificate("good") },
    settings: ({ port }) => ({ ...at(`https://platform.test:${port}`)(), caFile }),
    lookup: both,
  },
  [{ row: 1, fault: "refused on IPv6, answered on IPv4", ...well, ...everywhere(succeeds()) }],
);

const handshakes: Record<string, { accept: (socket: Socket) => void; says: RegExp }> = {
  reset: { accept: (socket) => socket.once("data", () => socket.resetAndDestroy()), says: /ECONNRESET.*3 times/s },
  closed: { accept: (socket) => socket.once("data", () => socket.end()), says: /ECONNRESET.*3 times/s },
  stalled: { accept: () => undefined, says: tooLate },
};
for (const [how, { accept, says }] of Object.entries(handshakes)) {
  const fault = `TLS handshake ${how}`;
  describeFaults(
    `faults: ${fault}`,
    { server: { accept }, settings: ({ port }) => at(`https://127.0.0.1:${port}`)(), deadlineSeconds: 4 },
    [{ row: 5, fault, ...well, ...everywhere(retriedThenFails(0, says)) }],
  );
}

let stuck: Awaited<ReturnType<typeof stuckListener>> | undefined;
describeFaults(
  "faults: connect timeout",
  async () => {
    stuck = await stuckListener();
    return { settings: at(`http://127.0.0.1:${stuck.port}`), deadlineSeconds: 3, close: async () => stuck?.close() };
  },
  [{ row: 6, fault: "connect timeout", ...well, ...everywhere(retriedThenFails(0, tooLate)) }],
);
