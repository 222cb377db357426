import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type PlatformOptions } from "../local/platform/index";
import { caFile, certificate } from "../test/faults/certificates";

/** The requests of a measurement. */
interface Span {
  readonly requests: number;
  /** From the first to the last request, as they arrived at the platform. */
  readonly seconds: number;
}

/** A local platform in a separate process. */
export interface BenchPlatform {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly queueToken: string;
  /** Has the certificate of the platform, if it is reached by https. */
  readonly caFile?: string;
  /** The requests that arrived while something was done. */
  during(act: () => Promise<unknown>): Promise<Span>;
  close(): void;
}

export function databaseIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `db-${String(index).padStart(5, "0")}`);
}

/** @param roundTripMs of a network with TLS in between; none by default */
export async function startBenchPlatform(options: PlatformOptions, roundTripMs?: number): Promise<BenchPlatform> {
  const child = fork(join(__dirname, "platformProcess.cjs"));
  const ask = async (message: object): Promise<unknown> => {
    const reply = once(child, "message");
    child.send(message);
    return (await reply)[0] as unknown;
  };
  const credentials = (await ask(options)) as Pick<BenchPlatform, "url" | "username" | "password" | "queueToken">;
  const network = roundTripMs === undefined ? undefined : await startNetwork(credentials.url, roundTripMs);
  return {
    ...credentials,
    ...(network && { url: network.url, caFile }),
    async during(act) {
      await ask({});
      await act();
      return (await ask({})) as Span;
    },
    close() {
      network?.close();
      child.disconnect();
    },
  };
}

/** A network between here and a platform on this machine. */
async function startNetwork(platformUrl: string, roundTripMs: number): Promise<{ url: string; close: () => void }> {
  const child = fork(join(__dirname, "delayProcess.cjs"));
  const { cert, key } = certificate("good");
  const port = Number(new URL(platformUrl).port);
  child.send({ port, roundTripMs, certificate: { cert: cert.toString(), key: key.toString() } });
  const [distant] = (await once(child, "message")) as [number];
  return { url: `https://127.0.0.1:${distant}`, close: () => child.disconnect() };
}
