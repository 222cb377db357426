import { type MiddlewareHandler } from "hono";
import { type Env, refusal } from "../answers";

/**
 * Refuses what a browser sends for a page of another site. Such a page has no credentials, but a browser may add those
 * that somebody has typed into its own dialog.
 */
export const refuseOtherOrigins: MiddlewareHandler<Env> = async (c, next) => {
  const origin = c.req.header("origin");
  if (origin === undefined || origin.replace(/^https?:\/\//, "") === c.req.header("host")) {
    return next();
  }
  return refusal(403, "Origin", `${JSON.stringify(origin)} is a page of another site`);
};

/** An address, or `localhost` and names below it, which lead to the machine itself. */
const addressed = /^(\d+(\.\d+){3}|\[[\da-f:.]+\]|([\w-]+\.)*localhost)(:\d+)?$/i;

/**
 * Refuses to be called by another name: whoever owns that name could let it lead here, and so make his page one of this
 * site.
 */
export const refuseOtherHosts: MiddlewareHandler<Env> = async (c, next) => {
  const host = c.req.header("host") ?? "";
  if (addressed.test(host)) {
    return next();
  }
  return refusal(403, "Host", `${JSON.stringify(host)} is neither an address nor localhost: open the console by those`);
};
