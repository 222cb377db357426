import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { parse } from "yaml";
import { startPlatform } from "../../local/platform/index";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { runToEnd } from "../support/processes";
import { acceptsPassword, hasRedis, startRedisServer } from "../support/redis";
import { databasePath } from "../support/resources";
import { skip } from "../support/skip";
import { environmentIn, pulumiPath } from "./engine";
import { onEngine } from "./engineStack";
import { startServer } from "./keyVendor";
import { startLanguageHost } from "./languageHost";

const templates = join(projectRoot, "templates");
const names = readdirSync(templates).filter((name) => name !== "README.md");

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

/** Links the packages of a project, as `npm install` would install them; those of this project from the checkout. */
function linkPackages(project: string): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as Manifest;
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    const isOwn = name === "pulumi-rekey";
    assert.ok(isOwn || readdirSync(join(projectRoot, "node_modules", name)).length > 0);
    symlinkSync(isOwn ? projectRoot : join(projectRoot, "node_modules", name), link, "junction");
  }
}

/** A project that `pulumi new` makes from a template, in a folder of its own, with its state in another one. */
class NewProject extends Folder {
  readonly directoryOfProject = this.path("shop");
  #host: Awaited<ReturnType<typeof startLanguageHost>> | undefined;

  /** @param answers to what it asks, by the names of settings @param config values of its option `--config` */
  static async make(
    template: string,
    answers: Readonly<Record<string, string>>,
    config: Readonly<Record<string, string>> = {},
  ): Promise<NewProject> {
    const project = new NewProject();
    for (const name of ["shop", "backend"]) mkdirSync(project.path(name));
    project.#host = await startLanguageHost(project.directoryOfProject, linkPackages);
    const options = Object.entries(config).flatMap(([name, value]) => ["--config", `${name}=${value}`]);
    const from = ["new", join(templates, template), "--name", "shop", "--stack", "dev", "--description", "of a shop"];
    const child = spawn(pulumiPath, [...from, ...options, "--color", "never"], {
      cwd: project.directoryOfProject,
      env: { ...project.#variables, PULUMI_TEST_INTERACTIVE: "true" },
    });
    // It asks in the order of the names, and not for what `--config` has.
    const { config: asked } = settingsOf(template);
    const lines = Object.keys(asked)
      .sort((a, b) => fullName(a).localeCompare(fullName(b), "en"))
      .filter((name) => !(name in config))
      .map((name) => `${answers[name] ?? ""}\n`);
    child.stdin.end(lines.join(""));
    const [printed, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, "close")]);
    assert.equal(child.exitCode, 0, printed + errors);
    return project;
  }

  get #variables(): Record<string, string> {
    const port = this.#host?.address.split(":")[1];
    return { ...environmentIn(this), PULUMI_DEBUG_LANGUAGES: `nodejs:${port}` };
  }

  read(name: string): string {
    return readFileSync(join(this.directoryOfProject, name), "utf8");
  }

  /** Runs a command of `pulumi`. @returns what it printed */
  pulumi(...args: string[]): Promise<string> {
    const options = { cwd: this.directoryOfProject, env: this.#variables };
    return runToEnd(pulumiPath, [...args, "--non-interactive", "--color", "never"], options);
  }

  up(): Promise<string> {
    return this.pulumi("up", "--yes", "--skip-preview", "--client", this.#host?.address ?? "");
  }

  /** Starts a program of the project. @param lines gets what it prints */
  start(lines: string[], ...args: string[]): ChildProcess {
    const child = spawn(process.execPath, args, {
      cwd: this.directoryOfProject,
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(...text.trim().split("\n")));
    return child;
  }

  end(): void {
    this.#host?.close();
    this.remove();
  }
}

/** A setting of the program has the name of the project before it. */
const fullName = (name: string): string => (name.includes(":") ? name : `shop:${name}`);

function settingsOf(template: string) {
  const { template: section } = parse(readFileSync(join(templates, template, "Pulumi.yaml"), "utf8")) as {
    template: { description: string; config: Record<string, { secret?: boolean; default?: string }> };
  };
  return section;
}

/** The values that are saved in plain text, and the names of those that are encrypted. */
function savedIn(project: NewProject) {
  const { config } = parse(project.read("Pulumi.dev.yaml")) as { config: Record<string, string | { secure: string }> };
  const entries = Object.entries(config);
  const plain = Object.fromEntries(entries.filter(([, value]) => typeof value === "string"));
  return { plain, encrypted: entries.flatMap(([name, value]) => (typeof value === "string" ? [] : [name])) };
}

describe("The templates", () => {
  it("are what `npm run schema` makes of the examples", async () => {
    const { writtenTemplates } = (await import(join(projectRoot, "scripts/pages.mjs"))) as {
      writtenTemplates: () => { path: string; text: string }[];
    };
    const made = writtenTemplates().map(({ path, text }) => [path, text.replace(/\s/g, "")]);
    const files = readdirSync(templates, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const found = files
      .map(({ parentPath, name }) => join(parentPath, name).slice(projectRoot.length + 1))
      .filter((path) => path.split("/").length > 2 && !path.endsWith(".tgz"))
      .map((path) => [path, readFileSync(join(projectRoot, path), "utf8").replace(/\s/g, "")]);
    assert.deepEqual(found.sort(), made.sort());
  });

  it("ask for secrets as such", () => {
    const secrets = names.map((name) => {
      const { config } = settingsOf(name);
      return [name, ...Object.keys(config).filter((setting) => config[setting]?.secret)];
    });
    const expected = [["any-key"], ["own-redis", "adminPassword"], ["upstash", "rekey:password"]];
    assert.deepEqual(secrets, expected);
  });
});

onEngine("`pulumi new` with a template", () => {
  let project: NewProject;
  afterEach(() => project.end());

  it("upstash: the first `up` adopts the password, and the next one changes nothing", async () => {
    const platform = await startPlatform({ databases: ["db-1"], databasePath, credentials: "always" });
    try {
      const answers = { "rekey:username": platform.username, "rekey:password": platform.password, databaseId: "db-1" };
      project = await NewProject.make("upstash", answers, { "rekey:baseUrl": platform.url });
      const { plain, encrypted } = savedIn(project);
      assert.deepEqual(encrypted, ["rekey:password"]);
      assert.equal(plain["rekey:platform"], "upstash");
      assert.ok(!project.read("Pulumi.dev.yaml").includes(platform.password));
      await project.up();
      assert.equal(platform.resetCount, 0);
      const url = await project.pulumi("stack", "output", "url", "--show-secrets");
      assert.ok(url.includes(platform.database("db-1").password));
      assert.match(await project.up(), /3 unchanged/);
    } finally {
      await platform.close();
    }
  });

  it("any-key: the first `up` creates a key, and a new version replaces it", async () => {
    const vendor = await startServer();
    try {
      project = await NewProject.make("any-key", { server: vendor.url });
      await project.up();
      const first = project.read("credential");
      assert.deepEqual([...vendor.keys.values()], [first]);
      await project.pulumi("config", "set", "version", "2");
      await project.up();
      assert.notEqual(project.read("credential"), first);
      assert.deepEqual([...vendor.keys.values()], [project.read("credential")]);
    } finally {
      vendor.close();
    }
  });

  it("own-redis: its application is never refused, and only the latest password is valid", async function () {
    if (!hasRedis) skip(this, "there is no redis-server on PATH");
    const folder = new Folder();
    const aclFile = folder.path("users.acl");
    cpSync(join(templates, "own-redis/users.acl"), aclFile);
    // The administrator of the test's server, which the template has not.
    writeFileSync(
      aclFile,
      readFileSync(aclFile, "utf8").replace("user default off", "user default on >admin ~* +@all"),
    );
    const redis = await startRedisServer({ aclFile });
    const answers = { port: String(redis.port), tls: "false", adminPassword: "local-only" };
    const lines: string[] = [];
    let app: ChildProcess | undefined;
    try {
      project = await NewProject.make("own-redis", answers);
      assert.deepEqual(savedIn(project).encrypted, ["shop:adminPassword"]);
      await project.up();
      app = project.start(lines, "app.mjs");
      await once(app.stdout ?? assert.fail(), "data");
      const second = project.read("credential");
      await project.up();
      await project.pulumi("config", "set", "version", "2");
      await project.up();
      const third = project.read("credential");
      const accepts = (password: string) =>
        acceptsPassword({ endpoint: "127.0.0.1", port: redis.port }, "app", password);
      const passwords = ["first-password", ...[second, third].map((url) => new URL(url).password)];
      assert.deepEqual(await Promise.all(passwords.map(accepts)), [false, false, true]);
      assert.equal(app.exitCode, null);
      assert.deepEqual(
        lines.filter((line) => !line.startsWith("counted")),
        ["uses a new password", "uses a new password"],
      );
    } finally {
      app?.kill();
      await redis.close();
      folder.remove();
    }
  });

  it("makes a project without the template's own section, whose package.json has its name", async () => {
    project = await NewProject.make("upstash", {}, { "rekey:username": "a" });
    const { name, description, template } = parse(project.read("Pulumi.yaml")) as Record<string, unknown>;
    assert.deepEqual({ name, description, template }, { name: "shop", description: "of a shop", template: undefined });
    assert.equal((JSON.parse(project.read("package.json")) as { name: string }).name, "shop");
  });
});
