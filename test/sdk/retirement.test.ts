import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { Retirement, type RetirementArgs } from "pulumi-rekey";
import { errorsOf, startMocks, valueOf } from "./pulumiMocks";

const access = pulumi.secret("{}");

/** A component that passes its options on to the resource in it, or not. */
class Team extends pulumi.ComponentResource {
  constructor(options: pulumi.ComponentResourceOptions) {
    super("test:index:Team", "team", {}, options);
    new Retirement("app", { access }, { parent: this });
  }
}

const adding =
  (more: pulumi.CustomResourceOptions): pulumi.ResourceTransformation =>
  ({ props, opts }) => ({ props, opts: { ...opts, ...more } });

describe("sdk: the options of a Retirement", () => {
  const options = { retainOnDelete: true, deleteBeforeReplace: true, protect: true, ignoreChanges: ["credential.url"] };
  for (const [option, value] of Object.entries(options)) {
    const given = { [option]: value };
    const refused: Readonly<Record<string, () => unknown>> = {
      "the program": () => new Retirement("app", { access }, given),
      "a transformation": () => new Retirement("app", { access }, { transformations: [adding(given)] }),
      "a transformation of a parent": () => new Team({ transformations: [adding(given)] }),
    };
    for (const [from, make] of Object.entries(refused)) {
      it(`do not have ${option} from ${from}`, async () => {
        const registered = await startMocks();
        const errors = await errorsOf(make);
        const says = `Retirement "app" does not support the option \`${option}\`: its delete retires the former secret`;
        assert.match(
          errors.join(),
          new RegExp(`${says}.*No request was made\\. Remove the option\\. \\[REKEY_INPUT_INVALID`),
        );
        assert.deepEqual(
          registered.filter(({ name }) => name === "app"),
          [],
        );
      });
    }

    const allowed = value === true ? false : ["access", "*"];
    it(`do not inherit ${option}, and may have it as ${String(allowed)}`, async () => {
      const registered = await startMocks();
      const all = [new Team(given), new Retirement("other", { access }, { [option]: allowed })];
      for (const { urn } of all) await valueOf(urn);
      await valueOf(pulumi.output(new Promise((resolve) => setTimeout(resolve, 20))));
      const ours = registered.filter(({ name }) => name !== "team");
      assert.deepEqual(
        ours.map((one) => [one.retainOnDelete, one.protect]),
        [
          [false, false],
          [false, false],
        ],
      );
    });
  }
});

describe("sdk: the credential of a Retirement", () => {
  const cases: Readonly<Record<string, readonly [given: unknown, registered: unknown]>> = {
    "a text": [pulumi.output("token"), "token"],
    "a map with Outputs": [
      { url: pulumi.secret("u"), name: "n" },
      { url: "u", name: "n" },
    ],
    "an Output that is undefined": [pulumi.output(undefined), null],
    "a part that is undefined": [
      { url: pulumi.output(undefined), name: "n" },
      { url: null, name: "n" },
    ],
    none: [undefined, undefined],
  };
  for (const [what, [credential, expected]] of Object.entries(cases)) {
    it(`reaches the provider as a secret, and what is undefined is refused there: ${what}`, async () => {
      const registered = await startMocks();
      await valueOf(new Retirement("app", { access, credential } as RetirementArgs<string>).urn);
      const { credential: given } = registered[0]?.inputs ?? {};
      const { value, ...mark } = (given ?? {}) as Record<string, unknown>;
      assert.deepEqual([value, Object.keys(mark).length], [expected, expected === undefined ? 0 : 1]);
    });
  }
});
