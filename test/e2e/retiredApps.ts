import assert from "node:assert/strict";
import type * as pulumi from "@pulumi/pulumi";
import { findDue } from "../../provider/doctor/due";
import { type ExportedState } from "../../provider/doctor/stackState";
import { Folder } from "../support/folder";
import { type Adapter } from "../support/host";
import { acceptsPassword, type RedisServer, startRedisServer } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { acceptsToken } from "../support/resources";
import { Deployments, triesAt, type Way, ways } from "./deployments";
import { EngineStack, fails, type Rekey, type Result, succeeds } from "./engineStack";

/** A secret of which two can be valid, and what uses it. Tests change them between two `up`s. */
export interface App {
  readonly name: string;
  readonly way?: Way;
  readonly isReplaced?: boolean;
  readonly drainMs?: number;
  /** The user at its server. Default: the name. */
  readonly user?: string;
  /** Which of the two servers has its user; `queue`: it is the token of the queue. Default: the first one. */
  readonly at?: "second" | "queue";
  /** The name of the rotation in the program. */
  rotation?: string;
  /** The name of the Retirement in the program. */
  retirement?: string;
  /** Of the Retirement. */
  options?: pulumi.CustomResourceOptions;
  /** The name of an explicit provider of the Retirement, which only the plugin has. */
  provider?: string;
  /** Nothing uses it any more. */
  isUnused?: boolean;
}

const queueUserId = "00000000-0000-4000-8000-000000000001";

/** A stack of apps. Its servers are behind gates, which clients do not use. */
export class Apps {
  version = 1;
  readonly #attempts = new Map<RedisServer, ReturnType<typeof triesAt>>();

  private constructor(
    readonly apps: readonly App[],
    readonly servers: readonly [RedisServer, RedisServer],
    readonly gates: readonly [RedisGate, RedisGate],
    private readonly folder: Folder,
  ) {}

  declare stack: EngineStack;
  declare deployments: Deployments;

  /** @param clientCount how many clients each deployment has */
  static async start(apps: readonly App[], adapter: Adapter, clientCount: number): Promise<Apps> {
    const folder = new Folder();
    const users = "user default on >admin ~* &* +@all\n";
    const startServer = (name: string) => startRedisServer({ aclFile: folder.write(name, users) });
    const servers = [await startServer("first.acl"), await startServer("second.acl")] as const;
    const gates = [await RedisGate.start(servers[0].port), await RedisGate.start(servers[1].port)] as const;
    const started = new Apps(apps, servers, gates, folder);
    for (const server of servers) started.#attempts.set(server, triesAt(server));
    for (const app of apps) {
      if (app.at !== "queue") await started.serverOf(app).acl("SETUSER", userOf(app), "on", ">first", "~*", "+@all");
    }
    for (const server of servers) await server.acl("SAVE");
    started.deployments = await Deployments.start((name, secret) => started.#use(name, secret), clientCount);
    started.stack = await EngineStack.start((rekey) => started.#declare(rekey), {
      adapter,
      platform: { credentials: "read" },
      config: { "rekey:queueToken": undefined, "rekey:queueUserId": queueUserId },
    });
    return started;
  }

  serverOf({ at }: App): RedisServer {
    return this.servers[at === "second" ? 1 : 0];
  }

  adminOf({ at }: App) {
    const { port } = this.gates[at === "second" ? 1 : 0];
    return { host: "127.0.0.1", port, tls: false, password: "admin" };
  }

