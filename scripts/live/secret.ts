import { type Socket } from "node:net";
import { type ClientEndpoint } from "../../provider/platform/address";
import { RejectedError, RekeyError, RequestError } from "../../provider/platform/errors";
import { tokenService } from "../../provider/platform/http";
import { openConnection, trusting } from "../../provider/platform/openConnection";
import { type Credential } from "../../provider/platform/credential";
import { type ProbeResult } from "../../provider/platform/probe";
import { ask } from "../../provider/platform/redisCommands";
import { ownerOf, type SecretKind } from "../../provider/platform/secretKind";
import { type CredentialName, valuesOf } from "../../provider/records/credentials";
import { type DatabaseRecord } from "../../provider/records/database";
import { hostInUrl } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/response";
import { endpointOf } from "../../provider/rotation/endpoint";
import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import { vectorToken } from "../../provider/rotation/kinds/indexToken";
import { type Checked, describeError, type Observer } from "./observe";

const tryTimeoutMs = 5_000;
/** Nothing has it. */
const unknownId = "00000000-0000-4000-8000-00000000ffff";

/** A credential of a secret, and how it is tried. */
interface Tried {
  readonly name: CredentialName;
  /** In questions. */
  readonly words: string;
  readonly attempt: (secret: string) => Promise<ProbeResult>;
}

/** A database or an index whose credentials are reset once. */
export interface Target {
  readonly kind: SecretKind;
  readonly id: string;
}

/** What the platform showed before the reset. */
export interface Before extends Target {
  readonly shown: SecretResponse;
}

/** Reads what is to be reset, and notes what a read shows. Changes nothing. */
export async function readBefore(observer: Observer, target: Target): Promise<Before> {
  const { kind, id } = target;
  const operations = observer.client.operations(kind);
  const shown = await operations.read(id);
  observer.note(`${kind.noun}: which credentials does a read show?`, namesIn(shown));
  const hidden = await operations.read(id, { hideCredentials: true }).then(namesIn, describeError);
  observer.note(`${kind.noun}: and with \`credentials=hide\`?`, hidden);
  const unknown = await operations.read(unknownId).then(() => "200", describeError);
  observer.note(`${kind.noun}: the response to a read of an unknown id`, unknown);
  return { ...target, shown };
}

/** Sends one reset, and watches until each of its effects is seen or the time is over. */
export async function resetOnce(observer: Observer, before: Before): Promise<void> {
  const held = before.kind === databasePassword ? await holdConnection(observer, before) : undefined;
  try {
    await resetAndWatch(observer, before, held);
  } finally {
    held?.destroy();
  }
}

async function resetAndWatch(observer: Observer, before: Before, held: Socket | undefined): Promise<void> {
  const { kind, id, shown } = before;
  const operations = observer.client.operations(kind);
  const tried = kind === databasePassword ? triedOfDatabase(observer, before) : triedOfIndex(observer, before);
  const startedAt = performance.now();
  let response: SecretResponse | undefined;
  try {
    response = await operations.reset(id);
    observer.note(`${kind.noun}: which credentials does the response to a reset have?`, namesIn(response, shown));
  } catch (error) {
    observer.note(`${kind.noun}: the reset`, describeError(error));
    if (!(error instanceof RequestError) || error.delivery !== "maybe applied") return;
  }
  const fresh = { ...response?.credentials };
  const isNew = (name: CredentialName) => fresh[name] !== undefined && fresh[name] !== shown.credentials[name];
  const canShow = tried.some(({ name }) => shown.credentials[name] !== undefined);
  const isShown = async (): Promise<Checked> => {
    const read = await operations.read(id).catch(whyUnknown);
    if ("unknown" in read) return read;
    for (const [name, value] of Object.entries(read.credentials) as [CredentialName, string][]) {
      if (value !== shown.credentials[name]) Object.assign(fresh, { [name]: value });
    }
    if (tried.every(({ name }) => read.credentials[name] === undefined)) return "not yet";
    const isFormer = ({ name }: Tried) =>
      read.credentials[name] !== undefined && read.credentials[name] === shown.credentials[name];
    return tried.some(isFormer) ? "not yet" : "yes";
  };
  // Without credentials before the reset, one read shows whether that has changed.
  const once = async () => ((await isShown()) === "yes" ? "at once, although it showed none before" : "it shows none");
  const read = canShow ? observer.when(startedAt, isShown) : once();
  const rows = tried.map(async ({ name, words, attempt }) => {
    const former = shown.credentials[name];
    const refused = await (former === undefined
      ? "not known: no read showed it"
      : observer.when(startedAt, async () => checkedOf(await attempt(former), "refused")));
    await read;
    const accepted = await (isNew(name)
      ? observer.when(startedAt, async () => checkedOf(await attempt(fresh[name] ?? ""), "accepted"))
      : "not known: nothing showed it");
    return { words, refused, accepted };
  });
  const closed = held && observer.when(startedAt, () => isEnded(held));
  observer.note(`${kind.noun}: when does a read show the new credentials?`, await read);
  for (const { words, refused, accepted } of await Promise.all(rows)) {
    observer.note(`${kind.noun}: when is the former ${words} refused?`, refused);
    observer.note(`${kind.noun}: when is the new ${words} accepted?`, accepted);
  }
  if (kind === databasePassword) {
    const unknown = "not known: none could be opened";
    observer.note("database: when does an open connection of the former password end?", (await closed) ?? unknown);
  }
}

