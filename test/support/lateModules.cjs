// Loaded into every process that a test starts. Pulumi's SDK needs TypeScript and npm's Arborist only to serialize
// functions, but loads both at its start: 0.4 s of CPU time in each process. Here the first use loads them.
const Module = require("node:module");

const late = ["../../typescript-shim", "@npmcli/arborist"];
const load = Module._load;

Module._load = function (request, parent, ...rest) {
  const loadNow = () => load.call(this, request, parent, ...rest);
  if (!late.includes(request) || !parent?.path.includes("@pulumi")) return loadNow();
  // `__esModule`: otherwise the import helper of compiled TypeScript would copy all properties, and so load it at once.
  return new Proxy({}, { get: (_, name) => name === "__esModule" || loadNow()[name] });
};
