import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import ts from "typescript";
import { Databases } from "../../provider/platform/databases";
import { FlowControl } from "../../provider/platform/flowControl";
import { type Requester } from "../../provider/platform/http";
import { Session, type SessionOptions } from "../../provider/rotation/session";

type Dynamic = typeof import("../../provider/engine/dynamic");
type Say = (line: string) => void;
type Body = (exports: object, require: (id: string) => unknown, console: { error: Say }) => void;

const file = require.resolve("../../provider/engine/dynamic");
const requireThere = createRequire(file);
let body: Body | undefined;

/**
 * The provider as a host process that was just started loads it: a new instance, which remembers nothing.
 *
 * @param requester responds to what it sends
 * @param say gets what it prints
 */
export function freshHost(
  requester: Requester,
  say: Say,
  options: Partial<Pick<SessionOptions, "maxResets" | "now">> = {},
): Dynamic {
  const unused = (): never => assert.fail("there are no fleets or verifications here");
  const session = new Session({
    platform: {
      databases: new Databases(requester, "/v2/keyvalue/reset-password/{id}"),
      flowControl: new FlowControl(requester, "reset"),
      queueWithin: unused,
      probe: unused,
    },
    maxResets: () => undefined,
    databaseHost: () => undefined,
    account: () => undefined,
    now: () => new Date(),
    timer: { now: Date.now, sleep: unused },
    log: say,
    ...options,
  });
  body ??= compile();
  const exports = {};
  const load = (id: string): unknown =>
    id === "./session" ? { sessionFromSettings: () => session } : requireThere(id);
  body(exports, load, { error: say });
  const host = exports as Dynamic;
  void host.passwordRotation.configure({ config: { get: () => undefined } as never });
  return host;
}

/** Compiled once: loading the file again for each of about ten thousand runs would take minutes. */
function compile(): Body {
  const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  return compileFunction(outputText, ["exports", "require", "console"], { filename: file }) as Body;
}
