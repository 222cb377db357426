// Records what the engine and the native plugin send each other. The recording that test/provider/engine/plugin plays
// must have all of it; with REKEY_RECORD=1, it is written again.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Fault } from "../../local/platform/index";
import { pulumiCli } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { fixture, onEngine } from "../support/onEngines";
import { HomeWithPlugin, whyNoPrograms } from "../support/pluginArchive";
import { Project } from "../support/project";
import { type RecordedCall, recordedPlatform, type RecordedRun, recordingFile, stored } from "../support/recordedWire";
import { until } from "../support/results";

interface Step {
  readonly name: string;
  /** Replaces the program. */
  readonly program?: string;
  readonly command: readonly string[];
  /** Settings of the stack to change before. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly fault?: Fault;
  /** ^C as soon as a request has arrived at the platform. */
  readonly isInterrupted?: boolean;
  readonly fails?: boolean;
}

const rotation = (name: string, properties: string, options = "{}") => `
  ${name}:
    type: rekey:PasswordRotation
    properties: { ${properties} }
    options: ${options}`;
const everything = (version: number) => `
resources:
  orders:
    type: rekey:FlowControlReset
    properties: { flowControlKey: orders, version: 1 }
  fleet:
    type: rekey:PasswordRotationFleet
    properties: { databases: { first: { databaseId: db-first }, second: { databaseId: db-second, version: ${version} } } }
${rotation("cache", `databaseId: db-cache, version: ${version}`, "{ customTimeouts: { create: 30s, update: 20s } }")}
outputs:
  exists:
    fn::invoke: { function: rekey:getFlowControlKey, arguments: { flowControlKey: orders }, return: exists }
`;
const one = (options?: string) => `\nresources:${rotation("one", "databaseId: db-first, version: 1", options)}`;
const withProvider = (more: string) => `${one('{ provider: "${account}" }')}
  account:
    type: pulumi:providers:rekey
    properties: { username: you@example.com, password: management-password, ${more} }
`;
const [up, refresh, destroy] = [
  ["up", "--yes", "--skip-preview"],
  ["refresh", "--yes", "--skip-preview"],
  ["destroy", "--yes", "--skip-preview"],
] as const;
const adopt = "import rekey:index:PasswordRotation adopted db-adopted --yes --protect=false --generate-code=false";

const steps = (url: string): Step[] => [
  { name: "preview", program: everything(1), command: ["preview"] },
  { name: "first up", command: up },
  { name: "up with another version", program: everything(2), command: up },
  { name: "up without changes", command: up },
  { name: "refresh", command: refresh },
  { name: "import", command: adopt.split(" ") },
  { name: "destroy", command: destroy },
  { name: "up with an import", program: one("{ import: db-first }"), command: up },
  { name: "destroy of an imported resource", command: destroy },
  { name: "failed reset", program: one(), command: up, fault: { dropConnection: "after-apply" }, fails: true },
  { name: "up after a failed reset", command: up },
  { name: "up with an explicit provider", program: withProvider(`baseUrl: "${url}"`), command: up },
  { name: "changed provider", program: withProvider(`baseUrl: "${url}", maxConcurrency: 2`), command: ["preview"] },
  { name: "destroy with an explicit provider", command: destroy },
  {
    name: "cancel",
    program: `${one()}${rotation("waiting", "databaseId: db-second")}`,
    settings: { maxConcurrency: "1" },
    command: up,
    fault: { delayMs: 1000 },
    isInterrupted: true,
    fails: true,
  },
];

