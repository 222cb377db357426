import assert from "node:assert/strict";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/index";
import { type Adapter, Host, type Result } from "./host";
import { configurationFor, databasePath, rotation } from "./resources";
import { type Properties, revealed } from "./wire";

export type Delivery = NonNullable<PlatformOptions["credentials"]>;

/** A platform that can be read, and two processes of an adapter for it: one for each of two runs. */
export interface ReadableWorld {
  readonly platform: Platform;
  readonly hosts: readonly [Host, Host];
  readonly end: () => Promise<void>;
}

/** @param settings of each run. Default: the path of the read */
export async function startReadable(
  adapter: Adapter,
  credentials: Delivery,
  databases: readonly string[],
  settings: readonly [object, object] = [{ databasePath }, { databasePath }],
): Promise<ReadableWorld> {
  const platform = await startPlatform({ databases, credentials, databasePath });
  const host = (more: object) =>
    Host.start({ adapter, config: configurationFor(platform, { deadlineSeconds: 4, ...more }) });
  const hosts = await Promise.all([host(settings[0]), host(settings[1])]);
  const end = async () => {
    await Promise.all(hosts.map((one) => one.stop()));
    await platform.close();
  };
  return { platform, hosts, end };
}

/** Requests about a database so far. */
export function requestsOf({ requests }: Platform, id: string, method: string): number {
  return requests.filter((one) => one.method === method && one.path.endsWith(`/${id}`)).length;
}

export type Step = "adopt" | "create" | "refresh" | "rotate" | "up";

/** A PasswordRotation, for which hosts are called as an engine calls them. */
export class HostedRotation {
  saved: Properties = {};
  inputs: Properties;

  constructor(readonly id: string) {
    this.inputs = rotation(id, { version: 1 });
  }

  async play(step: Step, host: Host): Promise<Properties> {
    const { id } = this;
    if (step === "refresh") {
      const found = await host.read(id, this.saved, this.inputs);
      assert.equal(found.id, id);
      return (this.saved = revealed(found.outs));
    }
    if (step === "rotate") this.inputs = { ...this.inputs, version: 2 };
    if (step === "adopt") this.inputs = { ...this.inputs, initialRotation: false };
    if (step === "adopt" || step === "create") return this.#save(await host.create(this.inputs));
    const { changes } = await host.diff(id, this.saved, this.inputs);
    return changes === "none" ? this.saved : this.#save(await host.update(id, this.saved, this.inputs));
  }

  #save(result: Result): Properties {
    assert.ok(result.kind !== "failed", JSON.stringify(result));
    assert.equal(result.kind === "init error", result.outs["outcome"] === "unknown");
    return (this.saved = revealed(result.outs));
  }
}
