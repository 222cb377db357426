import assert from "node:assert/strict";
import { credentialVerification } from "../../../provider/verification/credentialVerification";
import { type HttpVerificationInputs } from "../../../provider/verification/httpVerification";
import { type CredentialVerificationOutputs } from "../../../provider/verification/outputs";
import { asShown, FakeRun } from "../../support/fakeRun";

const { plan, apply } = asShown(credentialVerification);
const [first, second, third] = ["canary-key-Aa00-one", "canary-key-Bb11-two", "canary-key-Cc22-three"];
const keys = [first, second, third];

/** A vendor that accepts its keys, and the requests that it got. */
class Vendor {
  readonly valid = new Set(keys);
  readonly requests: string[] = [];
  readonly run = () =>
    new FakeRun().start({
      statusOf: async ({ baseUrl, path, authorization = "" }) => {
        this.requests.push(`${authorization} ${baseUrl}${path}`);
        return this.valid.has(authorization.replace("Bearer ", "")) ? 200 : 401;
      },
    });
  /** The requests since the last call, without those with wrong keys. */
  get sent(): string[] {
    return this.requests.splice(0).filter((one) => keys.some((key) => one.includes(key)));
  }
}

const inputs = (credential: string, url: string): HttpVerificationInputs => ({ credential, http: { url } });
const request = (key: string, url: string) => `Bearer ${key} ${url}`;

describe("A verification over HTTP", () => {
  let vendor: Vendor;
  beforeEach(() => (vendor = new Vendor()));

  type Saved = CredentialVerificationOutputs;
  const up = async (saved: Saved | undefined, given: HttpVerificationInputs) =>
    (await apply(saved, given, vendor.run())).outputs;
  /** An `up` that replaces verifications: both are compared before one is created. */
  const replaced = async (...all: readonly (readonly [Saved, HttpVerificationInputs])[]) => {
    const run = vendor.run();
    for (const [saved, given] of all) assert.deepEqual(plan(saved, given, run).replaces, ["credential"]);
    const results = await Promise.all(all.map(async ([, given]) => (await apply(undefined, given, run)).outputs));
    vendor.requests.length = 0;
    return results;
  };

  const [a, b, c] = ["https://v.example.com/a", "https://v.example.com/b", "https://v.example.com/c"];
  const ofTwo: Record<string, { other: string; tries: readonly string[] }> = {
    "its own former one": { other: c, tries: [request(first, a), request(second, b)] },
    "no former one, if the other proves the same request": { other: a, tries: [] },
  };
  for (const [what, { other, tries }] of Object.entries(ofTwo)) {
    it(`tries, as one of two, ${what}`, async () => {
      const [one, two] = [await up(undefined, inputs(first, a)), await up(undefined, inputs(second, b))];
      const made = await replaced([one, inputs(third, a)], [two, inputs(third, other)]);
      await up(made[0], inputs(third, a));
      await up(made[1], inputs(third, other));
      assert.deepEqual(vendor.sent, tries);
    });
  }
});
