import { type MiddlewareHandler } from "hono";
import { type Env, refusal } from "../responses";

/**
 * Rejects requests that a browser sends for a page of another site. The page has no credentials, but the browser may
 * add those that were entered in its own dialog.
 */
export const refuseOtherOrigins: MiddlewareHandler<Env> = async (c, next) => {
  const origin = c.req.header("origin");
  if (origin === undefined || origin.replace(/^https?:\/\//, "") === c.req.header("host")) {
    return next();
  }
  return refusal(403, "Origin", `requests from pages of another site are not allowed: ${JSON.stringify(origin)}`);
};

/** An IP address, `localhost`, or a name below `localhost`. */
const addressed = /^(\d+(\.\d+){3}|\[[\da-f:.]+\]|([\w-]+\.)*localhost)(:\d+)?$/i;

/**
 * Rejects other host names, to prevent DNS rebinding: the owner of a name could point it to this machine and so give a
 * page of their own the origin of the console.
 */
export const refuseOtherHosts: MiddlewareHandler<Env> = async (c, next) => {
  const host = c.req.header("host") ?? "";
  if (addressed.test(host)) {
    return next();
  }
  return refusal(
    403,
    "Host",
    `${JSON.stringify(host)} is neither an IP address nor localhost: open the console with one of these`,
  );
};
