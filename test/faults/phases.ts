import { type Adapter, providerTexts, type Result } from "../support/host";
import { counterReset, rotation } from "../support/resources";
import { resetSecret } from "../support/rotatedSecret";
import { type Properties } from "../support/wire";
import { type Behaviour } from "../support/httpServer";
import { type Fixture } from "./fixture";

export type Phase = "create" | "update" | "read" | "counter reset";
export const phases: readonly Phase[] = ["create", "update", "read", "counter reset"];

/** What was seen of one fault in one phase. */
export interface Observation {
  readonly result: Result;
  /** Requests that the server saw of those that meet the fault. */
  readonly requests: number;
  readonly milliseconds: number;
}

/**
 * What the adapter left in the state of an earlier reset by version "1", secrets in plain.
 *
 * @param more inputs
 */
export async function formerOutputs(
  databaseId: string,
  adapter: Adapter,
  { at, ...more }: Properties & { at?: Date } = {},
): Promise<Properties> {
  const credentials = { password: "former-password", restToken: "former-token" };
  const record = { databaseId, databaseName: "former" };
  const { outputs } = await resetSecret({ version: "1", ...more }, credentials, { id: databaseId, at, record });
  return { ...outputs, ...savedText(adapter) };
}

/** The provider's text, which only the dynamic adapter saves. */
export function savedText(adapter: Adapter): Properties {
  return adapter === "dynamic" ? { __provider: providerTexts.PasswordRotation } : {};
}

/** Lets the platform behave so towards one key, and does with it what the phase does. */
export async function observe(phase: Phase, fixture: Fixture, key: string, platform: Behaviour): Promise<Observation> {
  const method = phase === "read" ? "GET" : "POST";
  fixture.server.behave(method, key, platform);
  const start = performance.now();
  const result = await act(phase, fixture, key);
  return { result, requests: fixture.server.count(method, key), milliseconds: performance.now() - start };
}

export async function act(phase: Phase, fixture: Fixture, key: string): Promise<Result> {
  const { host } = fixture;
  switch (phase) {
    case "create":
      return host.create(rotation(key, { version: "2" }));
    case "update":
      return host.update(key, await formerOutputs(key, host.adapter), rotation(key, { version: "2" }));
    case "counter reset":
      return host.create(counterReset(key, { version: "1" }));
    case "read":
      return fixture.read(key);
  }
}
