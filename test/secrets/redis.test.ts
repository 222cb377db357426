import assert from "node:assert/strict";
import { leaksOf } from "../support/canaries";
import { adapters, Host } from "../support/host";
import { hostCalls, Stack } from "../support/stack";
import { withoutSecrets } from "../support/wire";
import { usersOfPlatform } from "../faults/userOfServer";

/** Prints all that diagnostics channels publish: those of Node, and each that a module of the process makes. */
const preload = `
import channels from "node:diagnostics_channel";
import { inspect } from "node:util";
process.env.DEBUG = "*";
const print = (message, name) => process.stderr.write("[" + String(name) + "] " + inspect(message, { depth: 8, showHidden: true }) + "\\n");
const make = channels.channel;
const seen = new Set();
channels.channel = (name) => {
  if (!seen.has(name)) channels.subscribe(name, print);
  seen.add(name);
  return make(name);
};
for (const name of ["net.client.socket", "ioredis:command", "ioredis:connect"]) channels.channel(name);
for (const name of ["start", "end", "asyncStart", "asyncEnd", "error"]) {
  for (const of of ["ioredis:command", "ioredis:batch", "node-redis:command"]) channels.channel("tracing:" + of + ":" + name);
}
`;

describe("secrets: users of a Redis", () => {
  for (const adapter of adapters) {
    it(`are not in debug output, diagnostics channels or messages of the ${adapter} adapter`, async () => {
      const { platform, server } = await usersOfPlatform();
      const host = await Host.start({ adapter, preload });
      try {
        const former = await server.makeUser("app");
        const user = new Stack(hostCalls(host, "AclUserRotation"));
        const inputs = {
          userName: "app",
          admin: { host: "127.0.0.1", port: server.port, tls: false, ...server.admin },
        };
        await user.up({ ...inputs, version: 1 });
        const { password: first } = user.plain;
        await user.up({ ...inputs, version: 2 });
        const { password: second } = user.plain;
        assert.match(host.said, /\[net\.client\.socket\]/, "what channels publish is printed");
        const canaries = {
          "admin's password": server.admin.password,
          "former token": former,
          "first token": String(first),
          "second token": String(second),
        };
        const shown = host.said + JSON.stringify(withoutSecrets(user.saved?.outputs ?? {}));
        assert.deepEqual(leaksOf(shown, canaries), []);
      } finally {
        await host.stop();
        await platform.close();
      }
    });
  }
});
