import { RekeyError } from "../../provider/platform/errors";
import { ownerOf } from "../../provider/platform/secretKind";
import { pathPartProblem } from "../../provider/records/fields";
import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import { vectorToken } from "../../provider/rotation/kinds/indexToken";
import { type Settings } from "../../provider/settings/settings";
import { resetKeyOnce } from "./flowControl";
import { Observer } from "./observe";
import { readBefore, resetOnce } from "./secret";

interface Terminal {
  /** Asks for a line. Undefined if there is none, or if the run is stopped. */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly print: (line: string) => void;
}

export interface LiveOptions {
  readonly settings: Settings;
  readonly terminal: Terminal;
  /** Seconds for which the effects of a reset are waited for. */
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

const questions = {
  database: "Id of a database that is NOT IN USE",
  index: "Id of a vector index that is NOT IN USE",
  key: "A flow-control key that is NOT IN USE, best one without state",
};
type Subject = keyof typeof questions;

/**
 * Resets a database, a vector index and a flow-control key of an account once each, after their ids have been typed
 * twice, and prints what was seen as a page in Markdown. No line contains a secret, and the page no id.
 *
 * @returns the exit code
 */
export async function runLive({ settings, terminal, waitSeconds, signal }: LiveOptions): Promise<number> {
  const observer = new Observer(settings, waitSeconds, signal);
  const { secrets } = observer.client;
  const print = (text: string) => text.split("\n").forEach((line) => terminal.print(secrets.redact(line)));
  const ids = new Map<Subject, string>();
  const resets: string[] = [];
  try {
    print("This resets secrets of a live account, once each. What uses them stops working.\n");
    for (const [subject, question] of Object.entries(questions) as [Subject, string][]) {
      const id = await terminal.ask(`${question} (empty to skip): `);
      if (id === undefined) return stop(1, "an answer is missing");
      if (id === "") continue;
      const problem = subject === "key" ? pathPartProblem(id) : idProblem(id);
      if (problem !== undefined) return stop(1, `an id ${problem}`);
      ids.set(subject, id);
    }
    if (ids.size === 0) return stop(1, "no id was given");
    requireSettings();
    for (const [subject, id] of ids) {
      if (subject === "key") await confirmed(subject, id, planOfKey(id), () => resetKeyOnce(observer, id));
      else await resetSecret(subject, id);
      if (signal.aborted) break;
    }
  } catch (error) {
    // Of any other error only its kind: it may contain a secret.
    print(`\n${error instanceof RekeyError ? error.message : `Failed: ${(error as Error).constructor.name}`}`);
    if (resets.length === 0) return stop(1, "it failed");
  }
  if (resets.length === 0) return stop(1, signal.aborted ? "it was interrupted" : "no id was typed again");
  print(`\n${page()}`);
  print(`\nA reset was sent for: ${resets.join(", ")}. The new credentials are in the console of the account.`);
  return signal.aborted ? 130 : 0;

  function stop(code: number, why: string): number {
    print(`\nStopped, because ${signal.aborted ? "it was interrupted" : why}. Nothing was reset.`);
    return signal.aborted ? 130 : code;
  }

  /** Before anything is sent. */
  function requireSettings(): void {
    if (ids.has("database") || ids.has("index")) {
      for (const name of ["baseUrl", "username", "password"] as const) settings.require(name);
    }
    if (ids.has("database") && settings.getOrDefault("databasePath") === "none") throw settings.missing("databasePath");
    if (ids.has("key")) for (const name of ["queueUrl", "queueToken"] as const) settings.require(name);
  }

  async function resetSecret(subject: "database" | "index", id: string): Promise<void> {
    const kind = subject === "database" ? databasePassword : vectorToken;
    const before = await readBefore(observer, { kind, id });
    const { databaseName, name = databaseName } = before.shown.record;
    const what = `${ownerOf({ kind, id })}${typeof name === "string" ? `, named ${JSON.stringify(name)}` : ""}`;
    const plan = `Resets all credentials of ${what}, then tries the former and the new ones for up to ${waitSeconds} s.`;
    await confirmed(subject, id, plan, () => resetOnce(observer, before));
  }

  function planOfKey(key: string): string {
    return `Resets the counters of flow-control key ${JSON.stringify(key)}. If it has no state, it is pinned first and unpinned afterwards.`;
  }

  async function confirmed(subject: Subject, id: string, plan: string, reset: () => Promise<void>): Promise<void> {
    print(`\n${plan}`);
    const typed = await terminal.ask(`Type the id of the ${subject} again to reset it: `);
    if (typed !== id || signal.aborted) return print("Not reset.");
    resets.push(subject);
    print("Wait …");
    await reset();
  }

  function page(): string {
    const { facts } = observer;
    const known = [...ids.values(), settings.get("username") ?? ""].filter((id) => id !== "");
    const withoutIds = (text: string) => known.reduce((shown, id) => shown.replaceAll(id, "…"), text);
    const rows = facts.map(({ question, answer }) => `| ${question} | ${inCell(withoutIds(answer))} |`);
    return [
      `## Seen on ${new Date().toISOString().slice(0, 10)}`,
      "",
      "| question | answer |",
      "| --- | --- |",
      ...rows,
    ].join("\n");
  }
}

/** Words of the platform may contain anything. */
function inCell(text: string): string {
  return text.replace(/[|<>[\]]/g, (character) => `\\${character}`);
}

function idProblem(id: string): string | undefined {
  return /[/:@\s]/.test(id) ? "must be an id, for Upstash a UUID, not an address" : pathPartProblem(id);
}
