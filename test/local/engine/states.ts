import { type Call, type Json } from "./project";

export interface StateResource {
  urn: string;
  delete?: boolean;
  dependencies?: string[];
  inputs?: Json;
  outputs?: Json;
  [key: string]: unknown;
}

/** The name of the resource that a call is about. */
export function about(call: Call): string {
  const name = call.news?.name ?? call.props?.name ?? call.id?.split("-")[0];
  if (typeof name !== "string") throw new Error(`a call about nothing: ${JSON.stringify(call)}`);
  return name;
}

/** Resources in an order of their own, without what is different each time. */
export function comparable(resources: readonly unknown[]): unknown[] {
  return (resources as StateResource[])
    .map((resource) => {
      const shown = { ...resource };
      for (const key of ["created", "modified", "sourcePosition", "stackTrace"]) delete shown[key];
      for (const key of ["inputs", "outputs"] as const) {
        if (!shown[key]) continue;
        const { __provider, ...others } = shown[key];
        shown[key] = others;
      }
      if (Array.isArray(shown.dependencies)) shown.dependencies = [...shown.dependencies].sort();
      // The CLI's JSON writes `<` in a secret as `\u003c`, which means the same.
      const escaped = (key: string, value: unknown): unknown =>
        key === "plaintext" && typeof value === "string" ? (JSON.parse(value) as unknown) : value;
      const text = JSON.stringify(shown, escaped).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>");
      return JSON.parse(text) as StateResource;
    })
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

function order(resource: StateResource): string {
  return `${resource.urn} ${String(resource.delete)} ${JSON.stringify(resource.id)}`;
}

/** The counts under `Resources:`. */
export function summaryOf(text: string): string[] {
  const [, below = ""] = text.split(/^ *Resources: *\n/m);
  const [counts = ""] = below.split(/^\s*$/m);
  return counts
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}
