import assert from "node:assert/strict";
import { type FoundSetting } from "../../../provider/settings/foundSetting";
import { connectionIn } from "../../../provider/rotation/connection";

const set = (value: string): FoundSetting => ({ value, source: "configuration" });
const preset: FoundSetting = { value: "{endpoint}.upstash.io", source: "preset" };

describe("rotation: the connection of a program", () => {
  it("refuses what a program gives as soon as it is known", () => {
    const hosts = [
      "",
      " ",
      "a b",
      "a/b",
      "a@b",
      "a:1",
      "a\nb",
      "a\0",
      "rediss://a",
      "{name}",
      "[a]",
      "a?b",
      "a%41",
      "ä",
    ];
    for (const host of hosts) assert.throws(() => connectionIn({ host }), /host must be a host name/, host);
    for (const port of [0, -1, 65_536, 1.5, NaN, "1"]) {
      assert.throws(() => connectionIn({ port }), /port must be a whole number/);
    }
    assert.throws(() => connectionIn({ tls: "no" }), /tls must be true or false/);
    assert.throws(() => connectionIn({ host: "db.example.com", tls: false }), /plain text/);
    for (const host of ["localhost", "127.0.0.1", "::1"]) connectionIn({ host, tls: false });
    connectionIn({});
  });

  const open: readonly {
    readonly host: string | undefined;
    readonly setting: FoundSetting | undefined;
    readonly refused: boolean;
  }[] = [
    { host: "{endpoint}", setting: set("db.example.com"), refused: false },
    { host: "{id}", setting: undefined, refused: false },
    { host: "127.0.0.{id}", setting: undefined, refused: false },
    { host: "{endpoint}.example.com", setting: undefined, refused: true },
    { host: "db-{id}", setting: set("localhost"), refused: true },
    { host: undefined, setting: undefined, refused: false },
    { host: undefined, setting: set("localhost"), refused: false },
    { host: undefined, setting: set("{id}.example.com"), refused: true },
    // A full name is not completed: it may be this machine.
    { host: undefined, setting: preset, refused: false },
  ];
  for (const { host, setting, refused } of open) {
    it(`${refused ? "refuses" : "accepts"} plain text to ${host} with the setting ${setting?.value}`, () => {
      const check = () => connectionIn({ host, tls: false }, () => setting);
      if (refused) assert.throws(check, /^InputError: tls must not be false unless host is this machine: .*plain text/);
      else check();
    });
  }

  it("does not know what follows from a setting while the host is not known", () => {
    connectionIn({ tls: false });
  });

  it("does not read the setting unless it matters", () => {
    const fail = () => assert.fail();
    connectionIn({ host: "localhost", tls: false }, fail);
    connectionIn({ tls: true }, fail);
    connectionIn({}, fail);
  });

  it("leaves out what is null", () => {
    assert.deepEqual(connectionIn({ host: "h", port: null, username: undefined, other: 1 }), { host: "h" });
  });
});
