// Loaded into Pulumi's dynamic provider host before its entry. With the SDK, it loads TypeScript and npm, which only
// serialize the functions of a program, and which take most of the time of its start. Here they are empty: a host that
// used one would fail.
const Module = require("node:module");

const load = Module._load;
Module._load = function (name, ...others) {
  return name === "typescript" || name === "@npmcli/arborist" ? {} : load.call(this, name, ...others);
};
