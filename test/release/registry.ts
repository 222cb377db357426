import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Folder } from "../support/folder";
import { freePort } from "../support/redis";
import { skip } from "../support/skip";
import { SocketServer } from "../support/socketServer";

/** Has its own lock file: what is in it is no dependency of the product. */
const tools = join(__dirname, "tools");

/** The path of a command of the tools. */
export const tool = (path: string): string => join(tools, "node_modules", path);

/** Installs the tools, unless they are there; skips the test if the package registry cannot be reached. */
export function ensureTools(test: Mocha.Context): void {
  if (existsSync(tool(".package-lock.json"))) return;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", args, { cwd: tools, encoding: "utf8" });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) {
    skip(test, "the package registry cannot be reached from here");
  }
  assert.equal(status, 0, stderr);
}

/** A package registry on this machine, which has what is published to it. It sends npm to the real one for the rest. */
export class Registry {
  private constructor(
    private readonly url: string,
    /** For an npm that publishes here, and knows nothing of the npm of this machine. */
    readonly publishing: Record<string, string>,
    /** For an npm that installs what was published here, and its dependencies. */
    readonly installing: Record<string, string>,
    private readonly process: ChildProcess,
    private readonly front: SocketServer,
  ) {}

  static async start(folder: Folder): Promise<Registry> {
    const port = await freePort();
    const own = `http://127.0.0.1:${port}/`;
    const { stdout: real } = spawnSync("npm", ["config", "get", "registry"], { encoding: "utf8" });
    const ours = { access: "$all", publish: "$authenticated" };
    const config = {
      storage: folder.path("registry/storage"),
      auth: { htpasswd: { file: folder.path("registry/htpasswd") } },
      packages: { "pulumi-rekey": ours, "rekey-local": ours },
      log: { type: "stdout", level: "warn" },
    };
    const file = folder.write("registry/config.yaml", JSON.stringify(config));
    const args = [tool("verdaccio/bin/verdaccio"), "--listen", `127.0.0.1:${port}`, "--config", file];
    const child = spawn(process.execPath, args, { stdio: "ignore" });
    const isUp = () => fetch(`${own}-/ping`).then(({ ok }) => ok, () => false); // prettier-ignore
    for (const began = Date.now(); !(await isUp()); await wait(100)) {
      if (Date.now() - began > 300_000 || child.exitCode !== null) throw new Error("The registry did not start.");
    }
    const response = await fetch(`${own}-/user/org.couchdb.user:owner`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "owner", password: "only-for-the-rehearsal" }),
    });
    const { token = "" } = (await response.json()) as { token?: string };
    const front = new SocketServer(
      createServer((request, response) => {
        const isOurs = /^\/(pulumi-rekey|rekey-local|-)(\/|$)/.test(request.url ?? "");
        // Verdaccio would read everything that it passes on, which takes minutes.
        const location = new URL((request.url ?? "").slice(1), isOurs ? own : real.trim());
        response.writeHead(307, { location: location.href }).end();
      }),
    );
    const url = `http://127.0.0.1:${(await front.listen()).port}/`;
    const npm_config_userconfig = folder.write("npmrc", `//127.0.0.1:${port}/:_authToken=${token}\n`);
    const environment = (npm_config_registry: string) => ({ npm_config_userconfig, npm_config_registry });
    return new Registry(own, environment(own), environment(url), child, front);
  }

  async versionsOf(name: string): Promise<string[]> {
    const { versions = {} } = (await (await fetch(`${this.url}${name}`)).json()) as { versions?: object };
    return Object.keys(versions);
  }

  close(): Promise<void> {
    this.process.kill();
    return this.front.close();
  }
}