const cli = { ...pulumiCli, unavailable: whyNoPrograms("pulumi-language-yaml") };
onEngine(cli, `The wire between the native plugin and the ${pulumiCli.name}`, (engine) => {
  it("carries nothing that the recording does not have", async () => {
    const home = await HomeWithPlugin.make();
    const project = new Project("");
    const { platform, stack } = await fixture(engine, project, recordedPlatform, home.environment);
    const runs: RecordedRun[] = [];
    for (const { name, program, command, settings = {}, fault, isInterrupted, fails = false } of steps(platform.url)) {
      if (program !== undefined) project.write("Pulumi.yaml", `name: program\nruntime: yaml${program}`);
      for (const [key, value] of Object.entries(settings)) await stack.setConfig(`rekey:${key}`, value);
      if (fault) platform.failNext({ ...fault, method: "POST" });
      const [before, log] = [platform.requests.length, project.path(`${runs.length}.log`)];
      const environment = { ...home.environment, PULUMI_DEBUG_GRPC: log };
      const run = new EngineProcess(engine, [...command, "--stack", "dev"], project.directory, environment);
      if (isInterrupted) {
        await until(() => platform.requests.length > before || !run.runs, 60_000);
        run.interrupt();
      }
      const { code, printed } = await run.ended;
      assert.equal(code !== 0, fails, printed);
      const requests = platform.requests.length - before;
      runs.push({ name, ...(fault && { fault }), requests, ...callsIn(readFileSync(log, "utf8")) });
    }
    const text = stored(runs, { platform: platform.url, home: home.directory, project: project.directory });
    home.remove();
    if (process.env["REKEY_RECORD"] === "1") {
      mkdirSync(dirname(recordingFile), { recursive: true });
      writeFileSync(recordingFile, text);
      return;
    }
    const again = "Record again: REKEY_RECORD=1 npm test test/e2e/pluginWire.slow.test.ts";
    const known = fieldsOf(readFileSync(recordingFile, "utf8"));
    assert.deepEqual(
      [...fieldsOf(text)].filter((field) => !known.has(field)),
      [],
      again,
    );
  });
});

interface Line {
  readonly method: string;
  readonly request: { readonly type?: string; readonly urn?: string; readonly remote?: boolean };
  readonly response?: object;
  readonly errors?: readonly string[];
  readonly metadata: { readonly name?: string };
  readonly progress: "request_started" | "response_completed";
}

/** The calls to the plugin and those of a component in it, of which the log has the start and the end. */
function callsIn(log: string): Pick<RecordedRun, "calls" | "registrations"> {
  const calls: Partial<RecordedCall>[] = [];
  const registrations: RecordedCall[] = [];
  for (const line of log.trim().split("\n")) {
    const { method: path, request, response, errors, metadata, progress } = JSON.parse(line) as Line;
    const method = path.split("/")[2] ?? "";
    const error = errors?.join().replace(/^rpc error: code = Unknown desc = /, "");
    const result = { ...(response && { response }), ...(error !== undefined && { error }) };
    const isStart = progress === "request_started";
    if (path.includes("ResourceProvider") && metadata.name === "rekey") {
      if (isStart) calls.push({ method, request });
      else {
        const open = ({ until: end, ...one }: Partial<RecordedCall>) =>
          end === undefined && isDeepStrictEqual(one, { method, request });
        Object.assign(calls.find(open) ?? assert.fail(line), { ...result, until: calls.length });
      }
    } else if (/ResourceMonitor\/RegisterResource/.test(path) && !isStart && !request.remote) {
      const isOfFleet = /PasswordRotation(Fleet|Shard)/.test(request.type ?? request.urn ?? "");
      if (isOfFleet) registrations.push({ method, request, ...result, until: calls.length });
    }
  }
  return { calls: calls as RecordedCall[], registrations };
}

/** Each call of a recording with the path of each field of its request. */
function fieldsOf(recording: string): Set<string> {
  const runs = JSON.parse(recording) as RecordedRun[];
  return new Set(
    runs.flatMap(({ calls, registrations }) =>
      [...calls, ...registrations].flatMap(({ method, request }) => [method, ...pathsIn(request, method)]),
    ),
  );
}

function pathsIn(value: unknown, path: string): string[] {
  if (typeof value !== "object" || value === null) return [path];
  if (Array.isArray(value)) return value.flatMap((one) => pathsIn(one, path));
  return Object.entries(value).flatMap(([name, one]) => pathsIn(one, `${path}.${name}`));
}
