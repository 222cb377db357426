import { setTimeout as wait } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";

/** Clients that use the secret that they have, again and again, until they are stopped. */
export class Clients {
  /** Attempts that have ended. */
  attempts = 0;
  /** Why attempts have failed. */
  readonly failures: string[] = [];
  readonly #attemptsOfEach: number[];
  readonly #running: Promise<unknown>;
  #isStopped = false;

  /**
   * @param use uses a secret, and rejects if it is refused
   * @param secret that they have at first
   * @param everyMs how long each waits between two attempts. A connection that was closed keeps its port for a minute.
   */
  constructor(
    private readonly use: (secret: string) => Promise<unknown>,
    public secret: string,
    count = 20,
    private readonly everyMs = 100,
  ) {
    this.#attemptsOfEach = Array.from({ length: count }, () => 0);
    this.#running = Promise.all(this.#attemptsOfEach.map((_, nth) => this.#run(nth)));
  }

  /**
   * Hands over another secret, as a deployment that waits for its processes: until then, each connects again with the
   * one that it has; when it is done, none has an attempt in flight with that.
   */
  async handOver(secret: string): Promise<void> {
    await this.attemptOfEach();
    this.secret = secret;
    await this.attemptOfEach();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves when no attempt is in flight any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Resolves when each has ended an attempt that it began after this call. */
  async attemptOfEach(): Promise<void> {
    // The one in flight began before.
    const wanted = this.#attemptsOfEach.map((count) => count + 2);
    const isDone = () => this.#attemptsOfEach.every((count, nth) => count >= (wanted[nth] ?? 0));
    while (!this.#isStopped && !isDone()) await wait(5);
  }

  async #run(nth: number): Promise<void> {
    while (!this.#isStopped) {
      await this.use(this.secret).catch((error: unknown) => void this.failures.push(String(error)));
      this.attempts++;
      this.#attemptsOfEach[nth] = (this.#attemptsOfEach[nth] ?? 0) + 1;
      await wait(this.everyMs);
    }
  }
}

/**
 * A deployment in a program: it is done when the clients have the secrets. With `isReplaced`, other secrets replace it,
 * and the deployer learns of the delete.
 */
export class Deployment extends pulumi.CustomResource {
  constructor(name: string, inputs: pulumi.Inputs, options: pulumi.CustomResourceOptions = {}) {
    const __provider = `exports.handler = () => {
      const deploy = async ({ url, secrets }, method = "POST") => {
        const response = await fetch(url, { method, body: JSON.stringify(secrets) });
        if (!response.ok) throw new Error(await response.text());
      };
      const textOf = ({ url, secrets }) => JSON.stringify([url, secrets]);
      return {
        create: async (inputs) => (await deploy(inputs), { id: "1", outs: inputs }),
        diff: async (id, olds, news) => ({
          changes: textOf(olds) !== textOf(news),
          replaces: news.isReplaced ? ["secrets"] : [],
        }),
        update: async (id, olds, news) => (await deploy(news), { outs: news }),
        delete: async (id, olds) => olds.isReplaced && deploy(olds, "DELETE"),
      };
    }`;
    super("pulumi-nodejs:dynamic/test:Deployment", name, { ...inputs, __provider }, options);
  }
}