function triedOfDatabase(observer: Observer, before: Before): Tried[] {
  const probe = async (credential: Credential, port?: number): Promise<ProbeResult> => {
    const endpoint = databaseEndpoint(observer, before, port);
    if ("unknown" in endpoint) return { kind: "unknown", why: endpoint.unknown };
    const otherSecrets = valuesOf(before.shown.credentials);
    return observer.client.probe({
      owner: ownerOf(before),
      endpoint,
      credential,
      otherSecrets,
      timeoutMs: tryTimeoutMs,
    });
  };
  return [
    { name: "password", words: "password", attempt: (password) => probe({ password }) },
    { name: "restToken", words: "REST token", attempt: (restToken) => probe({ restToken }, 443) },
  ];
}

function triedOfIndex(observer: Observer, { shown }: Before): Tried[] {
  const url = vectorToken.restUrl?.(shown.record, observer.settings.preset?.indexHost);
  const attempt = async (token: string): Promise<ProbeResult> => {
    if (url === undefined) return { kind: "unknown", why: "the record has no endpoint" };
    const requester = observer.requesterTo(tokenService("database", url, token));
    const none = "Nothing was changed.";
    const consequences = { "not sent": none, rejected: none, "maybe applied": none };
    try {
      await requester.send({ method: "GET", path: "/info", idempotent: true, purpose: "try a token", consequences });
      return { kind: "accepted" };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      const isRefused = error instanceof RejectedError && (error.status === 401 || error.status === 403);
      return isRefused ? { kind: "refused", words: error.words } : { kind: "unknown", why: describeError(error) };
    }
  };
  return [{ name: "token", words: "token", attempt }];
}

function databaseEndpoint(
  { settings }: Observer,
  { id, shown }: Before,
  port?: number,
): ClientEndpoint | { readonly unknown: string } {
  const setting = settings.get("databaseHost") === undefined ? undefined : settings.find("databaseHost");
  const database = { databaseId: id, record: shown.record as Pick<DatabaseRecord, "endpoint" | "port" | "tls"> };
  try {
    return endpointOf(database, port === undefined ? {} : { port, tls: true }, setting);
  } catch {
    return { unknown: "the record has no usable endpoint" };
  }
}

/** A connection with the former password. Undefined if there is none. */
async function holdConnection(observer: Observer, before: Before): Promise<Socket | undefined> {
  const { password } = before.shown.credentials;
  const endpoint = databaseEndpoint(observer, before);
  if (password === undefined || "unknown" in endpoint) return undefined;
  const { settings } = observer;
  const url = new URL(`${endpoint.tls ? "https" : "http"}://${hostInUrl(endpoint.host)}:${endpoint.port}`);
  const proxy = endpoint.tls ? settings.get("proxy") : undefined;
  try {
    const trust = trusting(settings.get("caFile"));
    const socket = await openConnection(url, { proxy, ...trust, timeoutMs: tryTimeoutMs });
    if ((await ask(socket, ["AUTH", password], tryTimeoutMs)) === "+OK") return socket;
    socket.destroy();
  } catch {
    // Some databases cannot be reached from here: the page then says so.
  }
  return undefined;
}

/** Whether a connection is closed, or no longer authenticated. */
async function isEnded(socket: Socket): Promise<Checked> {
  return ask(socket, ["PING"], tryTimeoutMs).then(
    (reply) => (reply.startsWith("-") ? "yes" : "not yet"),
    () => (socket.destroyed ? "yes" : { unknown: "it does not respond" }),
  );
}

function checkedOf(result: ProbeResult, expected: "accepted" | "refused"): Checked {
  if (result.kind === "unknown") return { unknown: result.why };
  return result.kind === expected ? "yes" : "not yet";
}

function whyUnknown(error: unknown): { readonly unknown: string } {
  return { unknown: describeError(error) };
}

/** The names of credentials. Those that are the same as before are marked. */
function namesIn({ credentials }: SecretResponse, before?: SecretResponse): string {
  const names = Object.entries(credentials).map(([name, value]) => {
    const isFormer = before?.credentials[name as CredentialName] === value;
    return `\`${name}\`${isFormer ? " (the former one)" : ""}`;
  });
  return names.length === 0 ? "none" : names.join(", ");
}
