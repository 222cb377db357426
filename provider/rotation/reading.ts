import { type Credentials } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import { NotReadError, RejectedError, RequestError } from "../platform/errors";
import { type Session } from "./session";

/** What a read shows of a database's credentials, compared with those that it had before. */
export type Shown =
  | { readonly is: "changed"; readonly response: DatabaseResponse }
  | { readonly is: "unchanged" }
  /** The platform shows no credential: it keeps none, or hides them. */
  | { readonly is: "hidden" }
  | { readonly is: "unreadable"; readonly why: string };

/** Milliseconds between two reads; each wait is twice as long as the one before, up to the maximum. */
const firstWaitMs = 250;
const maxWaitMs = 5_000;

export function hasCredentials(credentials: Credentials): boolean {
  return Object.keys(credentials).length > 0;
}

/** Compares the credentials that both have: a platform may leave out some of them. */
export function areDifferent(before: Credentials, now: Credentials): boolean {
  return changedCredentials(before, now).length > 0;
}

/** The names of the credentials that both have, with different values. */
export function changedCredentials(before: Credentials, now: Credentials): string[] {
  const names = Object.keys(now) as (keyof Credentials)[];
  return names.filter((name) => before[name] !== undefined && before[name] !== now[name]);
}

function compare(before: Credentials, response: DatabaseResponse): Shown {
  if (!hasCredentials(response.credentials)) return { is: "hidden" };
  return areDifferent(before, response.credentials) ? { is: "changed", response } : { is: "unchanged" };
}

/**
 * Reads a database before its password is reset or it is adopted.
 *
 * @param secrets saved credentials, which errors must not show
 * @throws NotReadError, for which nothing was changed
 */
export async function readFirst(
  databaseId: string,
  intent: "reset" | "adopted",
  session: Session,
  secrets: readonly string[] = [],
): Promise<DatabaseResponse> {
  try {
    return await session.options.platform.databases.read(databaseId, { secrets });
  } catch (error) {
    throw error instanceof RequestError ? new NotReadError(databaseId, intent, error) : error;
  }
}

/**
 * Reads a database until it shows other credentials than before, because a platform may apply a reset later than it
 * responds. It ends at once if no credential is shown or the read is rejected.
 *
 * @param secrets saved and former credentials, which errors must not show
 * @param durationMs milliseconds after which no further read begins; 0 reads once
 */
export async function readUntilChanged(
  databaseId: string,
  before: Credentials,
  session: Session,
  secrets: readonly string[],
  durationMs = session.options.deadlineMs(),
): Promise<Shown> {
  const { timer, platform } = session.options;
  const endsAtMs = timer.now() + durationMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
    const deadlineMs = durationMs === 0 ? undefined : Math.max(1, endsAtMs - timer.now());
    let shown: Shown;
    try {
      shown = compare(before, await platform.databases.read(databaseId, { secrets, deadlineMs }));
    } catch (error) {
      shown = { is: "unreadable", why: error instanceof RequestError ? error.happened : "pulumi-rekey failed" };
      if (error instanceof RejectedError) return shown;
    }
    const isLast = timer.now() + waitMs > endsAtMs;
    if (isLast || shown.is === "changed" || shown.is === "hidden") return shown;
    await timer.sleep(waitMs);
  }
}

/** What a notice is about. A fleet shows one line for all of its databases. */
export type NoticeKind = "problems" | "settled" | "unread" | "hidden" | "drift" | "failed";

/** One line for the run's diagnostics. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly text: string;
}

/** @param happened why the reset was not confirmed */
export function settledNotice(databaseId: string, happened: string): Notice {
  const text = `The reset of database ${JSON.stringify(databaseId)} was not confirmed (${happened}), but a read shows other credentials than before it: it was applied. The credentials that were read are saved.`;
  return { kind: "settled", text };
}

/** The notice for a confirmed reset whose credentials are not known. */
export function unknownNotice(databaseId: string, shown: Exclude<Shown, { is: "changed" }>): Notice {
  const reset = `The password of database ${JSON.stringify(databaseId)} was reset, but the new one is not known:`;
  if (shown.is === "hidden") {
    const text = `${reset} the platform neither returned credentials nor shows them when it is asked. Look for them in the platform's console.`;
    return { kind: "hidden", text };
  }
  const why =
    shown.is === "unchanged"
      ? "the platform still shows the former credentials"
      : `the database could not be read (${shown.why})`;
  const text = `${reset} ${why}. The next \`up\` or refresh reads it again, and resets nothing. Until then, look for it in the platform's console.`;
  return { kind: "unread", text };
}

/** The notice for a database that is adopted without credentials. */
export function adoptionNotice(databaseId: string): Notice {
  const text = `Database ${JSON.stringify(databaseId)} was adopted without credentials: the platform does not show them. They are known after its next reset, if the platform returns them with it.`;
  return { kind: "hidden", text };
}

/** What the notices of several databases of a fleet have in common, by what they are about. */
const summaries: Readonly<Record<Exclude<NoticeKind, "problems">, string>> = {
  settled:
    "not confirmed by the platform, but applied: a read shows other credentials than before. The credentials that were read are saved",
  unread:
    "reset, but the new password is not known yet, because the database still shows the former one or could not be read. The next `up` or refresh reads it again, and resets nothing",
  hidden:
    "without credentials that are known: the platform does not show them. Look for a new password in the platform's console",
  drift: "read, and what was changed outside of Rekey is saved; nothing was reset",
  failed: "not read, and their saved state stays",
};

/**
 * One line for all databases with the same notice. A run shows once for a fleet that the platform shows no credentials.
 *
 * @param of what has the databases, for messages
 * @param fleet the fleet; a refresh does not know it
 */
export function summarize(
  databases: readonly { readonly databaseId: string; readonly notices: readonly Notice[] }[],
  of: string,
  session: Session,
  fleet = "",
): Notice[] {
  const all = databases.flatMap(({ databaseId, notices }) => notices.map((notice) => ({ databaseId, ...notice })));
  const lines = all.filter(({ kind }) => kind === "problems");
  const kinds = Object.keys(summaries) as (keyof typeof summaries)[];
  const summed = kinds.flatMap((kind): Notice[] => {
    const found = all.filter((notice) => notice.kind === kind);
    const [first] = found;
    if (!first || (kind === "hidden" && !session.isFirst(`hidden ${fleet}`))) return [];
    const example = kind === "failed" ? ` The first of them: ${first.text}` : "";
    return [
      {
        kind,
        text: `${of}: ${found.length} ${summaries[kind]}: ${listed(found.map(({ databaseId }) => databaseId))}.${example}`,
      },
    ];
  });
  return [...lines, ...summed];
}

/** Databases that are named in one message; the others are counted. */
export const maxNamed = 5;

export function listed(ids: readonly string[]): string {
  const shown = ids
    .slice(0, maxNamed)
    .map((id) => JSON.stringify(id))
    .join(", ");
  return ids.length > maxNamed ? `${shown} and ${ids.length - maxNamed} more` : shown;
}
