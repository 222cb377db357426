import * as pulumi from "@pulumi/pulumi";
import { type MemoryResult, MemoryStack, MemoryStackError } from "../../local/memoryStack";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { type Result } from "./engineStack";
import { settingsOf } from "../support/project";

const platforms = new Set<Platform>();

/** Closes the platforms that stacks have started. A spec that starts stacks calls it after each test. */
export async function closePlatforms(): Promise<void> {
  for (const platform of platforms) await platform.close();
  platforms.clear();
}

/** A stack in memory, of which an operation that fails has a result, too. */
export class TestStack {
  readonly #stack: MemoryStack;

  private constructor(
    readonly platform: Platform,
    program: () => unknown,
    /** The settings, which may be changed between operations. */
    readonly config: MemoryStack["config"],
    stack: string,
  ) {
    this.#stack = new MemoryStack(program, config, { project: "test", stack });
  }

  /** @param options of the platform; `config` has further settings, `platform` is one that another stack uses */
  static async start(
    program: () => unknown,
    { config = {}, platform, stack = "dev", ...options }: TestStackOptions = {},
  ): Promise<TestStack> {
    const used = platform ?? (await startPlatform(options));
    platforms.add(used);
    return new TestStack(used, program, { ...settingsOf(used), ...config }, stack);
  }

  preview = () => resultOf(this.#stack.preview());
  up = () => resultOf(this.#stack.up());
  refresh = () => resultOf(this.#stack.refresh());
  destroy = () => resultOf(this.#stack.destroy());

  /** The saved outputs of a resource, secrets in plain. */
  saved(name: string): Readonly<Record<string, unknown>> | undefined {
    return this.#stack.resources.find(({ urn }) => urn.endsWith(`::${name}`))?.outputs;
  }

  /** The names of what is replaced, and not deleted yet. */
  get replaced(): string[] {
    const replaced = this.#stack.resources.filter((one) => one.delete);
    return replaced.map(({ urn }) => urn.split("::").at(-1) ?? "");
  }

  /** All that is saved, as text. */
  get state(): string {
    return JSON.stringify(this.#stack.resources);
  }

  /** The paths of the changes that were sent. */
  get posts(): string[] {
    return this.platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
  }
}

interface TestStackOptions extends PlatformOptions {
  readonly config?: MemoryStack["config"];
  readonly platform?: Platform;
  readonly stack?: string;
}

async function resultOf(operation: Promise<MemoryResult>): Promise<Result> {
  const { changes, outputs, errors, notices } = await operation.catch((error: unknown) => {
    if (error instanceof MemoryStackError) return error.result;
    throw error;
  });
  const printed = [...notices, ...errors].join("\n");
  return { succeeded: errors.length === 0, changes, outputs: outputs as Result["outputs"], printed };
}

/** A resource that keeps its inputs, like one that stores a password elsewhere. */
export class Consumer extends pulumi.CustomResource {
  constructor(name: string, inputs: pulumi.Inputs, options?: pulumi.CustomResourceOptions) {
    const __provider = `exports.handler = () => ({
      create: async (inputs) => ({ id: "1", outs: inputs }),
      update: async (id, olds, news) => {
        if (news.broken) throw new Error("the consumer is away");
        return { outs: news };
      },
    })`;
    super("pulumi-nodejs:dynamic/test:Consumer", name, { ...inputs, __provider }, options);
  }
}
