import assert from "node:assert/strict";
import { InvokeRequest } from "@pulumi/pulumi/proto/provider_pb";
import { properties as received, struct } from "../../provider/engine/plugin/wire";
import { isSecret, type Properties } from "../support/wire";
import { hostileValues } from "./hostile";
import { type Answer, credentialNames, databaseId, tryParse } from "./answers";

const untouched = [Object.prototype, Array.prototype, Function.prototype, String.prototype].map(
  (prototype) => [prototype, Reflect.ownKeys(prototype).length] as const,
);

/** Texts that mean unknown values: no engine carries them. */
const unknowns: ReadonlySet<string> = new Set(hostileValues.map(tryParse).filter((value) => isUuid(value)));

function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

export function assertNothingPolluted(): void {
  for (const [prototype, count] of untouched) assert.equal(Reflect.ownKeys(prototype).length, count, "a prototype");
}

/** Properties as the host passes them on: it reads them from protobuf, and loses a key like `__proto__`. */
export function asTheHostReads(properties: Properties): Properties {
  const sent = new InvokeRequest().setArgs(struct(properties)).serializeBinary();
  return received(InvokeRequest.deserializeBinary(sent).getArgs());
}

/** Protobuf carries the properties unchanged. */
export function assertCarried(properties: object = {}): void {
  assert.deepEqual(asTheHostReads(properties as Properties), properties);
}

/** A masked credential counts as none. */
function isMasked(value: unknown): boolean {
  return typeof value === "string" && /^\**$/.test(value);
}

/** Whether the response means that this database's password was reset, whatever is wrong with the rest of it. */
export function isUsable({ text }: Answer): boolean {
  const value = tryParse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { database_id: id, databaseId: camel } = value as Properties;
  const ids = [id, camel].filter((one) => typeof one === "string" && !unknowns.has(one));
  const credentials = Object.keys(credentialNames).filter((name) => Object.hasOwn(value, name));
  const isGiven = (credential: unknown) =>
    typeof credential === "number" || (isFaithful(credential) && !isMasked(credential));
  return credentials.some((name) => isGiven((value as Properties)[name])) && ids.every((one) => one === databaseId);
}

/** Whether protobuf and Pulumi can carry a text unchanged. */
function isFaithful(text: unknown): boolean {
  if (typeof text !== "string" || text === "" || unknowns.has(text)) return false;
  return text.isWellFormed() && !text.includes("\ufffd");
}

/**
 * Each credential of the response is in the outputs byte for byte and secret, or is named in `problems`. Of several
 * with one name, in whatever spelling, the last one counts.
 */
export function assertCredentialsKept({ text, credentials }: Answer, outs: Properties): void {
  const problems = (outs["problems"] ?? []) as string[];
  const sent = credentials.length > 0 ? Object.entries(tryParse(text) as Properties) : [];
  const isCredential = ([wireName]: (typeof sent)[number]) => Object.hasOwn(credentialNames, wireName);
  const nameOf = (wireName: string) => credentialNames[wireName as keyof typeof credentialNames];
  const last = new Map(sent.filter(isCredential).map(([wireName, value]) => [nameOf(wireName), value]));
  for (const [name, value] of last) {
    const output = outs[name];
    if (typeof value !== "string" || value === "" || isMasked(value)) continue;
    if (isSecret(output) && output.value === value) continue;
    const named = problems.some((problem) => problem.startsWith(`${name}:`));
    assert.ok(named, `${name} ${JSON.stringify(value)} is lost; the problems are ${JSON.stringify(problems)}`);
  }
}

/** No credential is anywhere but inside a secret, unless the platform itself sent it as something else, too. */
export function assertNothingShown({ text, credentials }: Answer, outs: Properties, said: readonly string[]): void {
  const shown = JSON.stringify([Object.values(outs).filter((value) => !isSecret(value)), said]);
  for (const [, value] of credentials) {
    const written = JSON.stringify(value).slice(1, -1);
    const asCredential = credentials.filter(([, other]) => other.includes(value)).length;
    if (value.length < 12 || text.split(written).length - 1 > asCredential) continue;
    const at = shown.indexOf(written);
    assert.equal(at, -1, `${written} is shown: ${shown.slice(Math.max(0, at - 80), at + 80)}`);
  }
}
