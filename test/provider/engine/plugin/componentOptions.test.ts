import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type * as pulumi from "@pulumi/pulumi";
import { Alias } from "@pulumi/pulumi/proto/alias_pb";
import { ResourceProviderService as calls } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb";
import { type RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { projectRoot } from "../../../support/host";
import { argsFor } from "../../../support/plugin";
import { type FakeEngine, startPlugin } from "../../../support/pluginWire";
import { type ProviderClient } from "../../../support/providerClient";
import { fromStruct, isSecret, type Properties, reference, secretNames, toStruct, urnOf } from "../../../support/wire";

const rotation = urnOf("PasswordRotation");

/** The components, with inputs that can be used. */
const components = [
  {
    type: "PasswordRotationFleet",
    inputs: { databases: { first: { databaseId: "db-1" } } },
    secrets: ["connectionUrls", "credentials"],
    output: "failed",
    ignored: ["version", "triggers.region", 'triggers["a.b"]', "rotateEvery", "initialRotation", "includeRecords"],
    notIgnored: [["databases"], ['databases["first"].version'], ["version", "*"], ["host"], ["versions"]],
  },
  {
    type: "PasswordVerification",
    inputs: { rotation: reference(rotation) },
    secrets: [],
    output: "verified",
    ignored: ["withinSeconds"],
    notIgnored: [["rotation"], ["*"], ["targets"]],
  },
];

type Option = keyof ConstructRequest.AsObject;

/** What a child is registered with, of what the engine passes for its component. */
interface Applied {
  readonly option: Option;
  /** Whether the component is registered with it, too. */
  readonly alsoOnComponent?: boolean;
  readonly set: (request: ConstructRequest) => unknown;
  readonly read: (child: RegisterResourceRequest) => unknown;
  readonly expected: unknown;
}

type Accessors = Readonly<Record<string, (value?: unknown) => unknown>>;
/** An option with the same name in both requests. */
function passedOn(option: Option, value: unknown, alsoOnComponent = true): Applied {
  const name = option.replace(/^./, (letter) => letter.toUpperCase());
  const set = (of: object) => (of as Accessors)[`set${name}`]?.call(of, value);
  const read = (child: object) => (child as Accessors)[`get${name}`]?.call(child);
  return { option, alsoOnComponent, set, read, expected: value };
}

const [{ CustomTimeouts, ResourceHooksBinding, PropertyDependencies }, urn] = [ConstructRequest, "urn:another"];
const hooks = new ResourceHooksBinding().setBeforeCreateList(["first"]).setAfterUpdateList(["second", "third"]);
const timeouts = new CustomTimeouts().setCreate("4s").setUpdate("3s").setDelete("2s").setRead("1s");
const appliedToChildren: readonly Applied[] = [
  passedOn("protect", true),
  passedOn("retainondelete", true),
  passedOn("dependenciesList", [urn]),
  passedOn("deletedwith", urn),
  {
    option: "inputdependenciesMap",
    alsoOnComponent: true,
    set: (of) => of.getInputdependenciesMap().set("any", new PropertyDependencies().setUrnsList([urn])),
    read: (child) => child.getDependenciesList(),
    expected: [urn],
  },
  {
    option: "customtimeouts",
    set: (of) => of.setCustomtimeouts(timeouts),
    read: (child) => child.getCustomtimeouts()?.toObject(),
    expected: timeouts.toObject(),
  },
  {
    option: "deletebeforereplace",
    set: (of) => of.setDeletebeforereplace(false),
    read: (child) => ({ isSet: child.getDeletebeforereplacedefined(), value: child.getDeletebeforereplace() }),
    expected: { isSet: true, value: false },
  },
  {
    option: "resourceHooks",
    set: (of) => of.setResourceHooks(hooks),
    read: (child) => child.getHooks()?.toObject(),
    expected: hooks.toObject(),
  },
  {
    option: "providersMap",
    set: (of) => of.getProvidersMap().set("rekey", "urn:provider::id"),
    read: (child) => child.getProvider(),
    expected: "urn:provider::id",
  },
];

/** Options that are refused by name. */
const refused = [
  { option: "replaceonchangesList", name: "replaceOnChanges", set: (of) => of.setReplaceonchangesList(["version"]) },
  { option: "replaceWithList", name: "replaceWith", set: (of) => of.setReplaceWithList([urn]) },
  {
    option: "replacementTrigger",
    name: "replacementTrigger",
    set: (of) => of.setReplacementTrigger(toStruct({ a: 1 }).getFieldsMap().get("a")),
  },
] as const satisfies readonly {
  option: Option;
  name: string;
  set: (request: ConstructRequest) => unknown;
}[];

/** Options with separate tests below. */
const testedBelow = ["ignorechangesList", "aliasesList", "parent", "additionalsecretoutputsList"] as const;

/** What else the engine passes. */
const noOptions = [
  ...(["project", "stack", "organization", "configMap", "configsecretkeysList", "dryrun", "parallel"] as const),
  ...(["monitorendpoint", "type", "name", "inputs", "acceptsOutputValues", "stackTraceHandle"] as const),
] as const satisfies readonly Option[];

describe("options of components in the plugin", () => {
  let platform: Platform;
  let engine: FakeEngine;
  let plugin: ProviderClient;
  let stop: () => void;
  before(async () => {
    platform = await startPlatform({ databases: [{ database_id: "db-1" }], credentials: "always" });
  });
  beforeEach(async () => {
    ({ engine, plugin, stop } = await startPlugin());
    engine.states.set(rotation, { databaseId: "db-1", outcome: "adopted" });
    await plugin.configure("", argsFor(platform));
  });
  afterEach(() => stop());
  after(() => platform.close());

  /** Constructs a component. @returns what it registered */
  async function construct({ type, inputs }: (typeof components)[number], set: (request: ConstructRequest) => unknown) {
    const request = new ConstructRequest()
      .setType(`rekey:index:${type}`)
      .setName("it")
      .setMonitorendpoint(engine.address)
      .setInputs(toStruct(inputs));
    set(request);
    const response = await plugin.call(calls.construct, request);
    const [component = assert.fail(), child = assert.fail()] = engine.registered;
    return { component, child, outputs: fromStruct(response.getState()) };
  }

  it("has a test for each field that the engine passes", () => {
    const known = [...appliedToChildren, ...refused].map(({ option }) => option);
    const fields = Object.keys(new ConstructRequest().toObject());
    assert.deepEqual([...known, ...testedBelow, ...noOptions].sort(), fields.sort());
  });

  for (const component of components) {
    for (const { option, alsoOnComponent, set, read, expected } of appliedToChildren) {
      it(`applies ${option} of a ${component.type} to its child`, async () => {
        const registered = await construct(component, set);
        assert.deepEqual(read(registered.child), expected);
        if (alsoOnComponent) assert.deepEqual(read(registered.component), expected);
      });
    }

    it(`leaves it to the engine which options that are not set a ${component.type} inherits`, async () => {
      const { child } = await construct(component, () => undefined);
      assert.equal(child.hasProtect(), false);
      assert.equal(child.hasRetainondelete(), false);
      assert.equal(child.getDeletebeforereplacedefined(), false);
    });

    for (const { name, set } of refused) {
      it(`refuses ${name} of a ${component.type}, and registers nothing`, async () => {
        const message = new RegExp(`The option ${name} is not supported: .*Nothing was sent.*REKEY_INPUT_INVALID`);
        await assert.rejects(construct(component, set), message);
        assert.equal(engine.registered.length, 0);
      });
    }

    it(`applies ignoreChanges of a ${component.type} to the inputs that its child shares`, async () => {
      const { child } = await construct(component, (of) => of.setIgnorechangesList(component.ignored));
      assert.deepEqual(child.getIgnorechangesList(), component.ignored);
    });

    for (const paths of component.notIgnored) {
      it(`refuses ignoreChanges with ${paths.join()} of a ${component.type}`, async () => {
        const message = /The option ignoreChanges cannot contain ".+": only .*Nothing was sent.*REKEY_INPUT_INVALID/;
        await assert.rejects(
          construct(component, (of) => of.setIgnorechangesList(paths)),
          message,
        );
        assert.equal(engine.registered.length, 0);
      });
    }

    it(`marks the outputs of a ${component.type} that additionalSecretOutputs names`, async () => {
      const { secrets, output } = component;
      const names = [...secrets, output];
      const { outputs } = await construct(component, (of) => of.setAdditionalsecretoutputsList(names));
      assert.deepEqual(secretNames(outputs), names);
      assert.deepEqual(secretNames(engine.registeredOutputs[0] ?? {}), names);
      assert.ok(names.every((name) => !isSecret((outputs[name] as Properties).value)));
    });

    it(`keeps the parent and the aliases of a ${component.type}, which the engine passes on to the child`, async () => {
      const alias = new Alias().setUrn("urn:former");
      const registered = await construct(component, (of) => of.setParent("urn:parent").setAliasesList([alias]));
      assert.equal(registered.component.getParent(), "urn:parent");
      assert.deepEqual(
        registered.component.getAliasesList().map((one) => one.getUrn()),
        ["urn:former"],
      );
      assert.equal(registered.child.getParent(), urnOf(component.type, "it"));
    });
  }
});

/** Pulumi's options, without the one for providers only: a new one must be added to the table in the documentation. */
const allOptions = [
  ...(["additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "deletedWith"] as const),
  ...(["dependsOn", "hideDiffs", "hooks", "id", "ignoreChanges", "import", "parent", "pluginDownloadURL"] as const),
  ...(["protect", "provider", "providers", "replaceOnChanges", "replaceWith", "replacementTrigger"] as const),
  ...(["retainOnDelete", "transformations", "transforms", "urn", "version", "envVarMappings"] as const),
] as const;
type PulumiOption = keyof (pulumi.ComponentResourceOptions & pulumi.CustomResourceOptions);
const missing: Exclude<PulumiOption, (typeof allOptions)[number]> extends never ? undefined : never = undefined;

describe("docs/fleets.md", () => {
  it("has each of Pulumi's options once", () => {
    const page = readFileSync(join(projectRoot, "docs", "fleets.md"), "utf8");
    const [, section = ""] = page.split("## Options of Pulumi\n");
    const cells = section.split("\n## ")[0]?.matchAll(/^\| ([^|]*`[^|]*)\|/gm) ?? [];
    const options = [...cells].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    assert.deepEqual([...options, "envVarMappings"].sort(), [...allOptions].sort());
    assert.equal(missing, undefined);
  });
});
