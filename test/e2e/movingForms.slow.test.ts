import assert from "node:assert/strict";
import Module from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import * as ts from "typescript";
import { startServer } from "./keyVendor";
import { ApiKey } from "../../examples/any-key/apiKey";
import { readPage } from "../docs/page";
import { Folder } from "../support/folder";
import { type Adapter, adapters, projectRoot } from "../support/host";
import { acceptsPassword, startRedisServer } from "../support/redis";
import { acceptsToken, databasePath } from "../support/resources";
import { Deployments, triesAt, ways } from "./deployments";
import { EngineStack, fails, onEngine, type Result, succeeds } from "./engineStack";

const page = readPage("docs/moving-between-forms.md");
const [programOfPage = "", aliasesOfPage = ""] = page.blocks.map(({ code }) => code);
const [, pluginPackage = ""] = /Import from the other form, here `"(@[\w-]+\/rekey)"`/.exec(page.text) ?? assert.fail();
/** What the page imports from each form. */
const packages: Readonly<Record<Adapter, string>> = { dynamic: "pulumi-rekey", plugin: pluginPackage };

const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";
const secrets = ["sessions", "queue", "app", "orders"] as const;
type Secret = (typeof secrets)[number];

/** The program of the page in one of the forms, as a reader changes it. */
interface Version {
  readonly form: Adapter;
  readonly hasAliases?: boolean;
  /** Of all secrets but that of the database, whose reset is an outage. */
  readonly version?: number;
}

function textOf({ form, hasAliases = false, version = 1 }: Version): string {
  const [imports = "", ...resources] = programOfPage.replace(packages.dynamic, packages[form]).split("\n\n");
  const swapped = (text: string) => text.replace(/\[(".*"), (".*")\]/, "[$2, $1]");
  const aliases = form === "plugin" ? aliasesOfPage : swapped(aliasesOfPage);
  const pulumi = `import * as pulumi from "@pulumi/pulumi";`;
  const isReset = /new rekey\.PasswordRotation/;
  const declared = resources.map((one) => (isReset.test(one) ? one : one.replace(/version: 1/, `version: ${version}`)));
  return [pulumi, imports, ...(hasAliases ? [aliases] : []), ...declared].join("\n");
}

/** Runs a program. @param packages in place of those that it imports */
function run(text: string, packages: Readonly<Record<string, object>>): void {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(text, { compilerOptions });
  const program = compileFunction(outputText, ["require", "exports"]) as (require: unknown, exports: object) => void;
  const load = Module.createRequire(join(projectRoot, "program.js"));
  program((name: string) => packages[name] ?? (load(name) as unknown), {});
}

/** A stack of the page's program, whose consumers use each secret all the time. */
class Shop {
  version: Version = { form: "dynamic" };

  private constructor(
    readonly stack: EngineStack,
    readonly deployments: Deployments,
    readonly accepts: (name: Secret, secret: string) => Promise<boolean>,
    readonly passwordCount: () => Promise<number>,
    readonly close: () => Promise<void>,
  ) {}

  static async start(): Promise<Shop> {
    const folder = new Folder();
    const users = "user default on >admin ~* &* +@all\nuser app on >first ~* &* +@all -@admin\n";
    const redis = await startRedisServer({ aclFile: folder.write("users.acl", users) });
    const vendor = await startServer();
    const attempts = triesAt(redis);
    const accepts = async (name: Secret, secret: string): Promise<boolean> => {
      if (name === "queue") return acceptsToken(stack.platform, secret);
      if (name === "orders") return vendor.statusOf("/", secret) === 200;
      const { hostname: endpoint, port, username, password } = new URL(secret);
      if (name === "sessions") return acceptsPassword({ endpoint, port }, username, password);
      return attempts.tries(secret).then(
        () => true,
        () => false,
      );
    };
    const deployments = await Deployments.start(async (name, secret) => {
      if (!(await accepts(name as Secret, secret))) throw new Error("refused");
    }, 3);
    const isOfShop = {
      admin: { host: "127.0.0.1", port: redis.port, tls: false, password: "admin" },
      queueUserId,
      validate: `${vendor.url}/validate`,
      ApiKey: class extends ApiKey {
        constructor(name: string, _: object, options: ConstructorParameters<typeof ApiKey>[2]) {
          super(name, { server: vendor.url }, options);
        }
      },
      consumers: (all: Record<Secret, string>) => {
        for (const name of secrets) ways.plain(name, { url: deployments.url, secret: all[name] });
      },
    };
    const stack = await EngineStack.start(
      () =>
        run(textOf(shop.version), {
          [packages.dynamic]: require("pulumi-rekey") as object,
          [packages.plugin]: require("../fixtures/nativeSdk") as object,
          "./shop": isOfShop,
        }),
      {
        platform: { databases: ["sessions"], databasePath, credentials: "always", queueUsers: [queueUserId] },
        config: { "rekey:databasePath": databasePath, "rekey:queueToken": undefined, "rekey:queueUserId": queueUserId },
      },
    );
    const passwordCount = async () => {
      const user = (await redis.acl("GETUSER", "app")) as unknown[];
      return (user[user.indexOf("passwords") + 1] as unknown[]).length;
    };
    const shop = new Shop(stack, deployments, accepts, passwordCount, async () => {
      await deployments.close();
      await stack.end();
      attempts.close();
      vendor.close();
      await redis.close();
      folder.remove();
    });
    return shop;
  }

