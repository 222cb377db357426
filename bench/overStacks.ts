// npm run bench:stacks: compares the example of a fleet over stacks, with 10,000 databases, to its calculated duration,
// and calculates the duration for 100,000 databases.
import { localEngine, pulumiCli } from "../test/support/engine";
import { Project } from "../test/support/project";
import { openBenchStack } from "./support/stack";
import { databaseIds, startBenchPlatform } from "./support/platform";

/** A fleet over stacks. */
interface Plan {
  readonly databases: number;
  readonly stacks: number;
  /** Number of stacks that run at the same time. */
  readonly jobs: number;
  /** Number of concurrent requests of each stack. */
  readonly concurrency: number;
  /** Requests per second that the platform allows in total. */
  readonly rateLimit: number;
  /** Duration of one reset at the platform. */
  readonly latencySeconds: number;
  /** Duration of an `up` without requests. */
  readonly upSeconds: number;
}

/**
 * Duration in seconds of one rotation of all databases. The jobs run in waves; the rate of each is limited by its share
 * of the platform's rate limit and by its concurrency.
 */
function calculated({ databases, stacks, jobs, concurrency, rateLimit, latencySeconds, upSeconds }: Plan): number {
  const perSecond = Math.min(rateLimit / jobs, concurrency / latencySeconds);
  return Math.ceil(stacks / jobs) * (upSeconds + databases / stacks / perSecond);
}

async function simulate(plan: Omit<Plan, "upSeconds">): Promise<void> {
  const ids = databaseIds(plan.databases);
  const platform = await startBenchPlatform({ databases: ids, latencyMs: plan.latencySeconds * 1000 });
  const project = new Project({ example: "fleet-over-stacks" });
  const engine = pulumiCli.unavailable === undefined ? pulumiCli : localEngine;
  const environment = {
    ...platform.environment,
    REKEY_MAX_CONCURRENCY: String(plan.concurrency),
    REKEY_REQUESTS_PER_SECOND: String(plan.rateLimit / plan.jobs),
  };
  try {
    project.write("databases.txt", "");
    const empty = await openBenchStack(engine, project, environment, "part-0-of-1");
    const { seconds: upSeconds } = await empty.up();

    project.write("databases.txt", ids.join("\n"));
    const waiting = await Promise.all(
      Array.from({ length: plan.stacks }, (_, part) =>
        openBenchStack(engine, project, environment, `part-${part}-of-${plan.stacks}`),
      ),
    );
    const began = performance.now();
    const job = async (): Promise<void> => {
      for (let stack = waiting.pop(); stack !== undefined; stack = waiting.pop()) await stack.up();
    };
    await Promise.all(Array.from({ length: plan.jobs }, job));
    const measured = (performance.now() - began) / 1000;
    const requests = await platform.newRequests();
    report(`measured on the ${engine.name}`, { ...plan, upSeconds }, measured);
    report("calculated", { ...plan, upSeconds }, calculated({ ...plan, upSeconds }));
    if (requests !== plan.databases) throw new Error(`${requests} resets instead of ${plan.databases}`);
    const many = { ...plan, upSeconds, databases: 100_000, stacks: 20, jobs: 10 };
    report("calculated", many, calculated(many));
  } finally {
    platform.close();
    project.remove();
  }
}

function report(how: string, plan: Plan, seconds: number): void {
  const { databases, stacks, jobs, concurrency, rateLimit, latencySeconds, upSeconds } = plan;
  console.log(
    `${databases} databases, ${stacks} stacks, ${jobs} concurrent jobs, ${concurrency} concurrent requests in each, ` +
      `at most ${rateLimit} requests per second, ${latencySeconds * 1000} ms per reset, ${upSeconds.toFixed(1)} s for an empty up: ` +
      `${seconds.toFixed(0)} s (${how})`,
  );
}

void simulate({ databases: 10_000, stacks: 10, jobs: 2, concurrency: 8, rateLimit: 200, latencySeconds: 0.05 });
