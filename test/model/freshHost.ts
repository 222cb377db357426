import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import ts from "typescript";
import { type Session } from "../../provider/lifecycle/session";

type Dynamic = typeof import("../../provider/dynamic");
type Say = (line: string) => void;
type Body = (exports: object, require: (id: string) => unknown, console: { error: Say }) => void;

const file = require.resolve("../../provider/dynamic");
const requireThere = createRequire(file);
let body: Body | undefined;

/**
 * The provider as a host process that was just started loads it: an instance of its own, which remembers nothing.
 *
 * @param say gets what it prints
 */
export function freshHost(session: Session, say: Say): Dynamic {
  body ??= compile();
  const exports = {};
  const load = (id: string): unknown =>
    id === "./lifecycle/session" ? { sessionFromSettings: () => session } : requireThere(id);
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
