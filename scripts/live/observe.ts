import { setTimeout as sleep } from "node:timers/promises";
import { PlatformClient } from "../../provider/platformClient";
import { Connections } from "../../provider/platform/agents";
import { RejectedError, RekeyError } from "../../provider/platform/errors";
import { type Service } from "../../provider/platform/failures";
import { HttpRequester } from "../../provider/platform/http";
import { RequestQueue } from "../../provider/platform/requestQueue";
import { advise, deadlineName } from "../../provider/settings/advice";
import { type Settings } from "../../provider/settings/settings";

/** A row of the page. */
export interface Fact {
  readonly question: string;
  readonly answer: string;
}

/** What the checks of one run share. */
export class Observer {
  readonly client: PlatformClient;
  readonly facts: Fact[] = [];

  constructor(
    readonly settings: Settings,
    /** Seconds for which a change is waited for. */
    readonly waitSeconds: number,
    /** Aborted once the run is to end. */
    readonly signal: AbortSignal,
  ) {
    this.client = new PlatformClient(settings).permitting("resets");
  }

  note(question: string, answer: string): void {
    this.facts.push({ question, answer });
  }

  /** Sends requests as Rekey does, for what Rekey's own operations do not show. */
  requesterTo(service: Service): HttpRequester {
    const { settings, client } = this;
    const proxy = settings.proxyFor(service.baseUrl);
    const connections = new Connections({ proxy, extraCertificates: settings.get("caFile") });
    const permission = "resets" as const;
    const options = { deadlineMs: 15_000, deadlineName, advise, secrets: client.secrets, permission };
    return new HttpRequester(service, connections, new RequestQueue({ maxConcurrency: 4 }), options);
  }

  /** Repeats a check until it is `"yes"`. @returns when that was since `startedAt`, or that it was not */
  async when(startedAt: number, check: () => Promise<Checked>): Promise<string> {
    let unknowns = 0;
    for (;;) {
      const result = await check();
      const elapsed = (performance.now() - startedAt) / 1000;
      if (result === "yes") return `after ${elapsed.toFixed(1)} s`;
      const isOver = elapsed >= this.waitSeconds;
      unknowns = result === "not yet" ? 0 : unknowns + 1;
      if (result !== "not yet" && (isOver || unknowns === mostUnknowns)) return `not known: ${result.unknown}`;
      if (isOver) return `not within ${this.waitSeconds} s`;
      if (this.signal.aborted) return "not known: the test was stopped";
      await sleep(250, undefined, { signal: this.signal }).catch(() => undefined);
    }
  }
}

/** The result of one check. */
export type Checked = "yes" | "not yet" | { readonly unknown: string };

/** Checks in a row whose result is not known, after which no more are made. */
const mostUnknowns = 3;

/** What a response of a status other than 2xx looks like, or why there is none. */
export function describeError(error: unknown): string {
  if (!(error instanceof RekeyError)) throw error;
  if (!(error instanceof RejectedError)) return error.code;
  const { status, inJson, words } = error;
  const quoted = words === "" ? "without words" : `with the words "${words}"`;
  return `${status}, ${inJson ? "JSON" : "not JSON"}, ${quoted}`;
}
