import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as pulumi from "@pulumi/pulumi";

interface DeploymentArgs {
  /** The file from which the consumers read the secret. */
  readonly file: string;
  readonly secret: string;
}

/** Milliseconds in which each running consumer must use a new secret. */
const timeoutMs = 60_000;

/** Writes the secret, and waits until each consumer has confirmed that it uses it. */
async function handOver({ file, secret }: DeploymentArgs): Promise<void> {
  const folder = `${file}.used`;
  mkdirSync(folder, { recursive: true });
  // Renamed, so that no consumer reads a half of it.
  writeFileSync(`${file}.new`, secret, { mode: 0o600 });
  renameSync(`${file}.new`, file);

  const hash = createHash("sha256").update(secret).digest("hex");
  const hasOld = (pid: string) => isRunning(Number(pid)) && readFileSync(join(folder, pid), "utf8") !== hash;
  const endsAt = Date.now() + timeoutMs;
  for (;;) {
    const late = readdirSync(folder).filter(hasOld);
    if (late.length === 0) return;
    if (Date.now() > endsAt) throw new Error(`these consumers do not use the new secret: ${late.join(", ")}`);
    await wait(50);
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const provider: pulumi.dynamic.ResourceProvider<DeploymentArgs, object> = {
  async create(args) {
    await handOver(args);
    return { id: args.file, outs: {} };
  },
  async update(_id, _saved, args) {
    await handOver(args);
    return { outs: {} };
  },
};

/**
 * In place of what deploys your consumers, such as a Deployment of Kubernetes: it gives them a secret, and is done once
 * they use it. If one of them does not, it fails, and nothing is retired.
 */
export class Deployment extends pulumi.dynamic.Resource {
  constructor(name: string, args: { file: string; secret: pulumi.Input<string> }) {
    super(provider, name, args);
  }
}
