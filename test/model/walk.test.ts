import assert from "node:assert/strict";
import fc from "fast-check";
import { Team } from "../support/age";
import { skip } from "../support/skip";
import { seed } from "../support/suite";
import { type Delivery, type OthersDo, plainReply, type Reply, type RequestName, type ShapeName } from "./account";
import { plainUp, type Program, type Settings, type Step, subjects, type Up, walksOf } from "./steps";
import { Walk } from "./walk";

describe("a random walk, with both adapters", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 100);
  const reached = { replaces: new Set(), rolls: new Set(), adds: new Set(), redis: new Set() } as Readonly<
    Record<ShapeName, Set<string>>
  >;
  let team: Team;
  before(async () => (team = await Team.create()));

  async function walk(name: string, steps: readonly Step[], seen = new Set<string>()): Promise<void> {
    const subject = subjects[name] ?? assert.fail(name);
    const both = [new Walk("dynamic", subject, team, seen), new Walk("plugin", subject, team, seen)] as const;
    for (const next of steps) {
      for (const one of both) await one.take(next);
      assert.deepEqual(both[1].did, both[0].did, "the adapters differ");
    }
    for (const one of both) await one.finish();
  }

  /** Walks, one after the other. One that never ends is not shrunk: each attempt would take as long. */
  function walksIn(name: string, seen: Set<string>): (steps: readonly Step[]) => Promise<void> {
    let isUnderWay = false;
    return async (steps) => {
      fc.pre(!isUnderWay);
      isUnderWay = true;
      await walk(name, steps, seen).finally(() => (isUnderWay = false));
    };
  }

  for (const [name, subject] of Object.entries(subjects)) {
    it(`sends, removes, loses and saves nothing that it must not in ${numRuns} walks (${name}, REKEY_SEED=${seed})`, () =>
      // A call that never ends fails, too; the time of all walks depends on the machine.
      fc.assert(fc.asyncProperty(walksOf(subject), walksIn(name, reached[subject.shape])), {
        seed,
        numRuns,
        timeout: 300_000,
      })).timeout(0);
  }

  const reasons = (request: RequestName) =>
    ["created", "again", "trigger", "rotatedSince", "schedule"].map((due) => `${request}: ${due}`);
  const ofResets = [...reasons("reset"), "settled"];
  const ofOverlaps = [
    ...[...reasons("add"), "again", "handed over", "not handed over", "waits: schedule"],
    ...["at the end", "date", "time"].map((why) => `retired: ${why}`),
    "replaced consumers",
    ...["It has retired none that clients may use", "which was not handed out"].map((text) => `says: ${text}`),
  ];
  const all: Readonly<Record<ShapeName, readonly string[]>> = {
    replaces: ofResets,
    // Only another key than the next one is certain to be someone else's.
    rolls: [...ofResets, "overtaken"],
    adds: [...ofOverlaps, "reset: trigger", "waits: trigger", "gone"],
    redis: [
      ...ofOverlaps,
      ...["none", "not proven", "back", "again at the end"].map((why) => `retired: ${why}`),
      ...["gone", "moved", "moved, and the same"],
    ],
  };
  for (const [shape, expected] of Object.entries(all)) {
    it(`reaches every reason for a rotation, and every end of one (${shape})`, function () {
      if (numRuns < 100) skip(this, "fewer than 100 walks may miss something by chance");
      const missing = expected.filter((one) => !reached[shape as ShapeName].has(one));
      assert.deepEqual(missing, []);
    });
  }

  const up = (more: Partial<Up> = {}, delivery?: Delivery): Up => {
    return { ...plainUp, ...more, ...(delivery && { deliveries: [delivery] }) };
  };
  type Fault = Reply["fault"];
  const replies = (of: Partial<Record<RequestName, readonly (Fault | Partial<Reply>)[]>>): Delivery["replies"] => {
    const replyOf = (one: Fault | Partial<Reply>) => ({
      ...plainReply,
      ...(typeof one === "string" ? { fault: one } : one),
    });
    return Object.fromEntries(Object.entries(of).map(([name, some]) => [name, some.map(replyOf)]));
  };
  const faulty = (of: Parameters<typeof replies>[0], more: Partial<Up> = {}) => up(more, { replies: replies(of) });
  const reset = (fault: Fault) => faulty({ reset: [fault] });
  const set = (change: Partial<Settings>): Step => ({ do: "set", change });
  const edit = (change: Partial<Program>): Step => ({ do: "edit", change });
  const wait = (hours: number): Step => ({ do: "wait", hours });
  const others = (what: OthersDo): Step => ({ do: "others", what });
  const bump: Step = { do: "bump" };
  const leak: Step = { do: "leak" };
  const killed = up({ killedAfter: "rotation" });

  /** Sequences that once failed, and others that are rarely generated. */
  const kept: Readonly<Record<string, readonly [name: string, ...Step[]]>> = {
    "a version whose reset was not confirmed is applied by the next one, although it was removed meanwhile": [
      "PasswordRotation",
      ...[set({ canRead: false }), up(), edit({ version: 2 }), reset("lost after"), edit({ version: 0 }), up()],
      ...[edit({ version: 2 }), up()],
    ],
    "a version that was applied and removed asks for no reset after an unconfirmed scheduled one": [
      "PasswordRotation",
      ...[set({ canRead: false }), edit({ rotateEvery: "12h" }), up(), edit({ version: 0 }), wait(13)],
      ...[reset("lost after"), up(), edit({ version: 1 }), up()],
    ],
    "a scheduled reset that is sent again and settled is not due at once": [
      "PasswordRotation",
      ...[edit({ rotateEvery: "12h" }), reset("lost before"), wait(13), reset("lost after")],
    ],
    "a reset that may be that of an earlier date is made once more": [
      "PasswordRotation",
      ...[leak, reset("lost before"), wait(1), leak, reset("lost after"), up()],
    ],
    "a token that someone else rolls while its response is lost is not said to have changed nothing": [
      "QueueTokenRotation",
      ...[others("retires"), up({}, { replies: replies({ add: ["lost after", "none"] }), meanwhile: "retires" })],
    ],
    "a password that was removed unproven at another address is retired again after a restart": [
      "AclUserRotation",
      ...[edit({ rotateEvery: "12h" }), up(), set({ isHiding: true }), up(), set({ place: "the other address" }), up()],
      ...[bump, up({ killedAfter: "deployment" }), up({}, { replies: {}, meanwhile: "restarts" })],
    ],
    "after three unconfirmed resets nothing is sent until the version changes": [
      "PasswordRotation",
      ...[set({ canRead: false }), reset("lost after"), reset("lost before"), reset("lost after"), up()],
      ...[edit({ version: 0 }), up(), edit({ version: 1, isText: true }), wait(40), up(), edit({ version: 2 }), up()],
    ],
    "what only the first read of a run shows to be the token in use is not reset when a call is repeated": [
      "QueueTokenRotation, none",
      ...[up(), bump, killed, { do: "set own token", isSet: true } as const],
      faulty({ read: [{}, { mask: "the other" }] }, { isRepeated: true }),
    ],
    "a password that a read settles is saved until the reset after it is confirmed": [
      "PasswordRotation",
      faulty({ read: [{ isLate: true }], reset: [{ mask: "the other" }] }),
      ...[bump, faulty({ read: [{ isLate: true }], reset: [{ mask: "nothing" }] })],
    ],
    "a killed roll is recognized by the current key alone": [
      "SigningKeyRotation",
      ...[up(), bump, wait(1), killed, faulty({ reset: [{ mask: "nothing" }], read: [{ mask: "the best" }] })],
    ],
    "half of a pair that is shown only after a roll is believed": [
      "SigningKeyRotation",
      ...[up(), bump, wait(1), killed],
      faulty({ reset: [{ mask: "nothing" }], read: [{ mask: "nothing" }, { mask: "the best" }] }),
    ],
    "a key that someone else has made the current one is not that of a roll after it": [
      "SigningKeyRotation",
      ...[up(), others("rolls"), bump, wait(1)],
      faulty({ read: [{ mask: "the other" }, {}], reset: [{ mask: "the best", isLate: true }] }),
    ],
    "a pair that a response shows is not lost for reads that are outdated": [
      "SigningKeyRotation",
      ...[up(), bump, wait(1), faulty({ reset: ["rejected"] }), others("rolls"), faulty({ read: [{ isLate: true }] })],
    ],
    "a pair whose response is lost twice is asked for again": [
      "QueueTokenRotation",
      ...[edit({ initialRotation: false }), up(), wait(1), leak, faulty({ add: ["lost after", "rejected"] })],
      ...[edit({ isLeaked: false }), up(), up()],
    ],
    "a token that could not be proven before a date is handed out, also by the first run that can": [
      "QueueTokenRotation",
      ...[wait(1), leak, faulty({ proof: ["rejected"] }), wait(1), leak, up()],
    ],
    "a token that could not be proven before a date is replaced by the next up": [
      "QueueTokenRotation",
      ...[wait(1), leak, faulty({ add: ["lost after"] }), wait(1), leak, up({ isDeployed: false }), up()],
    ],
    "a version that waits and is removed does not wait any more": [
      "QueueTokenRotation",
      ...[up({ isDeployed: false }), bump, up(), edit({ version: 0 }), up({ isRefreshed: true })],
    ],
    "a reset that replaces both is sent again if it was lost": [
      "QueueTokenRotation",
      ...[up({ isDeployed: false }), edit({ overlap: "none" }), bump, reset("lost before"), up()],
    ],
    "a repeated call adds no second password if SAVE was not sent": [
      "AclUserRotation",
      faulty({ save: ["not sent"] }, { isRepeated: true }),
    ],
    "what could not be proven is removed although a later run fails before it": [
      "AclUserRotation",
      ...[up(), bump, faulty({ proof: ["rejected"] }), faulty({ retire: ["lost before"] }), up()],
    ],
    "a password whose hash is not certain is named": [
      "AclUserRotation",
      ...[set({ server: "makes tokens with other hashes" }), up({}, { replies: {}, meanwhile: "adds" })],
      ...[bump, up(), bump, up()],
    ],
    "a second version after a failed deployment keeps what the consumers have": [
      "AclUserRotation",
      ...[up(), bump, up({ isDeployed: false }), edit({ retires: false }), up(), bump, up()],
    ],
    "a version that adds a further password announces what is retired first": [
      "AclUserRotation",
      ...[edit({ overlap: "6h" }), up(), wait(5.8), bump, up(), wait(1), bump, up()],
    ],
    "a password that was not proven, was removed and is back is retired again": [
      "AclUserRotation",
      ...[up(), bump, faulty({ proof: ["rejected"] }), up({ isDeployed: false }), others("brings back"), up()],
    ],
    "a current password that others have removed and brought back is a former one": [
      "AclUserRotation",
      ...[up(), others("replaces"), bump, up({ isDeployed: false }), others("brings back"), up()],
    ],
    "a first rotation does not wait for what was not proven and is back": [
      "AclUserRotation",
      ...[set({ isHiding: true }), up(), set({ isHiding: false }), bump],
      ...[up({}, { replies: {}, meanwhile: "restarts" }), bump, up()],
    ],
    "a read that fails does not take another server for that of before": [
      "AclUserRotation",
      ...[up(), set({ place: "elsewhere" }), faulty({ read: ["lost before"] }), up()],
    ],
    "a password that the server does not list is not handed out": [
      "AclUserRotation",
      ...[set({ isHiding: true }), up(), set({ isHiding: false }), up()],
    ],
    "what is new in a list is not a password that the server has lost": [
      "AclUserRotation",
      ...[others("replaces"), up({}, { replies: {}, meanwhile: "restarts" }), bump, up()],
    ],
    "a login at another server proves nothing unless it is responded to": [
      "AclUserRotation",
      ...[up(), set({ place: "elsewhere" }), faulty({ proof: ["lost before"] }), bump, up()],
    ],
    "a password whose value is not saved is not that of another server": [
      "AclUserRotation",
      ...[edit({ form: "encrypted" }), up(), set({ place: "elsewhere" }), up(), bump, up()],
    ],
  };
  for (const [what, [name, ...steps]] of Object.entries(kept)) it(`${what} (${name})`, () => walk(name, steps));
});
