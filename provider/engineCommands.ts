/** Whether the local engine started this process: it gives its children its process id. */
const isLocal = process.env["LOCAL_ENGINE_PID"] === String(process.ppid);

/** Commands of the engine that runs this process, for advice. */
export const engineCommands = isLocal
  ? {
      up: "rekey-local up",
      setConfig: "rekey-local config set",
      exportState: "rekey-local export",
      removeFromState: "take the resource out of an exported state, which `rekey-local import` reads",
    }
  : {
      up: "pulumi up",
      setConfig: "pulumi config set",
      exportState: "pulumi stack export",
      removeFromState: "take the resource out with `pulumi state delete`",
    };
