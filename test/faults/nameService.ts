import type * as dns from "node:dns";

/** What is said of a host name: an error's code, or its addresses. */
export type LookupAnswer = string | readonly { readonly address: string; readonly family: 4 | 6 }[];

type Callback = (error: Error | null, addresses?: unknown, family?: number) => void;
type Lookup = (host: string, options: { all?: boolean }, callback: Callback) => void;

/**
 * Resolves names that end in `.test`, because a real resolver cannot be made to fail on demand. Its source text also
 * runs in the host.
 */
function patch(module: { lookup: unknown }, answer: LookupAnswer): () => void {
  const ordinary = module.lookup as Lookup;
  module.lookup = (host: string, options: { all?: boolean }, callback: Callback): void => {
    if (!host.endsWith(".test")) return ordinary(host, options, callback);
    setImmediate(() => {
      if (typeof answer === "string") {
        callback(Object.assign(new Error(`getaddrinfo ${answer} ${host}`), { code: answer, syscall: "getaddrinfo" }));
      } else if (options.all) callback(null, answer);
      else callback(null, answer[0]?.address, answer[0]?.family);
    });
  };
  return () => {
    module.lookup = ordinary;
  };
}

/** Patches this process. */
export function patchLookup(answer: LookupAnswer): () => void {
  return patch(require("node:dns") as typeof dns, answer);
}

/** Code that patches another process. */
export function preloadOf(answer: LookupAnswer): string {
  return `import dns from "node:dns";\n(${patch.toString()})(dns, ${JSON.stringify(answer)});`;
}
