import { networkInterfaces } from "node:os";
import { freePort } from "../../local/platform/redisServer";
import { caFile, certificate } from "./certificates";
import { describeFaults, type Fault } from "./describeFaults";
import { B, F, passes } from "./expected";
import { stuckListener } from "./stuckListener";
import { type WorldOptions } from "./world";

const at = (url: string) => () => ({ baseUrl: url, queueUrl: url });
const well: Pick<Fault, "platform"> = { platform: ({ answer }) => answer(200) };
const ip6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
const both = [
  { address: "::1", family: 6 },
  { address: "127.0.0.1", family: 4 },
] as const;

const refused = { reset: B(0, /refused \(ECONNREFUSED\), 3 times/), read: B(0, /3 times/) };
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

const unknownHost = /host was not found/;
describeFaults("faults: host not found", { settings: at("https://platform.test"), lookup: "ENOTFOUND" }, [
  { row: 2, fault: "host not found", ...well, reset: F(0, unknownHost, /rekey:baseUrl/), read: F(0, unknownHost) },
]);
describeFaults("faults: name service busy", { settings: at("https://platform.test"), lookup: "EAI_AGAIN" }, [
  { row: 3, fault: "EAI_AGAIN", ...well, reset: B(0, /EAI_AGAIN.*3 times/s), read: B(0, /EAI_AGAIN.*3 times/s) },
]);

const secure = (name: Parameters<typeof certificate>[0], trust = true): WorldOptions => ({
  server: { tls: certificate(name) },
  settings: () => (trust ? { caFile } : {}),
});
const certificates: [fault: string, options: WorldOptions, says: RegExp][] = [
  ["expired certificate", secure("expired"), /CERT_HAS_EXPIRED/],
  ["certificate of another host", secure("otherHost"), /ALTNAME_INVALID/],
  ["foreign certificate", secure("foreign"), /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/],
  ["certificate of an authority that nobody named", secure("good", false), /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/],
  [
    "no TLS there",
    {
      server: { accept: (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")) },
      settings: ({ port }) => at(`https://127.0.0.1:${port}`)(),
    },
    /EPROTO|ERR_SSL|no secure connection/,
  ],
];
for (const [fault, options, says] of certificates) {
  describeFaults(`faults: ${fault}`, options, [{ row: 4, fault, ...well, reset: F(0, says), read: F(0, says) }]);
}
describeFaults("faults: TLS with a named authority", secure("good"), [
  { row: 4, fault: "certificate of the authority in rekey:caFile", ...well, reset: passes(), read: passes() },
]);
describeFaults(
  "faults: TLS on one of two addresses",
  {
    server: { tls: certificate("good") },
    settings: ({ port }) => ({ ...at(`https://platform.test:${port}`)(), caFile }),
    lookup: both,
  },
  [{ row: 1, fault: "refused on IPv6, answered on IPv4", ...well, reset: passes(), read: passes() }],
);

describeFaults(
  "faults: TLS handshake reset",
  {
    server: { accept: (socket) => socket.once("data", () => socket.resetAndDestroy()) },
    settings: ({ port }) => at(`https://127.0.0.1:${port}`)(),
  },
  [{ row: 5, fault: "TLS handshake reset", ...well, reset: B(0, /ECONNRESET.*3 times/s), read: B(0, /3 times/) }],
);
describeFaults(
  "faults: TLS handshake closed",
  {
    server: { accept: (socket) => socket.once("data", () => socket.end()) },
    settings: ({ port }) => at(`https://127.0.0.1:${port}`)(),
  },
  [{ row: 5, fault: "TLS handshake closed", ...well, reset: B(0, /ECONNRESET.*3 times/s), read: B(0, /3 times/) }],
);
const tooLate = /(ETIMEDOUT|within the deadline).*[23] times/s;
describeFaults(
  "faults: TLS handshake stalled",
  {
    server: { accept: () => undefined },
    settings: ({ port }) => at(`https://127.0.0.1:${port}`)(),
    deadlineSeconds: 3,
  },
  [{ row: 5, fault: "TLS handshake stalled", ...well, reset: B(0, tooLate), read: B(0, tooLate) }],
);

let stuck: Awaited<ReturnType<typeof stuckListener>> | undefined;
describeFaults(
  "faults: connect timeout",
  async () => {
    stuck = await stuckListener();
    return { settings: at(`http://127.0.0.1:${stuck.port}`), deadlineSeconds: 3, close: async () => stuck?.close() };
  },
  [{ row: 6, fault: "connect timeout", ...well, reset: B(0, tooLate), read: B(0, tooLate) }],
);
