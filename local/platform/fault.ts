import { z } from "zod";

/** What happens to the next matching request. Whatever is not set stays normal. */
export interface Fault {
  /** Only requests with this method, in upper case. Default: any. */
  readonly method?: string | undefined;
  /**
   * Only requests to this path. A string must equal the path as sent, without the query; a regular expression is tested
   * on path and query. Default: any.
   */
  readonly path?: string | RegExp | undefined;
  /** How many requests are affected. Default: 1. */
  readonly times?: number | undefined;
  /**
   * Delay in milliseconds. The operation is applied afterwards, even if the client has given up by then. Default: 0.
   */
  readonly delayMs?: number | undefined;
  /** Close the connection without a response, before the operation is applied or after it. */
  readonly dropConnection?: "before-apply" | "after-apply" | undefined;
  /**
   * Status of the response, 200 to 599. With 2xx, the operation is applied and its response replaced. With any other
   * status, nothing is applied, and the credentials are not checked. Default: 200 if `headers` or `body` is set.
   */
  readonly status?: number | undefined;
  /** Headers of the response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Body of the response. A string is sent unchanged, anything else as JSON. Default: `{"error": "a fault on demand"}`.
   */
  readonly body?: unknown;
  /**
   * For a reset of a secret: how many milliseconds after the request it is applied, or `never`. The response is sent at
   * once; until then, only the former credentials are valid. Default: 0, before the response.
   */
  readonly applyAfterMs?: number | "never" | undefined;
  /**
   * For a reset of a password or of tokens: the former ones are accepted as well, until the next reset. Default: false.
   */
  readonly keepFormerPassword?: boolean | undefined;
}

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~\w-]+$/, "must be a header name");
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must be Latin-1 text without line breaks");

// The maximum of Node's timers.
const milliseconds = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

export const fault = z.strictObject({
  method: z
    .string()
    .regex(/^[A-Z]+$/, "must be an HTTP method in upper case")
    .optional(),
  path: z.union([z.string().startsWith("/", "must start with a slash"), z.instanceof(RegExp)]).optional(),
  times: z.int().min(1).optional(),
  delayMs: milliseconds.optional(),
  dropConnection: z.enum(["before-apply", "after-apply"]).optional(),
  status: z.int().min(200).max(599).optional(),
  headers: z.record(headerName, headerValue).optional(),
  body: z.unknown().optional(),
  applyAfterMs: z.union([milliseconds, z.literal("never")], "must be milliseconds or never").optional(),
  keepFormerPassword: z.boolean().optional(),
}) satisfies z.ZodType<Fault>;
