// What the local platform says when it cannot start.
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ofCommand } from "./commandSamples.mjs";
import { saidIn } from "./folder.mjs";
import { load } from "./samples.mjs";

const { startPlatform } = load("local/platform");
const { checkFault } = load("local/platform/options");
const { readSeed } = load("local/platform/seed");

const platform = (...args) => ofCommand(["platform", ...args]);
const ofOptions = (options) => saidIn({}, () => startPlatform(options));
const ofFault = (fault) => saidIn({}, () => checkFault(fault));
const ofSeed = (text) => saidIn({ "seed.yaml": text }, (folder) => readSeed(join(folder, "seed.yaml")));

/** What is said where `redis-server` is a script of this text, or there is none. */
async function ofRedis(script) {
  const { PATH } = process.env;
  const files = script === undefined ? {} : { "redis-server": script };
  try {
    return await saidIn(files, (folder) => {
      if (script !== undefined) chmodSync(join(folder, "redis-server"), 0o700);
      process.env.PATH = script === undefined ? folder : `${folder}:${PATH}`;
      return startPlatform({ redis: true });
    });
  } finally {
    process.env.PATH = PATH;
  }
}

async function ofOldRedis() {
  const answer = "$22\r\nredis_version:6.0.16\r\n\r\n";
  const old = createServer((socket) =>
    socket.on("data", (data) => socket.write(String(data).replace(/(\*\d+\r\n)[^*]*/g, answer))),
  ).listen(0, "127.0.0.1");
  await once(old, "listening");
  try {
    return await ofOptions({ redis: `redis://127.0.0.1:${old.address().port}` });
  } finally {
    old.close();
  }
}

export const sections = [
  {
    title: "The local platform: its start",
    about:
      "Said by `rekey platform`, after `error:` and the flag; by `startPlatform`, after `Local platform:` and the option. It did not start, and nothing was changed.",
    entries: [
      [
        [await platform("--port", "http"), await platform("--host", "192.0.2.1")],
        "The port is in use, or the address is none of this machine.",
      ],
      [
        [
          await platform("--username", "a:b"),
          await platform("--queue-token", "a b"),
          await platform("--database", "sessions", "sessions"),
          await platform("--flow-control-key", ""),
        ],
        "The value is not one that HTTP, or the interface, could carry.",
      ],
      [
        [
          await ofOptions({ databases: [5] }),
          await ofOptions({ flowControlKeys: [5] }),
          await ofOptions({ flowControlKeys: [{ flowControlKey: "orders", ratePeriod: 604_801 }] }),
          await ofOptions({ onRequest: "log" }),
        ],
        "The option is named, and the place in it.",
      ],
      [
        [
          await ofSeed(""),
          await ofSeed("databases: ["),
          await ofSeed("databases: [{ record: { database_id: sessions }, lastResetAt: yesterday }]"),
          await platform("--seed", "/etc/seed.missing"),
        ],
        "The file, the field in it or the line. What stands there is not shown: it may be a password.",
      ],
      [
        [
          await platform("--redis", "http://localhost"),
          await platform("--redis", "redis://127.0.0.1:1"),
          await ofOldRedis(),
        ],
        "The Redis of `--redis` is not there, is too old, or refuses. Its address is not shown: it may hold a password.",
      ],
      [
        [
          await ofRedis("#!/bin/sh\nexit 127\n"),
          await ofRedis("#!/bin/sh\necho 'Fatal error, no such option'\nexit 1\n"),
          await ofRedis(),
        ],
        "`--redis` without an address needs a `redis-server` on this machine.",
      ],
      [
        [
          await ofFault({ method: "post" }),
          await ofFault({ path: "v2" }),
          await ofFault({ headers: { "a b": "c" } }),
          await ofFault({ headers: { a: "b\nc" } }),
        ],
        "Said by `failNext` of a fault that no request could meet.",
      ],
    ],
  },
];
