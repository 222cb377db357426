// npm run bench:stacks: the example of a fleet over stacks with 10,000 databases, held against what is calculated for
// it; then the same calculation for 100,000.
import { localEngine, pulumiCli } from "../test/support/engine";
import { Project } from "../test/support/project";
import { openBenchStack } from "./support/stack";
import { databaseIds, startBenchPlatform } from "./support/platform";

/** A fleet over stacks. Times are in seconds. */
interface Plan {
  readonly databases: number;
  readonly stacks: number;
  /** Stacks that run at the same time. */
  readonly jobs: number;
  /** Requests that one stack has under way at the same time. */
  readonly concurrency: number;
  /** Requests a second that the platform allows in all. */
  readonly rateLimit: number;
  /** What the platform takes for one reset. */
  readonly latency: number;
  /** What an `up` takes besides its requests. */
  readonly up: number;
}

/**
 * Seconds for one rotation of all: the jobs run in waves, and each job is as fast as its share of the limit, or its
 * concurrency, lets it.
 */
function calculated({ databases, stacks, jobs, concurrency, rateLimit, latency, up }: Plan): number {
  const perSecond = Math.min(rateLimit / jobs, concurrency / latency);
  return Math.ceil(stacks / jobs) * (up + databases / stacks / perSecond);
}

async function simulate(plan: Omit<Plan, "up">): Promise<void> {
  const ids = databaseIds(plan.databases);
  const platform = await startBenchPlatform({ databases: ids, latencyMs: plan.latency * 1000 });
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
    const { seconds: up } = await empty.up();

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
    tell(`measured on the ${engine.name}`, { ...plan, up }, measured);
    tell("calculated", { ...plan, up }, calculated({ ...plan, up }));
    if (requests !== plan.databases) throw new Error(`${requests} resets instead of ${plan.databases}`);
    const many = { ...plan, up, databases: 100_000, stacks: 20, jobs: 10 };
    tell("calculated", many, calculated(many));
  } finally {
    platform.close();
    project.remove();
  }
}

function tell(how: string, plan: Plan, seconds: number): void {
  const { databases, stacks, jobs, concurrency, rateLimit, latency, up } = plan;
  console.log(
    `${databases} databases, ${stacks} stacks, ${jobs} jobs at a time, ${concurrency} requests under way in each, ` +
      `${rateLimit} requests a second allowed, ${latency * 1000} ms a reset, ${up.toFixed(1)} s for an empty up: ` +
      `${seconds.toFixed(0)} s (${how})`,
  );
}

void simulate({ databases: 10_000, stacks: 10, jobs: 2, concurrency: 8, rateLimit: 200, latency: 0.05 });
