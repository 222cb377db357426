import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type PlatformOptions } from "../../local/platform/index";
import { environmentOf } from "../../test/support/project";

export interface BenchPlatform {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly queueToken: string;
  /** The settings of this platform, for a program and its provider. */
  readonly environment: Readonly<Record<string, string>>;
  /** Requests that arrived since this was last asked. */
  newRequests(): Promise<number>;
  /** The same, with the seconds from the first to the last of them. */
  newSpan(): Promise<{ readonly requests: number; readonly seconds: number }>;
  close(): void;
}

/** Starts a local platform in its own process. */
export async function startBenchPlatform(
  options: Pick<PlatformOptions, "databases" | "flowControlKeys" | "databasePath" | "credentials">,
): Promise<BenchPlatform> {
  const child = fork(join(__dirname, "platformProcess.cjs"));
  const ask = async (message: object): Promise<unknown> => {
    const reply = once(child, "message");
    child.send(message);
    return (await reply)[0] as unknown;
  };
  const newSpan = () => ask({}) as ReturnType<BenchPlatform["newSpan"]>;
  const credentials = (await ask(options)) as Pick<BenchPlatform, "url" | "username" | "password" | "queueToken">;
  return {
    ...credentials,
    environment: environmentOf(credentials),
    newRequests: async () => (await newSpan()).requests,
    newSpan,
    close: () => child.disconnect(),
  };
}

export function databaseIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `db-${String(index).padStart(5, "0")}`);
}
