import { mkdirSync, watch } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { freshnessMs } from "../../provider/engine/liveness";
import { EngineStack, endAll, type Program, type StackOptions, type Victim } from "../e2e/engineStack";
import { type Process } from "../support/processes";
import { databasePath } from "../support/resources";
import { Gate, type KillGate, type Point } from "./gate";

/** What is killed, or gets a ^C, and when: at a point of the nth reset, or at the nth change in the state's folder. */
export interface Strike {
  readonly victim: Victim | "interrupt";
  /** Requests, or commands of a Redis, that are counted in place of resets. */
  readonly matching?: RegExp;
  readonly at?: number;
  readonly point?: Point;
  readonly change?: number;
}

/** What an `up` did until it ended. */
export interface Done {
  readonly succeeded: boolean;
  readonly printed: string;
  /** Whether a process was struck. */
  readonly struck: boolean;
}

/** A resource in the state, secrets in plain. */
export interface Seen {
  readonly initError: boolean;
  readonly outputs: Readonly<Record<string, unknown>>;
}

export interface InterruptedOptions extends Pick<StackOptions, "adapter" | "config"> {
  readonly reads?: boolean;
  readonly gates?: readonly KillGate[];
}

/** A stack whose resets pass a gate, at which its processes can be killed. */
export class InterruptedStack {
  private constructor(
    readonly stack: EngineStack,
    readonly gate: Gate,
    private readonly gates: readonly KillGate[],
  ) {}

  /**
   * @param reads whether credentials are in the responses to reads, instead of those to resets
   * @param gates before other servers than the platform; they are closed with the stack
   */
  static async start(
    databases: readonly string[],
    program: Program,
    { adapter = "dynamic", reads = false, config = {}, gates = [] }: InterruptedOptions = {},
  ): Promise<InterruptedStack> {
    const delivery = reads ? ({ credentials: "read", databasePath } as const) : ({ credentials: "always" } as const);
    const platform = { databases: [...databases], ...delivery };
    const stack = await EngineStack.start(program, { adapter, platform, config });
    const gate = await Gate.start(stack.platform.url);
    await stack.configure({
      "rekey:baseUrl": gate.url,
      "rekey:queueUrl": gate.url,
      "rekey:deadlineSeconds": "30",
      ...(reads && { "rekey:databasePath": databasePath }),
    });
    return new InterruptedStack(stack, gate, [gate, ...gates]);
  }

  async end(): Promise<void> {
    for (const gate of this.gates) await gate.close();
    await this.stack.end();
  }

  async up(strike?: Strike): Promise<Done> {
    const { gates, stack } = this;
    const { victim = "engine", matching = /^POST /, at, point = "arrived", change } = strike ?? {};
    let struck = false;
    let left: readonly Process[] = [];
    /** @returns whether the response to a request that is under way can still arrive and be saved */
    const act = async (): Promise<boolean> => {
      if (victim === "interrupt") stack.interrupt();
      else {
        const killed = stack.kill(victim);
        struck = killed !== undefined;
        left = killed ?? [];
        // The provider no longer relies on its last check of the engine. A timer may end a millisecond early.
        if (victim === "engine") await wait(freshnessMs + 5);
      }
      return victim === "interrupt" || !struck;
    };
    let striking: Promise<boolean> | undefined;
    const actOnce = () => (striking ??= act());
    for (const gate of gates) gate.begin(at === undefined ? undefined : { matching, at, point, act: actOnce });
    let changes = 0;
    mkdirSync(stack.stateFolder, { recursive: true });
    const onChange = () => void (++changes === change && actOnce());
    const watcher = change === undefined ? undefined : watch(stack.stateFolder, onChange);
    const { succeeded, printed } = await stack.up();
    watcher?.close();
    await striking;
    for (const gate of gates) await gate.settled();
    await endAll(left);
    if (strike) await stack.unlock();
    return { succeeded, printed, struck };
  }

  /** What the state contains, by the names of resources: those that are saved, and the types of pending operations. */
  async see(): Promise<{
    resources: Readonly<Record<string, Seen | undefined>>;
    pending: Readonly<Record<string, readonly string[] | undefined>>;
  }> {
    const { resources, pending } = await this.stack.saved();
    const nameOf = (urn: string) => urn.split("::").at(-1) ?? "";
    const seen = resources.map(({ urn, outputs = {}, initErrors = [] }) => {
      return [nameOf(urn), { initError: initErrors.length > 0, outputs }] as const;
    });
    const operations: Record<string, string[]> = {};
    for (const { type, resource } of pending) (operations[nameOf(resource.urn)] ??= []).push(type);
    return { resources: Object.fromEntries(seen), pending: operations };
  }
}
