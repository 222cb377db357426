import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { startRun } from "../../provider/run/run";
import { Settings } from "../../provider/settings/settings";
import { dynamicCalls, pluginCalls } from "../model/adapterCalls";
import { type Adapter } from "../support/host";
import { settingsFor } from "../support/resources";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties } from "../support/wire";

const id = "00000000-0000-4000-8000-000000000001";
export const userPath = `/v2/qstash/user/${id}`;
export const nextPath = `/v2/qstash/next-token/${id}`;
export const rollPath = `/v2/qstash/roll-token/${id}`;
export const probePath = "/v2/globalParallelism";

const platforms = new Set<Platform>();

export async function closePlatforms(): Promise<void> {
  for (const platform of platforms) await platform.close();
  platforms.clear();
}

export async function startedPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const platform = await startPlatform(options);
  platforms.add(platform);
  return platform;
}

/** A rotation of a queue token and its verification, in several runs. */
export class Queue {
  readonly #given: string[];
  readonly rotation = new Stack(undefined as never);
  readonly verification = new Stack(undefined as never);
  readonly said: string[] = [];
  settings: Properties = {};

  private constructor(
    readonly adapter: Adapter,
    readonly platform: Platform,
  ) {
    this.#given = [platform.queueToken];
  }

  static async start(adapter: Adapter, options: PlatformOptions = {}): Promise<Queue> {
    const platform = await startedPlatform({ credentials: "read", queueUsers: [id], ...options });
    const queue = new Queue(adapter, platform);
    queue.settings = settingsFor(platform, { queueUserId: id, queueToken: undefined, deadlineSeconds: 3 });
    queue.nextRun();
    return queue;
  }

  /** The same token in another stack. */
  inOtherStack(): Queue {
    const other = new Queue(this.adapter, this.platform);
    other.settings = this.settings;
    return other;
  }

  nextRun(): void {
    const values = this.settings as Readonly<Record<string, string | number | undefined>>;
    const settings = new Settings((name) => values[name]?.toString());
    const run = startRun(settings, { log: (line) => void this.said.push(line) });
    const callsOf = (type: "QueueTokenRotation" | "CredentialVerification"): EngineCalls =>
      this.adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.said);
    this.rotation.calls = callsOf("QueueTokenRotation");
    this.verification.calls = callsOf("CredentialVerification");
  }

  /** Creates or updates the rotation in a new run. @returns its failure */
  async rotate(inputs: Properties): Promise<string> {
    this.nextRun();
    const failure = await failureOf(this.rotation.up({ queueUserId: id, ...inputs }));
    this.#remember();
    return failure;
  }

  /** Creates or updates the verification in the same run. */
  verify(inputs: Properties = { retireFormerAfter: ["deployment"] }): Promise<string> {
    const { access } = this.rotation.plain;
    return failureOf(this.verification.up({ access, withinSeconds: 1, ...inputs }));
  }

  /** How the tokens in the order in which they became current, for the program, are accepted now. */
  async valid(): Promise<boolean[]> {
    const statuses = this.#given.map(async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${this.platform.url}${probePath}`, { headers })).ok;
    });
    return Promise.all(statuses);
  }

  /** The next token, as someone else asks for it, who makes it if there is none. */
  async nextByHand(): Promise<string> {
    return ((await this.#post(nextPath)) as { next_token: string }).next_token;
  }

  /** Someone else retires the former token. */
  async rollByHand(token: string): Promise<void> {
    const next_token_hash = createHash("sha256").update(token).digest("hex");
    await this.#post(rollPath, { next_token_hash });
  }

  async #post(path: string, body?: object): Promise<unknown> {
    const { url, username, password } = this.platform;
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, await response.clone().text());
    return response.json();
  }

  get token(): unknown {
    return this.rotation.plain["token"];
  }

  sent(path: string): number {
    return this.platform.requests.filter((one) => one.path === path).length;
  }

  #remember(): void {
    const { token } = this;
    if (typeof token === "string" && !this.#given.includes(token)) this.#given.push(token);
  }
}

async function failureOf(change: Promise<unknown>): Promise<string> {
  return change.then(
    () => "",
    ({ message }: Error) => message,
  );
}
