import assert from "node:assert/strict";
import { caFile, certificate } from "./certificates";
import { describeFaults, type Fault } from "./describeFaults";
import { everywhere, fails, lost, retriedThenFails, succeeds } from "./expected";
import { Proxy, type ProxyBehaviour } from "./proxy";
import { type WorldOptions } from "./world";

const well: Pick<Fault, "platform"> = { platform: ({ answer }) => answer(200) };
const credentials = "user:canary-proxy-password@";
let proxy: Proxy;

function behind(behaviour: ProxyBehaviour, more: WorldOptions = {}): () => Promise<WorldOptions> {
  return async () => {
    const own = await Proxy.start(behaviour);
    proxy = own;
    return {
      ...more,
      settings: async (server) => ({
        ...(await more.settings?.(server)),
        proxy: `http://${credentials}127.0.0.1:${own.port}`,
      }),
      close: () => own.close(),
    };
  };
}

const gone = /the proxy could not be reached/;
describeFaults(
  "faults: proxy gone",
  async () => {
    const own = await Proxy.start();
    const { port } = own;
    await own.close();
    return { settings: () => ({ proxy: `http://127.0.0.1:${port}` }) };
  },
  [{ row: 7, fault: "proxy refuses TCP", ...well, reset: fails(0, gone, /Check rekey:proxy/), read: fails(0, gone) }],
);
for (const answers of [502, 407, 302]) {
  const says = new RegExp(`the proxy answered ${answers}`);
  describeFaults(`faults: proxy answers ${answers}`, behind({ answers }), [
    { row: 7, fault: `proxy answers CONNECT with ${answers}`, ...well, ...everywhere(fails(0, says)) },
  ]);
}
describeFaults("faults: silent proxy", behind({ answers: "silent" }, { deadlineSeconds: 2 }), [
  { row: 7, fault: "proxy does not answer CONNECT", ...well, ...everywhere(fails(0, gone)) },
]);

describeFaults(
  "faults: through a proxy",
  behind({}),
  [
    { row: 7, fault: "proxy opens the way", ...well, ...everywhere(succeeds()) },
    {
      row: 9,
      fault: "reset after the request was read, behind a proxy",
      platform: ({ socket }) => void socket.resetAndDestroy(),
      ...lost(),
    },
  ],
  [
    {
      title: "7 · proxy opens the way · credentials · sent to the proxy alone; 1 sent",
      test: ({ server }) => {
        const basic = Buffer.from("user:canary-proxy-password").toString("base64");
        assert.ok(proxy.heads.every((head) => head.includes(`Proxy-Authorization: Basic ${basic}`)));
        assert.ok(proxy.heads.every((head) => !/^authorization:/im.test(head)));
        assert.ok(server.requests.every(({ authorization }) => !authorization.includes(basic)));
      },
    },
  ],
);
const secure = (name: "good" | "foreign"): WorldOptions => ({
  server: { tls: certificate(name) },
  settings: () => ({ caFile }),
});
describeFaults("faults: TLS through a proxy", behind({}, secure("good")), [
  { row: 7, fault: "proxy opens the way, TLS with rekey:caFile", ...well, ...everywhere(succeeds()) },
]);
describeFaults("faults: foreign certificate through a proxy", behind({}, secure("foreign")), [
  { row: 4, fault: "foreign certificate behind a proxy", ...well, ...everywhere(fails(0, /UNABLE_TO/)) },
]);
describeFaults(
  "faults: TLS handshake reset behind a proxy",
  behind(
    {},
    {
      server: { accept: (socket) => socket.once("data", () => socket.resetAndDestroy()) },
      settings: ({ port }) => ({ baseUrl: `https://127.0.0.1:${port}`, queueUrl: `https://127.0.0.1:${port}` }),
    },
  ),
  [{ row: 5, fault: "TLS handshake reset behind a proxy", ...well, ...everywhere(retriedThenFails(0, /3 times/)) }],
);
