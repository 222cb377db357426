import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { freePort } from "../support/redis";
import { caFile, certificate } from "./certificates";
import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, type Expected, fails, lost, retriedThenFails, succeeds } from "./expected";
import { Proxy, type ProxyBehaviour, stuckListener } from "./network";
import { type Behaviour, type ServerOptions } from "../support/httpServer";
import { type FixtureOptions } from "./fixture";

const at = (url: string) => ({ baseUrl: url, queueUrl: url });
const atPort: FixtureOptions["settings"] = ({ port }) => at(`https://127.0.0.1:${port}`);
const ip6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
const both = [
  { address: "::1", family: 6 },
  { address: "127.0.0.1", family: 4 },
] as const;

/** Describes a fault on the way to a platform that works. */
function describeFault(
  row: number,
  fault: string,
  options: FixtureOptions,
  expected: Pick<Fault, "read" | "reset">,
): void {
  describeFaults(`faults: ${fault}`, options, [{ row, fault, ...expected }]);
}

const refused = everywhere(retriedThenFails(0, /ECONNREFUSED.*3 attempts/));
for (const [name, host] of Object.entries({ IPv4: "127.0.0.1", ...(ip6 && { IPv6: "[::1]" }) })) {
  const options = { settings: async () => at(`http://${host}:${await freePort()}`) };
  describeFault(1, `connection refused (${name})`, options, refused);
}
const refusedByBoth = { settings: async () => at(`https://platform.test:${await freePort()}`), lookup: both };
describeFault(1, "connection refused (IPv6 and IPv4)", refusedByBoth, refused);

const named: FixtureOptions = { settings: () => at("https://platform.test") };
const notFound = { reset: fails(0, /not found/, /rekey:baseUrl/), read: fails(0, /not found/) };
describeFault(2, "host not found", { ...named, lookup: "ENOTFOUND" }, notFound);
const busy = everywhere(retriedThenFails(0, /EAI_AGAIN.*3 attempts/s));
describeFault(3, "EAI_AGAIN", { ...named, lookup: "EAI_AGAIN" }, busy);

const secure = (name: Parameters<typeof certificate>[0], trust = true): FixtureOptions => ({
  server: { tls: certificate(name) },
  settings: () => (trust ? { caFile } : {}),
});
const handshake = (accept: NonNullable<ServerOptions["accept"]>): FixtureOptions => ({
  server: { accept },
  settings: atPort,
});
const untrusted = /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const noTls = handshake((socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
const certificates: Record<string, { options: FixtureOptions; says: RegExp }> = {
  "expired certificate": { options: secure("expired"), says: /CERT_HAS_EXPIRED/ },
  "certificate of another host": { options: secure("otherHost"), says: /ALTNAME_INVALID/ },
  "foreign certificate": { options: secure("foreign"), says: untrusted },
  "certificate of an authority that is not configured": { options: secure("good", false), says: untrusted },
  "no TLS there": { options: noTls, says: /EPROTO|ERR_SSL|no secure connection/ },
};
for (const [fault, { options, says }] of Object.entries(certificates)) {
  describeFault(4, fault, options, everywhere(fails(0, says)));
}
const switchedOff = { ...secure("foreign"), preload: 'process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"' };
const insecure = "foreign certificate, and NODE_TLS_REJECT_UNAUTHORIZED is 0";
describeFault(4, insecure, switchedOff, everywhere(fails(0, untrusted)));
describeFault(4, "certificate of the authority in rekey:caFile", secure("good"), everywhere(succeeds()));
const ip4Only: FixtureOptions = {
  ...secure("good"),
  settings: ({ port }) => ({ ...at(`https://platform.test:${port}`), caFile }),
  lookup: both,
};
describeFault(1, "refused on IPv6, accepted on IPv4", ip4Only, everywhere(succeeds()));

const tooLate = /(ETIMEDOUT|timed out).*[23] attempts/s;
const cut = /ECONNRESET.*3 attempts/s;
const resetsHandshake = handshake((socket) => socket.once("data", () => socket.resetAndDestroy()));
const handshakes: Record<string, { options: FixtureOptions; says: RegExp }> = {
  reset: { options: resetsHandshake, says: cut },
  closed: { options: handshake((socket) => socket.once("data", () => socket.end())), says: cut },
  stalled: { options: { ...handshake(() => undefined), deadlineSeconds: 4 }, says: /speak TLS.*[23] attempts/s },
};
for (const [how, { options, says }] of Object.entries(handshakes)) {
  describeFault(5, `TLS handshake ${how}`, options, everywhere(retriedThenFails(0, says)));
}

const stuckPort: FixtureOptions = {
  deadlineSeconds: 3,
  settings: async (_server, fixture) => at(`http://127.0.0.1:${fixture.closes(await stuckListener()).port}`),
};
describeFault(6, "connect timeout", stuckPort, everywhere(retriedThenFails(0, tooLate)));

const proxies: Proxy[] = [];
const behind = (behaviour: ProxyBehaviour, { settings, ...more } = secure("good")): FixtureOptions => ({
  ...more,
  settings: async (server, fixture) => {
    const own = fixture.closes(await Proxy.start(behaviour));
    proxies.push(own);
    const proxy = `http://user:canary-proxy-password@127.0.0.1:${own.port}`;
    return { ...(await settings?.(server, fixture)), proxy };
  },
});
const closedProxy = {
  ...secure("good"),
  settings: async () => ({ caFile, proxy: `http://127.0.0.1:${await freePort()}` }),
};
const noProxy = /proxy could not be reached/;
const checkProxy = { reset: fails(0, noProxy, /rekey:proxy/), read: fails(0, noProxy) };
describeFault(7, "proxy refuses TCP", closedProxy, checkProxy);
for (const answers of [502, 407, 302]) {
  const expected: Expected = fails(0, new RegExp(`proxy.*${answers}`));
  describeFault(7, `proxy responds to CONNECT with ${answers}`, behind({ answers }), everywhere(expected));
}
const silentProxy = behind({ answers: "silent" }, { ...secure("good"), deadlineSeconds: 2 });
describeFault(7, "proxy does not respond to CONNECT", silentProxy, everywhere(fails(0, noProxy)));
/** The proxy resets its own connection then. */
const closing: Behaviour = ({ socket }) => void socket.destroy();
describeFaults(
  "faults: through a proxy",
  behind({}),
  [
    { row: 7, fault: "proxy opens the connection", ...everywhere(succeeds()) },
    { row: 9, fault: "reset after the request was read, behind a proxy", platform: closing, ...lost() },
  ],
  [
    {
      title: [7, "proxy opens the connection", "credentials", "sent to the proxy alone; 1 sent"],
      test: ({ server }) => {
        const basic = Buffer.from("user:canary-proxy-password").toString("base64");
        const heads = proxies.flatMap((proxy) => proxy.heads);
        assert.ok(heads.every((head) => head.includes(`Proxy-Authorization: Basic ${basic}`)));
        assert.ok(heads.every((head) => !/^authorization:/im.test(head)));
        assert.ok(server.requests.every(({ headers }) => !headers.authorization?.includes(basic)));
      },
    },
  ],
);
const foreign = behind({}, secure("foreign"));
describeFault(4, "foreign certificate behind a proxy", foreign, everywhere(fails(0, /UNABLE_TO/)));
const reset = everywhere(retriedThenFails(0, /3 attempts/));
describeFault(5, "TLS handshake reset behind a proxy", behind({}, resetsHandshake), reset);
