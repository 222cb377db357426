// Calls dynamic providers like Pulumi's host, but in this process.
import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import type { ResourceProvider } from "@pulumi/pulumi/dynamic";

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Properties = Record<string, Value>;
type Provider = ResourceProvider<Properties, Properties>;

// How Pulumi's protocol marks unknown values and secrets.
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const secretMark = "1b47061264138c4ac30d75fd1eb44270";
const markKey = "4dabf18193072939515e22adb298388d";

/** Whether a value or a part of it is unknown, or secret. */
export function holds(value: Value | undefined, mark: string): boolean {
  return JSON.stringify(value ?? null).includes(mark);
}

/** A copy of a value without marks on secrets, as providers get it. */
export function plain<T extends Value>(value: T): T {
  const isSecret = (part: unknown): part is { value: unknown } => (part as Properties | null)?.[markKey] === secretMark;
  return JSON.parse(JSON.stringify(value), (_, part: unknown) => (isSecret(part) ? part.value : part)) as T;
}

/** Marks the properties that a provider returned as secret if they are so in `like`, or named. */
export function marked(properties: object, like: Properties, secrets: readonly string[] = []): Properties {
  const text = JSON.stringify(properties, (_, part: unknown) => {
    if (part === undefined) throw new Error("Unexpected struct type");
    return part;
  });
  const values = JSON.parse(text) as Properties;
  for (const [name, value] of Object.entries(values)) {
    const isSecret = secrets.includes(name) || holds(like[name], secretMark) || holds(value, secretMark);
    if (isSecret) values[name] = { [markKey]: secretMark, value: plain(value) };
  }
  return values;
}

/** The inputs as the provider returns them from its check. @throws Error if it finds them invalid */
export async function checked(provider: Provider | undefined, olds: Properties, news: Properties): Promise<Properties> {
  const { inputs, failures = [] } = (await provider?.check?.(plain(olds), plain(news))) ?? {};
  if (failures.length > 0) throw new Error(failures.map(({ reason }) => `has a problem: ${reason}`).join("\n"));
  return inputs ? marked({ ...inputs, __provider: news["__provider"] }, news) : news;
}

/** Evaluates the texts of providers like Pulumi's host. The modules that they name are loaded again. */
export function host(get: (key: string) => string | undefined): (properties: Properties) => Provider | undefined {
  const fromProject = createRequire(join(process.cwd(), "provider.js"));
  const loaded = new Set<string>();
  const load = (id: string): unknown => {
    const path = fromProject.resolve(id);
    if (!loaded.has(path)) delete fromProject.cache[path];
    loaded.add(path);
    return fromProject(path) as unknown;
  };
  const providers = new Map<string, Provider>();
  return ({ __provider: text }) => {
    if (typeof text !== "string") return undefined;
    let provider = providers.get(text);
    if (provider === undefined) {
      const exports = {} as { handler(): Provider };
      (compileFunction(text, ["exports", "require"]) as (...args: unknown[]) => void)(exports, load);
      providers.set(text, (provider = exports.handler()));
      void provider.configure?.({ config: { get, require: get as (key: string) => string } });
    }
    return provider;
  };
}
