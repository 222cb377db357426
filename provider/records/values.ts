import { isIP } from "node:net";

/** Whether a value is a JSON object (neither null nor an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Why a text cannot be a part of a path, if it cannot. */
export function pathPartProblem(part: string): string | undefined {
  if (part.trim() === "") return "must not be empty";
  if (part === "." || part === "..") return `must not be ${JSON.stringify(part)}, which a path cannot contain`;
  if (!part.isWellFormed()) return "must be well-formed Unicode";
  return undefined;
}

/** Why a text cannot be a host with `{endpoint}` or `{id}` in it, if it cannot. */
export function hostTemplateProblem(template: string): string | undefined {
  if (typeof template !== "string") return "must be a string";
  return hostProblem(template.replace(/\{(endpoint|id)\}/g, "x"));
}

export function hostProblem(host: string): string | undefined {
  const isName = /^[a-z\d_-]+(\.[a-z\d_-]+)*\.?$/i.test(host);
  const isAddress = isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0 && !host.includes("%");
  return isName || isAddress ? undefined : "must be a host name or an IP address, without a port";
}

export function portProblem(port: number): string | undefined {
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : "must be a whole number from 1 to 65535";
}

export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Whether a host is this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|\[?::1\]?|127(\.\d{1,3}){3})$/i.test(host);
}
