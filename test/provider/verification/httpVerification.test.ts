import assert from "node:assert/strict";
import { credentialVerification } from "../../../provider/verification/credentialVerification";
import {
  type CredentialVerificationOutputs,
  type HttpVerificationInputs,
} from "../../../provider/verification/httpVerification";
import { asShown, FakeRun } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { unknown } from "../../support/wire";

const { plan, apply } = asShown(credentialVerification);
const [first, second, third] = ["canary-key-Aa00-one", "canary-key-Bb11-two", "canary-key-Cc22-three"] as const;
const keys = [first, second, third];

type Saved = CredentialVerificationOutputs;
type Http = HttpVerificationInputs["http"];

describe("A verification over HTTP", () => {
  /** What each vendor was sent: the credential in any place, and what else is in the request. */
  let requests: string[];
  /** The statuses of the next responses. After them, a request is accepted if it has a valid key. */
  let script: number[];
  let valid: Set<string>;
  beforeEach(() => {
    [requests, script, valid] = [[], [], new Set(keys)];
  });

  const start = () =>
    new FakeRun().start({
      statusOf: async ({ baseUrl, path, query, headers, authorization = "" }) => {
        const [, basic] = /^Basic (.*)/.exec(authorization) ?? [];
        const sent = [
          `${baseUrl}${path}`,
          new URLSearchParams(query).toString(),
          ...Object.values(headers ?? {}),
          basic ? Buffer.from(basic, "base64").toString() : authorization,
        ];
        requests.push(sent.filter(Boolean).join(" "));
        return {
          status: script.shift() ?? ([...valid].some((key) => requests.at(-1)?.includes(key)) ? 200 : 401),
        };
      },
    });
  /** The requests since the last call, without those with wrong keys. */
  const sent = () => requests.splice(0).filter((one) => keys.some((key) => one.includes(key)));

  const url = "https://v.example.com/a";
  const inputs = (credential: string, http: Partial<Http> = {}): HttpVerificationInputs => ({
    credential,
    http: { url, ...http },
    withinSeconds: 2,
  });
  const up = (saved: Saved | undefined, given: HttpVerificationInputs) => apply(saved, given, start());
  /** An `up` that replaces verifications: all are compared before one is created. */
  const replace = async (...all: readonly (readonly [Saved, HttpVerificationInputs])[]) => {
    const run = start();
    for (const [saved, given] of all) assert.deepEqual(plan(saved, given, run).replaces, ["credential"]);
    return Promise.all(all.map(([, given]) => apply(undefined, given, run)));
  };
  /** Two `up`s, the second of which replaces the first one's credential. */
  const turned = async (before: HttpVerificationInputs, now: HttpVerificationInputs) => {
    const { outputs } = await up(undefined, before);
    const [result = assert.fail()] = await replace([outputs, now]);
    sent();
    return result;
  };

  const other = "https://v.example.com/b";
  const ofTwo: Record<string, { paths: readonly [string, string]; tries: readonly string[] }> = {
    "its own former one": { paths: [url, other], tries: [`${url} Bearer ${first}`, `${other} Bearer ${second}`] },
    "no former one, if the other proves the same request": { paths: [url, url], tries: [] },
  };
  for (const [what, { paths, tries }] of Object.entries(ofTwo)) {
    it(`tries, as one of two, ${what}`, async () => {
      const [one, two] = [await up(undefined, inputs(first)), await up(undefined, inputs(second, { url: other }))];
      const now = paths.map((path) => inputs(third, { url: path })) as [HttpVerificationInputs, HttpVerificationInputs];
      const made = await replace([one.outputs, now[0]], [two.outputs, now[1]]);
      sent();
      for (const [nth, { outputs }] of made.entries()) await up(outputs, now[nth] ?? assert.fail());
      assert.deepEqual(sent(), tries);
    });
  }

  const ofParts: Record<string, { forms: readonly [Partial<Http>, Partial<Http>]; tries: string }> = {
    "with its user": { forms: [{ username: "id-1" }, { username: "id-2" }], tries: `${url} id-1:${first}` },
    "with its id in a header": {
      forms: [{ headers: { "X-Id": "id-1" } }, { headers: { "X-Id": "id-2" } }],
      tries: `${url} id-1 Bearer ${first}`,
    },
    "with its id in the address": {
      forms: [{ url: `${url}/id-1?id=1` }, { url: `${url}/id-2?id=2` }],
      tries: `${url}/id-1 id=1 Bearer ${first}`,
    },
  };
  for (const [what, { forms, tries }] of Object.entries(ofParts)) {
    it(`tries a former key ${what}`, async () => {
      const [before, now] = [inputs(first, forms[0]), inputs(second, forms[1])];
      const { outputs } = await turned(before, now);
      const open = await up(outputs, now);
      assert.deepEqual(sent(), [tries]);
      assert.match(open.warning ?? "", /^The former credential is not refused: .* responded with 200\./);
      valid.delete(first);
      assertFields((await up(open.outputs, now)).outputs, { formerRefused: true });
      assert.deepEqual(sent(), [tries]);
    });
  }

  const moved = inputs(second, { url: "https://w.example.com:8443/a" });
  const elsewhere =
    /^The former credential was accepted by v\.example\.com, and http now names w\.example\.com:8443: it is sent to neither/;
  it("sends no former key to another host, and says once that it is not tried", async () => {
    const together = await turned(inputs(first), moved);
    assert.match(together.warning ?? "", elsewhere);
    const later = await turned(inputs(first), inputs(second));
    const { outputs, warning } = await up(later.outputs, moved);
    assert.match(warning ?? "", elsewhere);
    sent();
    for (const one of [together.outputs, outputs]) {
      assert.equal(one.formerRefused, undefined);
      assert.equal(plan(one, moved).changes, false);
      assert.ok(!one.memory.includes(first));
    }
    const open = await turned(inputs(first), inputs(second));
    valid.delete(first);
    const refused = await up(open.outputs, inputs(second));
    assertFields(refused.outputs, { formerRefused: true });
    assert.equal((await up(refused.outputs, moved)).outputs.formerRefused, undefined, "that was at the other host");
  });

  it("wants three acceptances in a row of a key that replaces another one: a vendor has several servers", async () => {
    const { outputs } = await up(undefined, inputs(first));
    assert.deepEqual(sent(), [`${url} Bearer ${first}`]);
    script = [200, 200, 401, 200, 503];
    const [result = assert.fail()] = await replace([outputs, inputs(second)]);
    assertFields(result.outputs, { verified: true });
    assert.equal(sent().length, 8);
    script = Array.from({ length: 99 }, (_, nth) => (nth % 3 === 2 ? 401 : 200));
    await assert.rejects(replace([outputs, inputs(third)]), /The credential is not accepted: .* responded with 401/);
  });

  it("remembers the last 12 former ones, and says that there may be more", async () => {
    const all = Array.from({ length: 14 }, (_, nth) => `canary-key-of-turn-${nth + 10}`);
    valid = new Set(all);
    let { outputs } = await up(undefined, inputs(all[0] ?? assert.fail()));
    for (const next of all.slice(1)) [{ outputs } = assert.fail()] = await replace([outputs, inputs(next)]);
    assertFields(outputs, { formersValid: 12, formerRefused: false });
    const current = inputs(all.at(-1) ?? assert.fail());
    requests = [];
    const { warning = "" } = await up(outputs, current);
    assert.match(warning, /^12 or more former credentials are not refused: GET \S+ responded with 200\. Delete/);
    assert.deepEqual(
      requests,
      all.slice(1, -1).map((one) => `${url} Bearer ${one}`),
    );
  });

  // What it says otherwise: the walk test/model/byHand.test.ts.
  it("says nothing of a key that a person replaces without a value of its trigger, or with one that is not known", async () => {
    let { outputs } = await up(undefined, { ...inputs(first), triggerValue: "20260101-0-1b9d6b" });
    for (const [credential, triggerValue] of [
      [second, undefined],
      [third, "20260201-1-1b9d6b"],
      [first, unknown],
    ] as const) {
      const run = start();
      const { notice, warning } = plan(outputs, { ...inputs(credential), triggerValue }, run);
      assert.deepEqual([notice, warning], [undefined, undefined]);
      if (triggerValue !== unknown) {
        ({ outputs } = await apply(undefined, { ...inputs(credential), triggerValue }, run));
      }
    }
  });

  it("takes an accepted status out of those that refuse by default", async () => {
    script = [403, 401];
    assertFields((await up(undefined, inputs(first, { acceptedStatuses: [200, 403] }))).outputs, { verified: true });
  });
});