  async close(): Promise<void> {
    await this.deployments.close();
    await this.stack.end();
    for (const { close } of this.#attempts.values()) close();
    for (const gate of this.gates) await gate.close();
    for (const server of this.servers) await server.close();
    this.folder.remove();
  }

  /** An `up` that must succeed. Only the latest secret of each app is valid after it. */
  async succeeds(): Promise<Result> {
    const result = await succeeds(this.stack.up());
    await this.assertNoneRefused(result);
    await this.assertOnlyLatestValid(result.printed);
    assert.deepEqual(await this.pendingDeletes(), []);
    return result;
  }

  /** An `up` that must fail. */
  async fails(...patterns: readonly RegExp[]): Promise<Result> {
    const result = await fails(this.stack.up(), ...patterns);
    await this.assertNoneRefused(result);
    return result;
  }

  async assertOnlyLatestValid(printed?: string): Promise<void> {
    for (const app of this.apps) {
      const latest = app.isUnused ? [] : this.deployments.given(app.name).slice(-1);
      assert.deepEqual(await this.validOf(app), latest, `${app.name}: ${printed}`);
    }
  }

  async assertNoneRefused({ printed }: Pick<Result, "printed">): Promise<void> {
    assert.deepEqual(await this.deployments.refused(), [], printed);
  }

  /** Of the secrets that deployments of an app were given, those that are valid. */
  async validOf(app: App): Promise<string[]> {
    const valid = [];
    for (const secret of new Set(this.deployments.given(app.name))) {
      if (await this.accepts(app, secret)) valid.push(secret);
    }
    return valid;
  }

  /** The password that a user has before the first `up`. */
  formerOf(app: App): string {
    return `redis://${userOf(app)}:first@host`;
  }

  accepts(app: App, secret: string): Promise<boolean> {
    if (app.at === "queue") return acceptsToken(this.stack.platform, secret);
    const { username, password } = new URL(secret);
    return acceptsPassword({ endpoint: "127.0.0.1", port: this.serverOf(app).port }, username, password);
  }

  /** How many passwords its user has. */
  async countOf(app: App): Promise<number> {
    const user = (await this.serverOf(app).acl("GETUSER", userOf(app))) as unknown[];
    return (user[user.indexOf("passwords") + 1] as unknown[]).length;
  }

  /** The resources that are replaced, and wait for their deletion. */
  async pendingDeletes(): Promise<string[]> {
    return (await this.stack.saved()).resources.flatMap(({ urn, delete: waits }) => (waits ? urn : []));
  }

  /** What `doctor --due` lists three days later, without a further `up`. */
  async dueLater(): Promise<string[]> {
    const { output } = await this.stack.run("stack", "export");
    const { resources } = (JSON.parse(output) as { deployment: Pick<ExportedState, "resources"> }).deployment;
    const now = new Date(Date.now() + 3 * 86_400_000);
    return findDue([{ name: "dev", resources }], "24h", now).due.map(({ resource, what }) => `${resource} ${what}`);
  }

  async #use(name: string, secret: string): Promise<void> {
    const app = this.apps.find((one) => one.name === name) ?? assert.fail(name);
    if (app.at === "queue") {
      if (!(await this.accepts(app, secret))) throw new Error(`refused: ${secret}`);
      return;
    }
    await this.#attempts.get(this.serverOf(app))?.tries(secret);
  }

  #declare(rekey: Rekey): Record<string, unknown> {
    const { version } = this;
    const outputs: Record<string, unknown> = {};
    const providers = new Map<string, pulumi.ProviderResource>();
    const { Provider } = rekey as unknown as { Provider: new (name: string, args: object) => pulumi.ProviderResource };
    const providerOf = (name: string) => {
      const made = providers.get(name) ?? new Provider(name, {});
      providers.set(name, made);
      return made;
    };
    for (const app of this.apps) {
      const {
        name,
        rotation = name,
        retirement = name,
        provider,
        way = "plain",
        isReplaced = false,
        drainMs = 0,
      } = app;
      const [access, secret] =
        app.at === "queue"
          ? tokenOf(new rekey.QueueTokenRotation(rotation, { queueUserId, version }))
          : urlOf(new rekey.AclUserRotation(rotation, { admin: this.adminOf(app), userName: userOf(app), version }));
      const options = { ...app.options, ...(provider !== undefined && { provider: providerOf(provider) }) };
      const handed = new rekey.Retirement(retirement, { access, credential: known(secret) }, options);
      if (app.isUnused) continue;
      const args = { url: this.deployments.url, secret: handed.credential, isReplaced, drainMs };
      outputs[name] = ways[way](name, args, handed);
    }
    return outputs;
  }
}

const tokenOf = ({ access, token }: InstanceType<Rekey["QueueTokenRotation"]>) => [access, token] as const;
const urlOf = ({ access, connectionUrl }: InstanceType<Rekey["AclUserRotation"]>) => [access, connectionUrl] as const;
const known = (secret: pulumi.Output<string | undefined>) => secret.apply((value) => value ?? assert.fail());
const userOf = ({ name, user = name }: App): string => user;