  /** An `up` that must succeed, and in which no client is refused. */
  async up(version: Version = this.version): Promise<Result> {
    this.version = version;
    const result = await succeeds(this.stack.up());
    assert.deepEqual(await this.deployments.refused(), [], result.printed);
    return result;
  }

  /** The first step of the page. */
  async settle(): Promise<void> {
    const hasChanges = async () => Object.keys((await succeeds(this.stack.preview())).changes).join() !== "same";
    for (let count = 0; await hasChanges(); count++) {
      assert.ok(count < 3, "changes in each preview");
      await this.up();
    }
  }

  /** The secrets that clients use now. */
  get current(): string[] {
    return secrets.map((name) => this.deployments.given(name).at(-1) ?? assert.fail(name));
  }

  /** Of all secrets that clients were given, those that are valid. */
  async valid(): Promise<string[]> {
    const all = secrets.flatMap((name) => this.deployments.given(name).map((secret) => ({ name, secret })));
    const accepted = await Promise.all(all.map(({ name, secret }) => this.accepts(name, secret)));
    return all.filter((_, nth) => accepted[nth]).map(({ secret }) => secret);
  }

  /** What a move keeps: the secrets, the requests that have changed something, and what users see of rotations. */
  async kept() {
    const { resources } = await this.stack.saved();
    const names = ["rotatedAt", "adoptedAt", "turnedAt", "nextRotationAt", "rotationCount", "value"];
    const outputs = resources
      .filter(({ urn }) => /rekey:\S*(Rotation|Trigger)::/.test(urn))
      .map(({ urn, outputs = {} }) => [urn.split("::").at(-1), ...names.map((name) => outputs[name])])
      .sort();
    assert.equal(outputs.length, 4);
    const { current, changes } = this;
    return { current, changes, outputs, passwordCount: await this.passwordCount() };
  }

  /** The requests that have changed something. */
  get changes(): string[] {
    return this.stack.platform.requests.filter(({ method }) => method !== "GET").map(({ path }) => path);
  }
}

/** The resources are the same ones for Pulumi. */
function assertKept({ changes, printed }: Result): void {
  const { create, delete: deleted, replace } = changes;
  assert.deepEqual(
    { create, deleted, replace },
    { create: undefined, deleted: undefined, replace: undefined },
    printed,
  );
}

/** Runs something with the variable that the page's command sets. */
async function withVariableOfPage<T>(act: () => Promise<T>): Promise<T> {
  const [, name = "", value] = /`(REKEY_\w+)=(\d+) pulumi up`/.exec(page.text) ?? assert.fail();
  process.env[name] = value;
  try {
    return await act();
  } finally {
    delete process.env[name];
  }
}

onEngine("A program that moves between the forms, as docs/moving-between-forms.md says", () => {
  let shop: Shop;
  beforeEach(async () => void (shop = await Shop.start()));
  afterEach(() => shop.close());

  for (const form of adapters) {
    const other = adapters.find((one) => one !== form) ?? assert.fail();

    it(`keeps all that it has, from ${packages[form]} to ${packages[other]}`, async () => {
      await shop.up({ form });
      await shop.settle();
      const before = await shop.kept();
      shop.version = { form: other, hasAliases: true };
      assertKept(await withVariableOfPage(() => succeeds(shop.stack.preview())));
      assertKept(await withVariableOfPage(() => shop.up()));
      assert.deepEqual(await shop.kept(), before);

      const { changes } = await shop.up({ form: other });
      assert.deepEqual(Object.keys(changes), ["same"], "without the aliases");
      await succeeds(shop.stack.refresh());
      // The other form rotates, and retires what it was given.
      await shop.up({ form: other, version: 2 });
      assert.deepEqual(
        shop.current.map((secret) => before.current.includes(secret)),
        [true, false, false, false],
      );
      await shop.settle();
      assert.deepEqual([await shop.valid(), await shop.passwordCount()], [shop.current, 1]);
      await succeeds(shop.stack.destroy());
      assert.deepEqual(await shop.valid(), shop.current.slice(0, 3), "the vendor has deleted its key");
    });

    it(`without aliases is refused at the limit of 0, and otherwise adopts or adds, from ${packages[form]} to ${packages[other]}`, async () => {
      await shop.up({ form });
      await shop.settle();
      const [sessions, queue, app, key] = shop.current;
      const { length } = shop.changes;
      shop.version = { form: other };
      await withVariableOfPage(() => fails(shop.stack.up(), /user "app".* was not rotated.*REKEY_RESET_LIMIT/s));
      assert.deepEqual([shop.current, await shop.passwordCount()], [[sessions, queue, app, key], 1]);

      await shop.up();
      const [, , added, next] = shop.current;
      assert.deepEqual(shop.current.slice(0, 2), [sessions, queue]);
      assert.deepEqual(shop.changes.slice(length), []);
      assert.notEqual(added, app);
      assert.notEqual(next, key);
      assert.deepEqual(await shop.valid(), [sessions, queue, app, added, next]);
      await shop.settle();
      assert.deepEqual(await shop.valid(), [sessions, queue, added, next]);
      assert.deepEqual(await shop.deployments.refused(), []);
    });
  }
});
