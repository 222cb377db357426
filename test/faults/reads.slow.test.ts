import assert from "node:assert/strict";
import { databaseText } from "../support/platformBodies";
import { providerTexts, type Result } from "../support/host";
import { readMemory } from "../../provider/rotation/memory/memory";
import { rotation } from "../support/resources";
import { type Properties, revealed } from "../support/wire";
import { assertNoSecrets, testRow } from "./describeFaults";
import { type Fixture } from "./fixture";
import { act, formerOutputs } from "./phases";
import { type Behaviour, failing, resetting, responding, silent } from "../support/httpServer";

/** A fixture finds the type of a saved resource by this text. */
const text = { __provider: providerTexts.PasswordRotation };

/** A platform that delivers credentials by reads alone. */
class ReadablePlatform {
  readonly #generations = new Map<string, number>();
  hidesCredentials = false;

  private constructor(readonly fixture: Fixture) {}

  /** @param deadlineSeconds less than the default if a read is repeated until then */
  static async start(fixture: Fixture, deadlineSeconds = 60): Promise<ReadablePlatform> {
    const platform = new ReadablePlatform(fixture);
    const settings = () => ({ databasePath: "/v2/redis/database/{id}" });
    const bodyOf = (method: string, path: string) => platform.body(method, path.split("/").at(-1) ?? "");
    await fixture.start({ server: { bodyOf }, settings, deadlineSeconds });
    return platform;
  }

  body(method: string, id: string): string {
    const password = this.passwordOf(id);
    const shown = method === "GET" && !this.hidesCredentials && { password, rest_token: `rt-${password}` };
    return databaseText({ database_id: id, ...shown });
  }

  passwordOf(id: string): string {
    return `pw-${this.#generations.get(id) ?? 0}-of-${id}`;
  }

  change(id: string): void {
    this.#generations.set(id, (this.#generations.get(id) ?? 0) + 1);
  }

  /** A response to a reset with some credentials of a generation. */
  responseWith(id: string, generation: number, names: readonly string[]): string {
    const password = `pw-${generation}-of-${id}`;
    const all = Object.entries({ password, rest_token: `rt-${password}` });
    return databaseText({ database_id: id, ...Object.fromEntries(all.filter(([name]) => names.includes(name))) });
  }

  assertSent(id: string, resets: number, reads?: number): void {
    const { server } = this.fixture;
    assert.equal(server.count("POST", id), resets, "resets");
    if (reads !== undefined) assert.equal(server.count("GET", id), reads, "reads");
  }

  /** The saved outputs, secrets in plain, or the message of a failure. Nothing shows a secret. */
  resultOf(kind: Result["kind"], result: Result): Properties {
    assertNoSecrets(this.fixture, result);
    assert.equal(result.kind, kind, JSON.stringify(result));
    return result.kind === "failed" ? { message: result.message } : revealed(result.outs);
  }

  async refresh(id: string, olds: Properties): Promise<Properties> {
    return revealed((await this.fixture.host.read(id, { ...olds, ...text })).outputs);
  }
}

/** What a create and an update meet. */
interface Fault {
  readonly row: number;
  readonly fault: string;
  readonly result: string;
  readonly kind: Result["kind"];
  /** Reads before the reset. Default: succeed. */
  readonly before?: Behaviour;
  /** Default: a response without credentials. */
  readonly reset?: Behaviour;
  /** The credentials in the response. Default: none. */
  readonly response?: { readonly generation: number; readonly names: readonly string[] };
  /** The read at which the reset is applied. Default: before the response; `never` is possible. */
  readonly appliedAt?: number | "never";
  /** Reads after the reset. Default: succeed. */
  readonly after?: Behaviour;
  readonly hidesCredentials?: true;
  readonly deadlineSeconds?: number;
  /** Default: not announce, because reads are repeated until the deadline. */
  readonly reads?: number | Readonly<Record<"create" | "update", number>>;
  readonly check?: (saved: Properties, platform: ReadablePlatform, id: string) => void | Promise<void>;
}

const cut = "reset after the request was read";
const another = responding(200, databaseText({ database_id: "another" }));
const unreadable = {
  [cut]: { behaviour: resetting, reads: 3, says: /3 attempts/ },
  "404": { behaviour: failing(404), reads: 1, says: /rekey:databasePath/ },
  "500": { behaviour: failing(500), reads: 3, says: /500: no, after 3 attempts/ },
  "another database's record": { behaviour: another, reads: 1, says: /record of another database/ },
};

const confirmed = {
  result: "passes, credentials are read; 1 reset sent",
  kind: "done",
  check: ({ outcome, password }: Properties, platform: ReadablePlatform, id: string) =>
    assert.deepEqual({ outcome, password }, { outcome: "reset", password: platform.passwordOf(id) }),
} as const;
const unconfirmed = {
  result: "may have been applied: saved by an init error; 1 reset sent",
  kind: "init error",
} as const;
const unread = {
  result: "passes without credentials, the next `up` reads again; 1 reset sent",
  kind: "done",
  deadlineSeconds: 8,
  async check(saved: Properties, platform: ReadablePlatform, id: string) {
    const { server, host } = platform.fixture;
    assert.deepEqual({ outcome: saved.outcome, password: saved.password }, { outcome: "reset", password: undefined });
    server.behave("GET", id, responding(200));
    const inputs = rotation(id, { version: "2" });
    assert.equal((await host.diff(id, saved, inputs)).changes, true, JSON.stringify(saved));
    const { password } = platform.resultOf("done", await host.update(id, saved, inputs));
    assert.equal(password, platform.passwordOf(id));
    platform.assertSent(id, 1);
  },
} as const;

