import assert from "node:assert/strict";
import { allThatShows, leaksOf } from "../support/canaries";
import { adapters, Host, type HostOptions } from "../support/host";
import { RedisGate } from "../support/redisGate";
import { hostCalls, Stack } from "../support/stack";
import { withoutSecrets } from "../support/wire";
import { type UserServer, usersOfPlatform } from "../faults/userOfServer";

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

const admin = { username: "ops-canary", password: "canary-admin-password-61c8" };

describe("secrets: users of a Redis", () => {
  for (const adapter of adapters) {
    const startHost = (more: HostOptions = {}) =>
      Host.start({ adapter, preload, settings: { deadlineSeconds: 5 }, ...more });

    it(`are not in debug output, diagnostics channels or messages of the ${adapter} adapter`, async () => {
      const { platform, server } = await usersOfPlatform();
      const host = await startHost();
      try {
        await assertNothingShown(host, server);
      } finally {
        await host.stop();
        await platform.close();
      }
    });

    it(`are not in errors of a server that repeats what it was sent, by the ${adapter} adapter`, async () => {
      const server = await RedisGate.alone((command) => {
        if (command.startsWith("AUTH")) return { reply: "+OK" };
        if (command.startsWith("ACL GETUSER")) return { reply: "*4\r\n+flags\r\n*1\r\n+on\r\n+passwords\r\n*0" };
        if (command.startsWith("ACL GENTOKEN")) return { reply: "$23\r\ncanary-made-token-90ff7" };
        return { reply: `-ERR in '${server.commands.join(" ")}': no` };
      });
      const host = await startHost();
      try {
        const user = new Stack(hostCalls(host, "aclUserRotation"));
        const inputs = { userName: "app", admin: { host: "127.0.0.1", port: server.port, tls: false, ...admin } };
        const error: unknown = await user.up(inputs).then(
          () => assert.fail("it did not fail"),
          (reason: unknown) => reason,
        );
        assert.match(String(error), /the server responded with an error: /);
        const canaries = { "admin's password": admin.password, token: "canary-made-token-90ff7" };
        const sent = server.commands.join();
        assert.ok(Object.values(canaries).every((canary) => sent.includes(canary)));
        const shown = allThatShows(error) + host.said + JSON.stringify(withoutSecrets(user.saved?.outputs ?? {}));
        assert.deepEqual(leaksOf(shown, canaries), []);
      } finally {
        await host.stop();
        await server.close();
      }
    });
  }
});

/** Two rotations, the second of which retires the former token first. */
async function assertNothingShown(host: Host, server: UserServer): Promise<void> {
  const former = await server.makeUser("app");
  const user = new Stack(hostCalls(host, "aclUserRotation"));
  const inputs = { userName: "app", admin: { host: "127.0.0.1", port: server.port, tls: false, ...server.admin } };
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
}
