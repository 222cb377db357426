import assert from "node:assert/strict";
import fc from "fast-check";
import { StateError } from "../../../../provider/domain/errors";
import { saltedMark } from "../../../../provider/rotation/memory/marks";
import {
  emptyMemory,
  type Memory,
  readMemory,
  withPast,
  withRetired,
  writeMemory,
} from "../../../../provider/rotation/memory/memory";
import { resetSecret, timeAt } from "../../../support/rotatedSecret";

/** A value with all its optional fields, so that the compiler asks for what is new. */
type Whole<T> = T extends readonly (infer E)[]
  ? readonly Whole<E>[]
  : T extends object
    ? { [K in keyof T]-?: Whole<NonNullable<T[K]>> }
    : T;

const at = "2026-01-01T00:00:00.000Z";
const whole: Whole<Memory> = {
  salt: "s".repeat(22),
  applied: "trigger",
  attempt: {
    ...{ trigger: "trigger", reason: "trigger", count: 1, firstSentAt: at, lastSentAt: at },
    ...{ adds: true, expects: "hash", canSettle: true, isOfUnknownAge: true },
  },
  current: {
    ...{ marks: { password: "mark" } as Whole<Memory["current"]["marks"]>, identity: "password", generatedAt: at },
    form: { saveCredentials: false, encryptFor: ["age1"] },
    ...{ file: { has: ["mark"], mark: "file" }, mustRead: true },
  },
  past: ["former"],
  formers: [
    {
      credential: { name: "password", mark: "former", username: "app" },
      ...{ retireHash: "hash", since: at, validFor: "retirement", generatedAt: at, isValidAgain: true },
    },
  ],
  scheduledFrom: at,
  program: {
    connection: { host: "redis.example.com", port: 6379, tls: true, username: "app" },
    ...{ queueUrl: "https://queue.example.com", rotateEvery: "30d", admin: "admin" },
  },
  kindFacts: {
    ...{ nextGeneratedAt: at, account: "account", address: "https://queue.example.com" },
    ...{ server: { id: "db", endpoint: { host: "redis.example.com", port: 6379, tls: true } } },
    ...{ hash: "hash", retired: ["hash"] },
    ...{ isUnsaved: true, passwordCount: 2, unknown: ["0123456789ab"] },
  },
};
/** As this build saves it. A memory with other fields needs another text of its seal (`sealOf`), and then this one. */
const savedText = JSON.stringify({ ...whole, seal: "Uil1pO3yOLg9XMDL" });

describe("memory: its saved form", () => {
  let text: string;
  let memory: Memory;
  before(async () => {
    const secret = await resetSecret({ version: 1, rotateEvery: "30d" }, { password: "secret-1" });
    text = String(secret.outputs?.["memory"]);
    memory = secret.memory;
  });

  it("is read unchanged, and has no value of a credential", () => {
    assert.equal(writeMemory(readMemory(text)), text);
    assert.doesNotMatch(text, /secret-1/);
  });

  it("has another seal than that of a build that remembers something else, which refuses it", () => {
    assert.deepEqual(readMemory(savedText), whole);
    assert.equal(writeMemory(whole), savedText);
  });

  const others: Readonly<Record<string, () => unknown>> = {
    "the seal of an older build": () => {
      const seal = saltedMark("memory 3", JSON.stringify(memory));
      return JSON.stringify({ ...memory, seal });
    },
    nothing: () => undefined,
    "another type": () => ({ memory }),
    "a list": () => "[]",
    "no seal": () => JSON.stringify(memory),
  };
  for (const [what, given] of Object.entries(others)) {
    it(`refuses ${what}, and says what to do`, () => {
      const says =
        /memory cannot be read: another version of pulumi-rekey has written it, or the state is damaged\. .*adopt the secret again with `initialRotation: false`; rotate a user, whose password no read shows/;
      assert.throws(() => readMemory(given()), says);
    });
  }

  it("refuses any damage, instead of deciding from the rest: what is cut off, missing, changed or added", () => {
    const parts = Object.entries(JSON.parse(text) as object);
    const index = fc.nat({ max: text.length - 1 });
    fc.assert(fc.property(index, (at) => void assert.throws(() => readMemory(text.slice(0, at)), StateError)));
    for (const [name] of parts) {
      const rest = Object.fromEntries(parts.filter(([other]) => other !== name));
      for (const damaged of [rest, { ...rest, [name]: "" }, { ...rest, [name]: [1] }]) {
        assert.throws(() => readMemory(JSON.stringify(damaged)), StateError, name);
      }
    }
    const added = JSON.stringify({ ...Object.fromEntries(parts), later: true });
    assert.throws(() => readMemory(added), StateError);
    assert.throws(() => readMemory(text.replace(/"scheduledFrom":"\d{4}/, '"scheduledFrom":"2000')), StateError);
  });
});

it("memory: of a new secret, nothing is known, and of what was retired, the last twelve", () => {
  const { salt, ...others } = emptyMemory(timeAt(0));
  assert.match(salt, /^[0-9a-f]{16}$/);
  const scheduledFrom = timeAt(0).toISOString();
  const nothing = { current: { marks: {} }, past: [], formers: [], scheduledFrom, program: {}, kindFacts: {} };
  assert.deepEqual(others, nothing);
  const hashes = Array.from({ length: 13 }, (_, nth) => `h${nth}`);
  assert.deepEqual(withRetired({}, hashes), hashes.slice(1));
  assert.deepEqual(withRetired({ retired: hashes.slice(1) }, ["h13"]), [...hashes.slice(2), "h13"]);
});

describe("memory: the marks of former credentials", () => {
  it("are the newest twelve, each once, and none that is current", () => {
    const marks = Array.from({ length: 15 }, (_, nth) => `mark-${nth}`);
    const memory = { ...emptyMemory(new Date()), past: marks.slice(0, 8) };
    assert.deepEqual(withPast(memory, marks.slice(6), { password: "mark-14" }), marks.slice(2, 14));
  });
});
