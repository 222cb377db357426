import assert from "node:assert/strict";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import * as pulumi from "@pulumi/pulumi";
import { type Platform } from "../../local/platform/index";
import { Folder } from "../support/folder";
import { type RedisServer, startRedisServer } from "../support/redis";
import { SocketServer } from "../support/socketServer";
import { Clients, isAccepted, pingRedis, useQueue } from "./clients";
import { type Rekey } from "./engineStack";

export const queueUserId = "00000000-0000-4000-8000-000000000001";

/** Of a stack on the real engine. Its queue token is used by the clients alone. */
export const stackOptions = {
  platform: { credentials: "read" },
  config: { "rekey:queueUserId": queueUserId, "rekey:queueToken": undefined },
} as const;

/** What the clients use: the URL of a user of a Redis, and a queue token. */
interface Secrets {
  readonly app: string;
  readonly queue: string;
}

/** By kind: failures of clients, and whether the server accepts a secret. */
export const none = { app: [], queue: [] };
export const accepted = { app: true, queue: true };
export const refused = { app: false, queue: false };

export const kinds = ["app", "queue"] as const;

/**
 * A program that rotates the password of a user of a real Redis and a queue token, and deploys 20 clients of each. They
 * run in this process.
 */
export class Scenario {
  /** Arguments of both rotations. */
  args: Readonly<Record<string, unknown>> = { version: 1 };
  /** When both verifications retire: after the deployment, before it, or never. */
  retires: "after" | "before" | "never" = "after";
  /** Whether deployments fail, and hand over nothing. */
  isBroken = false;
  readonly #folder = new Folder();
  readonly #service: SocketServer;
  #redis: RedisServer | undefined;
  #clients: Readonly<Record<keyof Secrets, Clients>> | undefined;
  #use!: Readonly<Record<keyof Secrets, (secret: string) => Promise<void>>>;
  #deployed!: Secrets;

  private constructor() {
    this.#service = new SocketServer(
      createServer((received, response) => {
        const deploy = async (): Promise<void> => this.#deploy((await json(received)) as Partial<Secrets>);
        void deploy().then(
          () => response.end(),
          (error: unknown) => response.writeHead(503).end(String(error)),
        );
      }),
    );
  }

  /** Starts the Redis, and what deploys. */
  static async start(): Promise<Scenario> {
    const scenario = new Scenario();
    await scenario.#service.listen();
    const aclFile = scenario.#folder.write("users.acl", "user default on >admin ~* &* +@all\n");
    scenario.#redis = await startRedisServer({ aclFile });
    await scenario.#redis.acl("SETUSER", "app", "on", ">first", "~*", "+@all");
    return scenario;
  }

  /** Starts the clients, with what is valid before the first rotation. */
  connect({ url, queueToken }: Platform): void {
    this.#use = { app: pingRedis, queue: (token) => useQueue(url, token) };
    this.#deployed = { app: `redis://app:first@127.0.0.1:${this.#redis?.port}`, queue: queueToken };
    this.#clients = {
      app: new Clients(this.#use.app, this.#deployed.app),
      queue: new Clients(this.#use.queue, this.#deployed.queue),
    };
  }

  readonly program = ({ AclUserRotation, CredentialVerification, QueueTokenRotation }: Rekey): void => {
    const admin = { host: "127.0.0.1", port: this.#redis?.port ?? 0, tls: false, password: "admin" };
    const app = new AclUserRotation("app", { admin, userName: "app", ...this.args });
    const queue = new QueueTokenRotation("queue", { queueUserId, ...this.args });
    const secrets = { app: app.connectionUrl, queue: queue.token };
    const url = `http://127.0.0.1:${this.#service.port}`;
    const verify = (of: "app" | "queue", retireFormerAfter?: unknown[]) =>
      new CredentialVerification(`${of}-proof`, { access: { app, queue }[of].access, retireFormerAfter });
    const isFirst = this.retires === "before";
    const proofs = isFirst ? [verify("app", [app]), verify("queue", [queue])] : [];
    const shop = new Shop("shop", { url, secrets }, { dependsOn: proofs });
    if (isFirst) return;
    const isLast = this.retires === "after";
    // A component waits for its children, in whichever way it is given.
    verify("app", isLast ? [shop] : undefined);
    verify("queue", isLast ? [shop.urn] : undefined);
  };

  /** What the clients have. */
  get deployed(): Secrets {
    return this.#deployed;
  }

  /** The attempts of the clients so far. */
  get attempts(): Readonly<Record<keyof Secrets, number>> {
    const { app, queue } = this.#running;
    return { app: app.attempts, queue: queue.attempts };
  }

  /** Why attempts of the clients have failed. */
  get failures(): Readonly<Record<keyof Secrets, readonly string[]>> {
    const { app, queue } = this.#running;
    return { app: app.failures, queue: queue.failures };
  }

  /** Which of these are accepted. */
  async accepted(secrets: Secrets): Promise<Record<keyof Secrets, boolean>> {
    const { app, queue } = this.#use;
    return { app: await isAccepted(app, secrets.app), queue: await isAccepted(queue, secrets.queue) };
  }

  /** Replaces all passwords of the user, and the tokens, as someone else may do. */
  async replaceAll(platform: Platform): Promise<void> {
    await this.#redis?.acl("SETUSER", "app", "resetpass", ">other");
    platform.changeQueueUserTokens(queueUserId);
  }

  async end(): Promise<void> {
    await Promise.all(Object.values(this.#clients ?? {}).map((each) => each.stop()));
    await this.#redis?.close();
    await this.#service.close();
    this.#folder.remove();
  }

  get #running(): Readonly<Record<keyof Secrets, Clients>> {
    return this.#clients ?? assert.fail("the clients are not connected");
  }

  /** @param secrets without one that is not known yet */
  async #deploy(secrets: Partial<Secrets>): Promise<void> {
    if (this.isBroken) throw new Error("the deployment has failed");
    const { app, queue } = { ...this.#deployed, ...secrets };
    await Promise.all([this.#running.app.handOver(app), this.#running.queue.handOver(queue)]);
    this.#deployed = { app, queue };
  }
}

/** A component whose component has the deployment. */
class Shop extends pulumi.ComponentResource {
  constructor(name: string, inputs: pulumi.Inputs, options: pulumi.CustomResourceOptions) {
    super("test:index:Shop", name);
    const parent = new pulumi.ComponentResource("test:index:Part", "part", {}, { parent: this });
    new Deployment("consumers", inputs, { ...options, parent });
  }
}

/** A deployment in a program: it is done when the clients have the secrets. */
export class Deployment extends pulumi.CustomResource {
  constructor(name: string, inputs: pulumi.Inputs, options: pulumi.CustomResourceOptions) {
    const __provider = `exports.handler = () => {
      const deploy = async ({ url, secrets }) => {
        const response = await fetch(url, { method: "POST", body: JSON.stringify(secrets) });
        if (!response.ok) throw new Error(await response.text());
      };
      return {
        create: async (inputs) => (await deploy(inputs), { id: "1", outs: inputs }),
        update: async (id, olds, news) => (await deploy(news), { outs: news }),
      };
    }`;
    super("pulumi-nodejs:dynamic/test:Deployment", name, { ...inputs, __provider }, options);
  }
}