/** Nothing that is saved is dropped, and the next `up` sends another reset. */
async function neverApplied(saved: Properties, platform: ReadablePlatform, id: string): Promise<void> {
  const { fixture } = platform;
  assert.equal(saved.outcome, "unknown");
  if (id === "db-update") assert.equal(saved.password, platform.passwordOf(id));
  fixture.server.behave("POST", id, (exchange) => {
    platform.change(id);
    responding(200)(exchange);
  });
  const host = await fixture.nextRun();
  const { password } = platform.resultOf("done", await host.update(id, saved, rotation(id, { version: "2" })));
  assert.equal(password, platform.passwordOf(id));
  platform.assertSent(id, 2);
}

const faults: readonly Fault[] = [
  ...Object.entries(unreadable).map(([what, { behaviour, reads, says }]): Fault => ({
    row: 85,
    fault: `read: ${what}`,
    result: "fails, state kept; 0 resets sent",
    kind: "failed",
    before: behaviour,
    reads,
    check({ message }) {
      for (const pattern of [/No reset was sent, and the password was not/, says]) {
        assert.match(String(message), pattern);
      }
    },
  })),
  { row: 86, fault: `${cut}, applied`, ...confirmed, reset: resetting, reads: 2 },
  { row: 86, fault: `${cut}, applied after two reads`, ...confirmed, reset: resetting, appliedAt: 3, reads: 3 },
  {
    row: 87,
    fault: "silent, not applied",
    ...unconfirmed,
    reset: silent,
    appliedAt: "never",
    deadlineSeconds: 8,
    check({ memory }) {
      assert.equal(readMemory(memory).attempt?.canSettle, true);
    },
  },
  {
    row: 89,
    fault: `${cut}, credentials hidden`,
    ...unconfirmed,
    reset: resetting,
    hidesCredentials: true,
    // Without what is current before it, no read can show that it was applied.
    reads: 1,
  },
  { row: 90, fault: "confirmed, then 404 for the reads", ...unread, after: failing(404) },
  {
    row: 90,
    fault: "confirmed, but the former credentials are shown",
    ...unconfirmed,
    appliedAt: "never",
    deadlineSeconds: 8,
    check: neverApplied,
  },
  {
    row: 91,
    fault: "confirmed, credentials hidden",
    result: "passes without credentials; 1 reset sent",
    kind: "done",
    hidesCredentials: true,
    reads: 2,
    async check(saved, { fixture: { host, server } }, id) {
      assert.equal(saved.password, undefined);
      server.behave("GET", id, responding(200));
      // What is hidden is not waited for.
      assert.equal((await host.diff(id, saved, rotation(id, { version: "2" }))).changes, false);
    },
  },
  {
    row: 95,
    fault: "the response repeats the former credentials",
    ...confirmed,
    response: { generation: 0, names: ["password", "rest_token"] },
    reads: 2,
  },
  {
    row: 96,
    fault: "the response lacks a credential that the database is known to have",
    ...confirmed,
    response: { generation: 1, names: ["password"] },
    reads: 2,
  },
  {
    row: 98,
    fault: "429 for three reads after the reset",
    ...confirmed,
    after: (exchange) => ([2, 3, 4].includes(exchange.nth) ? failing(429) : responding(200))(exchange),
    reads: 5,
  },
];

describe("faults: a platform that can be read", () => {
  for (const { row, fault, result, kind, deadlineSeconds, hidesCredentials = false, reads, ...meets } of faults) {
    testRow([row, fault, "create, update", result], async (fixture) => {
      const platform = await ReadablePlatform.start(fixture, deadlineSeconds);
      platform.hidesCredentials = hidesCredentials;
      const { before = responding(200), response, appliedAt, after = responding(200), check } = meets;
      const phases = ["create", "update"] as const;
      const test = async (phase: (typeof phases)[number]) => {
        const id = `db-${phase}`;
        fixture.server.behave("GET", id, (exchange) => {
          if (exchange.nth === appliedAt) platform.change(id);
          const body = platform.body("GET", id);
          return (fixture.server.count("POST", id) === 0 ? before : after)({
            ...exchange,
            answer: (status, headers, sent = body) => exchange.answer(status, headers, sent),
          });
        });
        fixture.server.behave("POST", id, (exchange) => {
          if (appliedAt === undefined) platform.change(id);
          const body = response && platform.responseWith(id, response.generation, response.names);
          return (meets.reset ?? responding(200, body))(exchange);
        });
        const outs = platform.resultOf(kind, await act(phase, fixture, id));
        platform.assertSent(id, kind === "failed" ? 0 : 1, typeof reads === "object" ? reads[phase] : reads);
        if (appliedAt === "never" && kind === "done") platform.change(id);
        await check?.(outs, platform, id);
      };
      await Promise.all(phases.map(test));
    });
  }

  testRow(
    [92, "a read fails in each of these ways", "refresh", "warns, state kept; 0 resets sent"],
    async (fixture) => {
      const platform = await ReadablePlatform.start(fixture);
      for (const [nth, { behaviour, reads }] of Object.values(unreadable).entries()) {
        const id = `db-${nth}`;
        fixture.server.behave("GET", id, behaviour);
        const olds = await formerOutputs(id, fixture.adapter);
        assert.deepEqual(await platform.refresh(id, olds), olds);
        platform.assertSent(id, 0, reads);
      }
    },
  );

  testRow([94, "read: 404", "adoption", "fails, nothing is saved; 0 resets sent"], async (fixture) => {
    const platform = await ReadablePlatform.start(fixture);
    fixture.server.behave("GET", "db", failing(404));
    const adopting = rotation("db", { initialRotation: false });
    const { message } = platform.resultOf("failed", await fixture.host.create(adopting));
    assert.match(String(message), /was not adopted, and nothing was changed/);
    platform.assertSent("db", 0, 1);
  });
});
