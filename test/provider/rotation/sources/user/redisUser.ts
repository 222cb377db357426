import assert from "node:assert/strict";
import { hashOf } from "../../../../../provider/clients/aclReplies";
import { RequestError } from "../../../../../provider/domain/errors";
import { ResourceHandler, type Saved } from "../../../../../provider/engine/adapter";
import { resources, type ResourceType } from "../../../../../provider/engine/resources";
import { type Properties, reveal } from "../../../../../provider/pulumi/values";
import { type Notice } from "../../../../../provider/resource/resource";
import { type Memory, readMemory } from "../../../../../provider/rotation/memory/memory";
import { type PlatformClient } from "../../../../../provider/run/platformClient";
import { type Platform, Run, startRun } from "../../../../../provider/run/run";
import { Settings } from "../../../../../provider/settings/settings";
import { fieldsIn } from "../../tables";
import { FakeAclUsers } from "./fakeAclUsers";

/** What came of one call of the engine. */
export interface Came {
  /** The texts of its notices, in lines. */
  readonly said: string;
  /** The message of its failure, whether or not a state was saved. */
  readonly failure?: string | undefined;
}

const textsOf = (notices: readonly Notice[]): string => notices.map(({ text }) => text).join("\n");

/** One resource over several runs, with real requests and in this process. */
export class RealResource {
  saved: Saved | undefined;

  constructor(
    private readonly type: ResourceType,
    public settings: Readonly<Record<string, string | undefined>> = {},
  ) {}

  get outputs(): Properties {
    return this.saved?.outputs ?? {};
  }

  /** @param parts of the platform in place of the real ones */
  start(parts?: Partial<Platform>): Run {
    const run = startRun(new Settings((name) => this.settings[name]), { log: () => undefined });
    if (!parts) return run;
    const { platform } = run;
    const all = Object.assign(Object.create(platform) as Platform, parts, {
      during: () => all as unknown as PlatformClient,
    });
    return new Run({ ...run.options, platform: () => all });
  }

  check(inputs: Properties): string {
    return this.#handler().check({}, inputs).problems.join("\n");
  }

  preview(inputs: Properties, run?: Run) {
    const { notices, changing = [], replaces = [], ...planned } = this.#handler(run).plan(this.saved, inputs);
    return { ...planned, replaces, notices, changing: [...changing].sort(), said: textsOf(notices) };
  }

  async up(inputs: Properties, run = this.start()): Promise<Came> {
    const handler = this.#handler(run);
    const checked = handler.check({}, inputs);
    assert.deepEqual(checked.problems, []);
    try {
      const desired = reveal(checked.inputs);
      const { id, outputs, failure, notices } = await handler.apply(this.saved, desired);
      this.saved = { id, outputs: JSON.parse(JSON.stringify(outputs)) as Properties };
      return { said: textsOf(notices), failure: failure?.message };
    } catch (error) {
      return { said: "", failure: (error as Error).message };
    }
  }

  async refresh(run = this.start()): Promise<Came> {
    const { saved } = this;
    assert.ok(saved);
    const { outputs, notices } = await this.#handler(run).refresh(saved);
    this.saved = { ...saved, outputs: JSON.parse(JSON.stringify(outputs)) as Properties };
    return { said: textsOf(notices) };
  }

  #handler(run = this.start()): ResourceHandler {
    return new ResourceHandler(resources[this.type], run);
  }
}

const facts = {
  purpose: "do it",
  method: "ACL SETUSER",
  url: "redis://x:1",
  consequences: { unchanged: "It was not added.", unknown: "It may have been added." },
};
const fails = (delivery: "not sent" | "rejected" | "maybe applied") => (): never => {
  throw new RequestError(delivery, facts, { happened: "it broke", advice: "Fix it." });
};

/** What happens in place of a command. */
const replies = {
  "not sent": fails("not sent"),
  rejected: fails("rejected"),
  lost: fails("maybe applied"),
  accepted: () => ({ kind: "accepted" }),
  refused: () => ({ kind: "refused", words: "WRONGPASS no" }),
  untried: () => ({ kind: "unknown", why: "it is busy" }),
  "an empty list": () => ({ isOn: true, hasNoPassword: false, hashes: [] }),
  "a replica": () => ({ isReplica: true, isCluster: false, isSentinel: false, replicas: 0 }),
  "a bug": (): never => {
    throw new TypeError("made-2");
  },
} as const;

/** What happens in place of which commands: `save: rejected` */
export function insteadOf(cell: string): FakeAclUsers["instead"] {
  const all = Object.entries(fieldsIn(cell)).map(([command, what]) => [command, replies[what as keyof typeof replies]]);
  assert.ok(
    all.every(([, reply]) => reply !== undefined),
    cell,
  );
  return Object.fromEntries(all) as FakeAclUsers["instead"];
}

const adminOf = (host: string) => ({ host, port: 6379, password: "admin" });
const passwords = ["first", "other", ...Array.from({ length: 12 }, (_, nth) => `made-${nth + 1}`)];

/** A user of a server in memory. At first it has one password. */
export class RotatedUser extends RealResource {
  readonly users = new FakeAclUsers(["first"]);
  readonly inputs = { userName: "app", admin: adminOf("redis.example.com"), version: 1 };
  static readonly elsewhere = { admin: adminOf("other.example.com") };

  constructor() {
    super("AclUserRotation", { deadlineSeconds: "0.1" });
  }

  override start(parts: Partial<Platform> = this.users.parts): Run {
    return super.start(parts);
  }

  override up(more: Properties = {}, run = this.start()): Promise<Came> {
    return super.up({ ...this.inputs, ...more }, run);
  }

  override preview(more: Properties = {}, run?: Run) {
    return super.preview({ ...this.inputs, ...more }, run);
  }

  /** What happens in place of which commands from now on. Default: nothing special. */
  meets(cell = ""): void {
    this.users.instead = insteadOf(cell);
    this.users.commands.length = 0;
  }

  /** What the list of the server shows, by the passwords that it is the list of. */
  list(...names: readonly string[]) {
    return { isOn: true, hasNoPassword: false, hashes: names.map(hashOf) };
  }

  get memory(): Memory {
    return readMemory(this.outputs["memory"]);
  }

  /** The passwords that the server has, and those that are saved as former and valid. */
  get valid(): string {
    return namesOf(this.users.hashes);
  }

  get formers(): string {
    return namesOf(this.memory.formers.flatMap(({ retireHash = [] }) => retireHash));
  }
}

function namesOf(hashes: readonly string[]): string {
  return hashes.map((hash) => passwords.find((one) => hashOf(one) === hash) ?? hash).join(" ");
}
