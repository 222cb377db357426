import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { type Adapter } from "../support/host";
import { acceptsToken, settingsFor } from "../support/resources";
import { OverlappingSecret } from "./overlappingSecret";

const queueUserId = "00000000-0000-4000-8000-000000000001";
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
    const settings = settingsFor(platform, { queueUserId, queueToken: undefined });
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

  get token(): unknown {
    return this.rotation.plain["token"];
  }
}
