import { setTimeout as wait } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";
import { Redis } from "ioredis";
import { HttpServer } from "../support/httpServer";
import { type RedisServer } from "../support/redis";
import { Clients } from "./keyClients";

/** Tries the user and the password in URLs, on one connection. While the server restarts, attempts wait. */
export function triesAt(server: RedisServer) {
  const client = new Redis(server.url, { maxRetriesPerRequest: null }).on("error", () => undefined);
  const tries = (url: string): Promise<unknown> => {
    const { username, password } = new URL(url);
    return client.call("AUTH", username, password);
  };
  return { tries, close: () => client.disconnect() };
}

/** What a deployment in a program asks of the server. */
interface Asked {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  readonly drainMs?: number;
}

/** Tries a secret, and rejects if it is refused. */
type Use = (name: string, secret: string) => Promise<unknown>;

/**
 * Runs the clients of deployments. Each client tries the secret that its deployment was given all the time, from the
 * deployment's creation until it is deleted.
 */
export class Deployments {
  /** Deployments whose creations and updates fail. */
  failing: (name: string) => boolean = () => false;
  readonly #given = new Map<string, string[]>();
  readonly #clients = new Map<string, Clients>();
  readonly #all: { readonly name: string; readonly clients: Clients }[] = [];

  private constructor(
    private readonly server: HttpServer,
    private readonly use: Use,
    private readonly count: number,
  ) {}

  /** @param count of the clients of a deployment */
  static async start(use: Use, count: number): Promise<Deployments> {
    const server = await HttpServer.start({
      behaviour: async ({ path, answer }) => {
        const asked = JSON.parse(server.requests.findLast((one) => one.path === path)?.body ?? "") as Asked;
        const isFailing = !path.startsWith("/delete") && deployments.failing(asked.name);
        if (!isFailing) await deployments.#change(path, asked);
        answer(isFailing ? 503 : 200, {}, isFailing ? `${asked.name} is broken` : "");
      },
    });
    const deployments = new Deployments(server, use, count);
    return deployments;
  }

  get url(): string {
    return this.server.url;
  }

  /** The secrets that a deployment was given, the latest last. */
  given(name: string): readonly string[] {
    return this.#given.get(name) ?? [];
  }

  get attempts(): number {
    return this.#all.reduce((sum, { clients }) => sum + clients.attempts, 0);
  }

  /** The attempts that failed, once each client that runs has made another one. */
  async refused(): Promise<string[]> {
    await Promise.all(this.#all.map(({ clients }) => clients.attemptOfEach()));
    return this.#all.flatMap(({ name, clients }) => clients.failures.map((failure) => `${name}: ${failure}`));
  }

  /** The deployments that have clients. */
  get running(): string[] {
    return this.#all.filter(({ clients }) => !clients.isStopped).map(({ name }) => name);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ clients }) => clients.stop()));
    await this.server.close();
  }

  async #change(path: string, { id, name, secret, drainMs = 0 }: Asked): Promise<void> {
    const clients = this.#clients.get(id);
    if (path.startsWith("/delete")) {
      await wait(drainMs);
      return clients?.stop();
    }
    const given = this.given(name);
    if (given.at(-1) !== secret) this.#given.set(name, [...given, secret]);
    if (clients) return clients.handOver(secret);
    const created = new Clients((one) => this.use(name, one), secret, this.count, 10);
    this.#clients.set(id, created);
    this.#all.push({ name, clients: created });
    await created.handOver(secret);
  }
}

interface DeploymentArgs {
  readonly url: string;
  readonly secret: pulumi.Input<string>;
  /** Whether another secret replaces it, instead of updating it. */
  readonly isReplaced?: boolean;
  /** How long its clients go on after its deletion has begun. */
  readonly drainMs?: number;
}

/** A deployment in a program. Its creation and its updates are done when all clients use the secret. */
class Deployment extends pulumi.CustomResource {
  constructor(name: string, args: DeploymentArgs, options: pulumi.CustomResourceOptions = {}) {
    const __provider = `exports.handler = () => {
      const ask = async (verb, id, inputs) => {
        const response = await fetch(inputs.url + "/" + verb + "/" + id, {
          method: "POST",
          body: JSON.stringify({ ...inputs, id, __provider: undefined }),
        });
        if (!response.ok) throw new Error(await response.text());
      };
      return {
        diff: async (id, olds, news) => {
          const changes = olds.secret !== news.secret;
          return { changes, replaces: changes && news.isReplaced ? ["secret"] : [] };
        },
        create: async (inputs) => {
          const id = crypto.randomUUID();
          await ask("create", id, inputs);
          return { id, outs: inputs };
        },
        update: async (id, olds, news) => (await ask("update", id, news), { outs: news }),
        delete: (id, inputs) => ask("delete", id, inputs),
      };
    }`;
    super("pulumi-nodejs:dynamic/test:Deployment", name, { name, ...args, __provider }, options);
  }
}

/**
 * Makes a deployment. @returns what an inline program has to wait for; a process of its own does anyway
 *
 * @param handed has its secret
 */
type Make = (name: string, args: DeploymentArgs, handed: pulumi.Resource) => unknown;

const inApplyAfter =
  (ms: number): Make =>
  (name, args) => {
    const parent = new pulumi.ComponentResource("test:index:App", `${name}-app`);
    return pulumi.output(args.secret).apply(async () => {
      await wait(ms);
      return new Deployment(name, args, { parent }).urn;
    });
  };

/** A value, other than an output, makes no dependency: without `dependsOn`, a replaced one is deleted too late. */
const inApplyByValue: Make = (name, args, handed) =>
  pulumi.output(args.secret).apply((value) => {
    const secret = pulumi.secret(value);
    return new Deployment(name, { ...args, secret }, { dependsOn: handed }).urn;
  });

const afterAwait: Make = async (name, args) => {
  class App extends pulumi.ComponentResource {
    /** The deployment is made after the constructor. */
    async deploy() {
      await wait(300);
      return new Deployment(name, args, { parent: this }).urn;
    }
  }
  return new App("test:index:App", `${name}-app`).deploy();
};

const inConstructor: Make = (name, args) => {
  class App extends pulumi.ComponentResource {
    readonly deployment = new Deployment(name, args, { parent: this });
  }
  return new App("test:index:App", `${name}-app`).deployment.urn;
};

/** The ways in which programs make what uses a secret. */
export const ways = {
  plain: (name, args) => new Deployment(name, args).urn,
  inConstructor,
  afterAwait,
  inApply: inApplyAfter(0),
  inApplyByValue,
  inApplyAfter300: inApplyAfter(300),
  inApplyAfter3000: inApplyAfter(3_000),
} as const satisfies Record<string, Make>;

export type Way = keyof typeof ways;
