import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { type Adapter } from "../support/host";
import { acceptsToken, settingsFor } from "../support/resources";
import { OverlappingSecret } from "./overlappingSecret";

export const queueUserId = "00000000-0000-4000-8000-000000000001";
export const userPath = `/v2/qstash/user/${queueUserId}`;
export const nextPath = `/v2/qstash/next-token/${queueUserId}`;
export const rollPath = `/v2/qstash/roll-token/${queueUserId}`;
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

/** The token of a user of the queue. */
export class Queue extends OverlappingSecret {
  protected readonly inputs = { queueUserId };

  private constructor(
    adapter: Adapter,
    readonly platform: Platform,
  ) {
    const settings = settingsFor(platform, { queueUserId, queueToken: undefined, deadlineSeconds: 3 });
    super(adapter, "QueueTokenRotation", settings, platform.queueToken);
  }

  static async start(adapter: Adapter, options: PlatformOptions = {}): Promise<Queue> {
    return new Queue(adapter, await startedPlatform({ credentials: "read", queueUsers: [queueUserId], ...options }));
  }

  /** The same token in another stack. */
  inOtherStack(): Queue {
    return new Queue(this.adapter, this.platform);
  }

  accepts(token: string): Promise<boolean> {
    return acceptsToken(this.platform, token);
  }

  protected get canaries() {
    return { "management password": this.platform.password };
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
}
